"""Sweeps over a container: every blob gets its turn, and the reported state of an ingest partition is true."""

from dataclasses import replace
from datetime import timedelta

import pytest
from azure.storage.blob.aio import ContainerClient

from shared.domain.blobs.blobs import SeenBlob
from shared.domain.blobs.sweeps import IngestionReport, PartitionSweep, Totals
from shared.errors import BlobError, StorageError
from shared.stores.blobs import blobs
from tests.ingestion.rig import ACCOUNT, Host, Rig, blob_name, record


async def test_a_container_that_may_not_be_listed_is_a_problem_from_the_first_day_until_it_may(rig: Rig) -> None:
    host = await rig.host()
    allowed = host.container._client
    async with ContainerClient.from_container_url(allowed.primary_endpoint) as stranger:
        host.container._client = stranger
        with pytest.raises(BlobError):
            await host.run()
    sweep = await rig.entries.load_sweep("demo")
    assert sweep
    problem = IngestionReport("demo", "logs", sweep, Totals()).problem(rig.clock.time)
    assert problem
    assert problem.startswith("Blob Storage didn't list")
    host.container._client = allowed
    await host.run()
    sweep = await rig.entries.load_sweep("demo")
    assert sweep
    assert sweep.problems == ()


async def test_of_blobs_that_are_gone_no_host_remembers_anything(rig: Rig) -> None:
    host = await rig.host()
    for hour in (10, 11):
        await rig.append(record(f"at-{hour}"), name=blob_name(hour))
    await host.run()
    await rig.blob(blob_name(10)).delete_blob()
    await host.run()
    assert {ingest_partition: list(known) for ingest_partition, known in host.sweep._known.items()} == {
        "demo": [blob_name(11)]
    }
    await rig.blob(blob_name(11)).delete_blob()
    await host.run()
    assert host.sweep._known == {}


@pytest.mark.parametrize("anew", [False, True])
async def test_a_sweep_after_all_logs_are_gone_counts_none(rig: Rig, *, anew: bool) -> None:
    host = await rig.host()
    await rig.append(record("a"))
    await host.run()
    host = await rig.host() if anew else host
    before = await rig.entries.load_sweep("demo")
    await rig.blob().delete_blob()
    rig.clock.time += timedelta(hours=1)
    await host.run()
    after = await rig.entries.load_sweep("demo")
    assert before
    assert after
    assert (before.blobs, after.blobs, after.at) == (1, 0, rig.clock.time)


async def test_a_blob_without_a_turn_lags_by_its_unread_bytes_only(rig: Rig) -> None:
    await rig.append(record("a"), record("b"))
    await (await rig.host()).run()
    await rig.append(record("c"))
    await (await rig.host()).sweep.run(timedelta(0))
    sweep = await rig.entries.load_sweep("demo")
    assert sweep is not None
    assert (sweep.behind_blobs, sweep.behind_bytes) == (1, len(record("c")))


async def test_blobs_are_counted_once_all_are_listed_even_after_several_sweeps(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blobs, "_PAGE", 1)
    host = await rig.host()
    for hour in (10, 11, 12):
        await rig.append(record(f"at-{hour}"), name=blob_name(hour))
    sweeps = []
    for _ in range(5):
        await host.sweep.run(timedelta(0))
        rig.clock.time += timedelta(minutes=1)
        sweeps.append(await rig.entries.load_sweep("demo"))
    assert sweeps[:2] == [None, None]
    assert [(one.blobs, one.behind_blobs) for one in sweeps[2:] if one] == [(3, 3)] * 3
    assert sweeps[4]
    assert sweeps[4].at == rig.clock.time - timedelta(minutes=1)
    await host.run()
    assert await rig.tasks() == ["at-10", "at-11", "at-12"]


@pytest.mark.parametrize(("accounts", "most"), [(1, 2), (5, 4)])
async def test_growing_blobs_keep_no_old_blob_and_no_account_waiting(rig: Rig, accounts: int, most: int) -> None:
    keys = ["demo", *(f"other{number}" for number in range(1, accounts))]
    rig.accounts = [replace(ACCOUNT, id=key, key=key, name=key) for key in keys]
    growing, old = [[blob_name(hour, key.upper()) for hour in hours for key in keys] for hours in ((9, 10), (11,))]
    host = await rig.host()
    read = timed_by_readings(host)
    for name in old + growing:
        await rig.append(record("a"), name=name)
    for turn in range(6):
        await host.sweep.run(timedelta(seconds=most))
        for name in growing:
            await rig.append(record(f"t{turn}"), name=name)
    assert set(read) == {*growing, *old}


def timed_by_readings(host: Host) -> list[str]:
    """Advances the host's clock a second for each piece that it reads; returns the names of the blobs."""
    fetch, read = host.container.fetch, list[str]()

    async def counted(blob: SeenBlob, start: int, end: int) -> bytes:
        read.append(blob.name)
        return await fetch(blob, start, end)

    host.container.fetch = counted  # type: ignore[method-assign]
    host.sweep._time = lambda: float(len(read))
    return read


async def test_a_sweep_that_is_not_saved_for_one_account_is_saved_for_others(rig: Rig) -> None:
    other = replace(ACCOUNT, id="other", key="other", name="other")
    rig.accounts = [ACCOUNT, other]
    for account in ("DEMO", "OTHER"):
        await rig.append(record("a"), name=blob_name(account=account))
    host = await rig.host()
    save = host.sweep._entries.save_sweep

    async def failing(ingest_partition: str, sweep: PartitionSweep) -> None:
        if ingest_partition == "demo":
            raise StorageError("It is full.")
        await save(ingest_partition, sweep)

    host.sweep._entries.save_sweep = failing  # type: ignore[method-assign]
    with pytest.raises(StorageError):
        await host.run()
    assert await rig.entries.load_sweep("other")
