"""Blobs whose names say the same node share a partition, and an answer about the node costs the same for any number."""

import asyncio
import secrets
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from local.azurite import StorageAddresses
from shared.domain.blobs.blobs import BlobRows, telemetry_ingest_partition
from shared.domain.telemetry.query.series_query import SeriesQuery
from shared.errors import NotFoundError
from shared.services.blobs.ingestion_stores import IngestionStores
from shared.services.telemetry.hour_rollups import HourRollups
from shared.services.telemetry.telemetry_intake import TelemetryIntake
from tests.ingestion.rig import NOON
from tests.ingestion.telemetry.telemetry_rig import DAY, HOUR, MINUTE, WEEK, TelemetryRig, blob_of, received, used

MEMORY = "system.memory.usage"
_NODES = ("n1", "n2")
_MOST = 20  # requests
_STEPS = 3
type _Write = tuple[int, str, bytes]
"""A step, and a blob's name and the line that is appended to it then."""


async def test_an_answer_about_a_node_takes_no_more_requests_for_many_blobs_than_for_few(
    rig: TelemetryRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, sent = SeriesQuery(since=NOON - DAY, name=MEMORY), list[int]()
    for number in range(60):
        await rig.append(used(number, NOON - number * MINUTE), name=blob_of("n1", number))
        if number in (1, 59):
            await (await rig.host()).run()
            requests = _requests_of(rig, monkeypatch)
            found = await rig.queries.of_node("demo", "pool", "n1", asked)
            sent.append(len(requests))
            assert sum(one.count for some in found.rollups.values() for one in some.values()) == number + 1
    few, many = sent
    assert many <= few <= _MOST


def _tagged(line: Callable[[int, datetime], bytes], value: int, at: datetime, tags: str) -> bytes:
    measurement, _, rest = line(value, at).partition(b" ")
    return measurement + tags.encode() + b" " + rest


_WRITES = st.lists(
    st.builds(
        lambda step, node, number, hours, tag, line: (step, blob_of(node, number), line(NOON - hours * HOUR, tag)),
        st.integers(0, _STEPS - 1),
        st.sampled_from(_NODES),
        st.integers(0, 3),
        st.integers(0, 3 * 24),
        st.sampled_from(["", "", *(f",node_id={node}" for node in _NODES)]),
        st.builds(
            lambda line, value: partial(_tagged, line, value), st.sampled_from([used, received]), st.integers(0, 99)
        ),
    ),
    min_size=8,
    max_size=24,
)


@given(_WRITES)
@settings(max_examples=4, deadline=None)
def test_a_shared_partition_gives_the_answers_of_partitions_of_their_own(
    azurite: StorageAddresses, writes: list[_Write]
) -> None:
    """Some records are of another node than the names of their blobs, and days that are over become hours."""
    together, apart = (asyncio.run(_answers(azurite, writes, one)) for one in (lambda one: one, _apart))
    assert together == apart


async def test_a_blob_that_an_earlier_version_has_begun_to_read_stays_in_its_partition(rig: TelemetryRig) -> None:
    await rig.append(used(1), name=blob_of("n1"))
    await (await rig.host(_apart)).run()
    await rig.append(used(2, NOON + MINUTE), name=blob_of("n1"))
    await rig.append(used(4, NOON + MINUTE), name=blob_of("n1", 1))
    await (await rig.host()).run()
    assert await rig.sums("n1") == {MEMORY: [1, 6]}
    entries = (await rig.entries.load_all(telemetry_ingest_partition("demo"))).values()
    assert sorted(bool(entry.group) for entry in entries) == [False, True]


async def test_a_blob_that_an_earlier_version_has_read_again_counts_once(rig: TelemetryRig) -> None:
    """After a rollback, as that version finds no checkpoint."""
    await rig.append(used(1), name=blob_of("n1"))
    await (await rig.host()).run()
    ingest_partition = telemetry_ingest_partition("demo")
    (entry,) = (await rig.entries.load_all(ingest_partition)).values()
    await rig.entries.save(ingest_partition, replace(entry, group=""))
    await rig.append(used(2, NOON + MINUTE), name=blob_of("n1"))
    await (await rig.host()).run()
    assert await rig.sums("n1") == {MEMORY: [1, 2]}


async def test_after_a_rollback_the_partition_counts_in_which_the_blob_is_read_on(rig: TelemetryRig) -> None:
    """The older version ended before it wrote the entry, so this one reads on in the group."""
    await rig.append(used(1), name=blob_of("n1"))
    await (await rig.host()).run()
    ingest_partition = telemetry_ingest_partition("demo")
    (entry,) = (await rig.entries.load_all(ingest_partition)).values()
    await rig.append(used(2, NOON + MINUTE), name=blob_of("n1"))
    await rig.entries.save(ingest_partition, replace(entry, group=""))
    await (await rig.host(_apart)).run()
    (later,) = (await rig.entries.load_all(ingest_partition)).values()
    await rig.entries.save(ingest_partition, replace(entry, row_etag=later.row_etag))
    await rig.append(used(4, NOON + 2 * MINUTE), name=blob_of("n1"))
    await (await rig.host()).run()
    assert await rig.sums("n1") == {MEMORY: [1, 2, 4]}


async def test_a_blob_whose_entry_has_expired_keeps_the_partition_that_it_has(rig: TelemetryRig) -> None:
    now = datetime.now(NOON.tzinfo).replace(second=0, microsecond=0)
    rig.clock.time = now
    await rig.append(used(1, now), name=blob_of("n1"))
    await (await rig.host(_apart)).run()
    ingest_partition = telemetry_ingest_partition("demo")
    await rig.entries.delete(ingest_partition, [blob_of("n1")])
    rig.clock.time = now + 2 * DAY + HOUR
    await rig.append(used(2, now + 2 * DAY), name=blob_of("n1"))
    await (await rig.host()).run()
    for days, sums in ((1, [2]), (3, [1, 2])):
        asked = SeriesQuery(since=now - (days - 2) * DAY, name=MEMORY, step=MINUTE)
        found = await rig.queries.of_node("demo", "pool", "n1", asked)
        assert [one.sum for some in found.rollups.values() for _, one in sorted(some.items())] == sums


async def test_minutes_of_a_blob_are_read_without_those_of_others_of_its_group(rig: TelemetryRig) -> None:
    for number in range(12):
        await rig.append(used(1, NOON - number * MINUTE), used(1, NOON - DAY), name=blob_of("n1", number))
    await (await rig.host()).run()
    stores = IngestionStores.of(rig.tables)
    entry = (await rig.entries.load_all(telemetry_ingest_partition("demo")))[blob_of("n1", 3)]
    blob = BlobRows("demo", entry.incarnation, entry.group)
    hour = int(NOON.timestamp()) // 3600
    for first, count in ((hour - 1, 1), (0, 2)):
        found = [chunk async for chunk in stores.telemetry.minutes_of_blob(blob, first, hour, [MEMORY])]
        assert [chunk.owner for chunk in found] == [entry.incarnation] * count


def _apart(intake: TelemetryIntake) -> TelemetryIntake:
    """Gives each incarnation a partition of its own, as an earlier version did."""

    async def none(*_: object) -> str:
        return ""

    vars(intake)["group_of"] = none
    return intake


async def _answers(storage: StorageAddresses, writes: list[_Write], intake: Callable[[Any], Any]) -> list[Any]:
    """Returns the answers about all nodes after each step of writes, and after two days have become hours."""
    async with TelemetryRig(storage.connection_string, f"t{secrets.token_hex(6)}") as rig:
        host, answers = await rig.host(intake), list[Any]()
        for step in range(_STEPS):
            for number, name, line in writes:
                if number == step:
                    await rig.append(line, name=name)
            await host.run()
            answers += [await _answer(rig, node) for node in _NODES]
        rig.clock.time = NOON + WEEK - DAY
        stores = IngestionStores.of(rig.tables)
        await HourRollups(stores.telemetry, stores.node_index).run("demo", rig.clock.time - WEEK, lambda: True)
        return answers + [await _answer(rig, node) for node in _NODES]


async def _answer(rig: TelemetryRig, node: str) -> Any:
    asked = SeriesQuery(since=NOON - 4 * DAY, until=NOON + HOUR, step=HOUR)
    try:
        found = await rig.queries.of_node("demo", "pool", node, asked)
    except NotFoundError:
        return None
    return found.lines, found.left_out, found.hourly


def _requests_of(rig: TelemetryRig, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Returns a list to which the addresses of requests to tables are added."""
    send, found = rig.tables._transport.send, list[str]()

    async def noted(request: Any, **options: Any) -> Any:
        found.append(request.url)
        return await send(request, **options)

    monkeypatch.setattr(rig.tables._transport, "send", noted)
    return found
