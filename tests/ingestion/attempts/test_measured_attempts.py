"""Measured runs of tasks: each is in the summaries once, whichever hosts read it and however often."""

import secrets
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest

from local.azurite import StorageAddresses
from shared.domain.core.stamps import to_milliseconds
from shared.domain.efficiency.task_groups import GroupKey, groups_of
from shared.domain.telemetry.sessions.attempt_records import MeasuredAttempt
from shared.services.blobs.ingestion_stores import IngestionStores
from shared.stores.telemetry.measured_attempts import JobAttempts, MeasuredAttemptStore
from tests.ingestion.rig import NOON, DiedError, Mortal
from tests.ingestion.telemetry.telemetry_rig import DAY, TelemetryRig, blob_of

SECONDS = to_milliseconds(NOON) // 1000
SIZE = "standard_d4s_v5"
ABOUT = (f'imds_metadata,vm_monitor_collection=once vm_size="Standard_D4s_v5" {SECONDS * 10**9}\n').encode()


@pytest.fixture
async def rig(azurite: StorageAddresses) -> AsyncIterator[TelemetryRig]:
    """Yields a container and tables for a single test."""
    async with TelemetryRig(azurite.connection_string, f"t{secrets.token_hex(6)}") as opened:
        yield opened


def line(one: MeasuredAttempt) -> bytes:
    """Returns the agent's record at the end of a run."""
    end = (one.start * 1000 + one.duration) * 1_000_000
    tags = f"job_id={one.job},task_id={one.task},task_attempt={one.start}"
    fields = f"duration={one.duration / 1000},cpu_time_user=0,cpu_time_system={(one.cpu_time or 0) / 1000}"
    return f"batchscope_task_attempt,{tags} {fields},memory_peak={one.memory_peak}i {end}\n".encode()


def runs_of(node: int, number: int, *, job: str = "Job", start: int = SECONDS) -> list[MeasuredAttempt]:
    return [
        MeasuredAttempt(job, f"n{node}-{at}", start + at, SIZE, 1000 + at, 500 * at, 1000 * node + at)
        for at in range(number)
    ]


async def measured(rig: TelemetryRig, job: str = "job", since: int = 0) -> JobAttempts:
    return await MeasuredAttemptStore(rig.tables).load(rig.accounts[0].key, job, since)


async def rows(rig: TelemetryRig) -> list[tuple[str, str]]:
    """Returns partitions and days of all rows, without notes of jobs with new runs."""
    rows = [row async for row in rig.tables["attempts"].list_entities()]
    found = sorted((row["PartitionKey"].partition("~")[2], row["RowKey"][:5]) for row in rows)
    return [one for one in found if one[0] != "~changed"]


async def test_runs_count_once_though_hosts_read_the_same_blobs_side_by_side(rig: TelemetryRig) -> None:
    one, other = await rig.host(), await rig.host()
    whole = list[MeasuredAttempt]()
    for flush in range(3):
        for node in range(4):
            some = runs_of(node, 5, start=SECONDS + 10 * flush)
            some = [each._replace(task=f"{each.task}-{flush}") for each in some]
            whole += some
            await rig.append(*([ABOUT] if not flush else []), *map(line, some), name=blob_of(f"n{node}"))
        await one.run()
        await other.run()
    found = await measured(rig)
    assert found.groups == groups_of(whole)
    assert found.latest == max(each.start + each.duration // 1000 for each in whole)


@pytest.mark.parametrize("committed", [False, True])
async def test_a_host_that_dies_anywhere_loses_no_run_and_counts_none_twice(
    rig: TelemetryRig, *, committed: bool
) -> None:
    whole, dies_at, is_over = list[MeasuredAttempt](), 1, False
    while not is_over:
        some = runs_of(dies_at, 2)
        await rig.append(*([] if whole else [ABOUT]), *map(line, some), name=blob_of("n1"))
        host = await rig.host()
        mortal = Mortal(host.tables)
        mortal.arm(dies_at, committed=committed)
        try:
            await host.run()
            is_over = True
        except DiedError:
            assert (await measured(rig)).groups in (groups_of(whole), groups_of([*whole, *some])), dies_at
        await (await rig.host()).run()
        whole += some
        assert (await measured(rig)).groups == groups_of(whole), dies_at
        dies_at += 1
    assert dies_at > 5


async def test_jobs_days_and_sizes_are_apart_and_ids_are_case_insensitive(rig: TelemetryRig) -> None:
    yesterday = SECONDS - 86_400
    some = [*runs_of(1, 2), *runs_of(2, 1, job="JOB", start=yesterday), *runs_of(3, 1, job="other")]
    await rig.append(*map(line, some), name=blob_of("n1"))
    await (await rig.host()).run()
    bare = [one._replace(vm_size="") for one in some]
    assert (await measured(rig)).groups == groups_of(bare[:3])
    assert (await measured(rig, "other")).groups == groups_of(bare[3:])
    assert (await measured(rig, "none")).groups == {}
    days = [f"{day:05}" for day in (yesterday // 86_400, SECONDS // 86_400)]
    assert await rows(rig) == [
        ("job", days[0]), ("job", days[1]), ("other", days[1]), ("~days", days[0]), ("~days", days[1]),
        ("~days", days[1]),
    ]  # fmt: skip


async def test_runs_of_an_earlier_job_of_the_same_id_are_left_out(rig: TelemetryRig) -> None:
    some = runs_of(1, 6)
    await rig.append(ABOUT, *map(line, some), name=blob_of("n1"))
    await (await rig.host()).run()
    assert (await measured(rig, since=SECONDS + 2)).groups == groups_of(some[2:])
    assert (await measured(rig, since=SECONDS + 86_400)).groups == {}


async def test_jobs_with_new_runs_are_noted_once_an_hour_until_the_note_is_followed(rig: TelemetryRig) -> None:
    stores, account, host = IngestionStores.of(rig.tables), rig.accounts[0].key, await rig.host()

    async def noted(*some: MeasuredAttempt, job: str) -> list[tuple[str, int]]:
        await rig.append(*map(line, some), name=blob_of(job))
        await host.run()
        return [(one.key, one.hour) for one in await stores.day_use.changed(account)]

    hour = to_milliseconds(rig.clock.time) // 3_600_000
    assert await noted(*runs_of(1, 2), *runs_of(2, 1, job="other"), job="one") == [("job", hour), ("other", hour)]
    (first, _) = await stores.day_use.changed(account)
    assert await noted(*runs_of(3, 1), job="two") == [("job", hour), ("other", hour)]
    assert await stores.day_use.changed(account) == [first, _]
    rig.clock.time += timedelta(hours=1)
    assert await noted(*runs_of(4, 1), job="three") == [("other", hour), ("job", hour + 1)]
    await stores.day_use.forget(account, first)
    assert len(await stores.day_use.changed(account)) == 2
    for one in await stores.day_use.changed(account):
        await stores.day_use.forget(account, one)
    assert await stores.day_use.changed(account) == []


async def test_old_days_are_deleted_with_their_index(rig: TelemetryRig) -> None:
    await rig.append(*map(line, [*runs_of(1, 2), *runs_of(2, 2, start=SECONDS - 86_400)]), name=blob_of("n1"))
    await (await rig.host()).run()
    stores, account = IngestionStores.of(rig.tables), rig.accounts[0].key
    assert await stores.attempts.delete_before(account, SECONDS // 86_400) == 1
    today = f"{SECONDS // 86_400:05}"
    assert await rows(rig) == [("job", today), ("~days", today)]
    assert await stores.attempts.delete_before(account, SECONDS // 86_400) == 0


async def test_samples_and_late_records_outside_of_the_window_are_no_runs(rig: TelemetryRig) -> None:
    rig.clock.time = NOON + 8 * DAY
    sample = line(runs_of(2, 1)[0]).replace(b"batchscope_task_attempt", b"batchscope_task")
    await rig.append(*map(line, runs_of(1, 2)), sample, name=blob_of("n1"))
    await (await rig.host()).run()
    assert (await measured(rig)).groups == {}


@pytest.mark.parametrize("stored", [{"schema": 2}, {"summary0": b"damaged"}])
async def test_a_row_that_cannot_be_read_is_left_out_and_begins_anew(rig: TelemetryRig, stored: Any) -> None:
    await rig.append(ABOUT, *map(line, runs_of(1, 2)), name=blob_of("n1"))
    await (await rig.host()).run()
    (row,) = [row async for row in rig.tables["attempts"].list_entities() if "runs0" in row]
    await rig.tables["attempts"].update_entity({**row, "runs0": b"damaged", **stored})
    assert (await measured(rig)).groups == {}
    later = runs_of(2, 2)
    await rig.append(*map(line, later), name=blob_of("n1"))
    await (await rig.host()).run()
    assert (await measured(rig)).groups == groups_of(later)


async def test_task_groups_have_the_size_of_their_node(rig: TelemetryRig) -> None:
    await rig.append(ABOUT, *map(line, runs_of(1, 1)), name=blob_of("n1"))
    await rig.append(*map(line, runs_of(2, 1)), name=blob_of("n2"))
    await (await rig.host()).run()
    assert (await measured(rig)).groups.keys() == {GroupKey("n", SIZE), GroupKey("n", "")}


async def test_a_record_of_a_hostile_id_is_no_run_and_keeps_no_others_from_being_read(rig: TelemetryRig) -> None:
    hostile = [runs_of(1, 1, job=job)[0] for job in ("J" * 2000, "é" * 300, "..\\\\/#?")]
    await rig.append(ABOUT, *map(line, [*hostile, *runs_of(2, 2)]), name=blob_of("n1"))
    await (await rig.host()).run()
    assert (await measured(rig)).groups == groups_of(runs_of(2, 2))
    assert len(await rows(rig)) == 4
