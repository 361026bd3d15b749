"""Minutes become hours: each value counts once, in one of them, despite deaths, and answers mark hourly values."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection
from dataclasses import replace
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any, override

import pytest

from shared.domain.accounts.accounts import Account
from shared.domain.core.keys import partition_of
from shared.domain.core.stamps import to_milliseconds
from shared.domain.tasks.tasks import COMPLETED, Task
from shared.domain.telemetry.query.series_query import SeriesQuery
from shared.domain.telemetry.rollups.chunks import Chunk
from shared.errors import CacheConflictError
from shared.services.blobs.ingestion_stores import IngestionStores
from shared.services.events.event_queries import EventPage
from shared.services.tasks.node_sharing import NodeSharingCount
from shared.services.telemetry import hour_rollups
from shared.services.telemetry.hour_rollups import HourRollups
from shared.services.telemetry.task_telemetry import TaskTelemetryQueries
from shared.services.telemetry.telemetry_queries import TelemetryQueries
from shared.stores.tables.tables import Tables
from shared.stores.telemetry.telemetry import TelemetryStore
from tests.ingestion.rig import ACCOUNT, NOON, DiedError, Mortal
from tests.ingestion.telemetry.telemetry_rig import DAY, HOUR, MINUTE, TelemetryRig, blob_of, received, used

MEMORY, NETWORK = "system.memory.usage", "system.network.io"
LATER = NOON + 8 * DAY  # when the day of NOON has left the minutes' week
_SOME_CALLS = 4


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits a transaction to two rows of minutes and one of hours."""
    monkeypatch.setattr(hour_rollups, "_ENOUGH_ROWS", 3)


def always() -> bool:
    return True


async def rolled(
    rig: TelemetryRig, *, account: str = "demo", tables: Tables | None = None, goes_on: Callable[[], bool] = always
) -> int:
    """Rolls up minutes older than a week by a host's clock."""
    stores = IngestionStores.of(tables or rig.tables)
    return await HourRollups(stores.telemetry, stores.node_index).run(account, rig.clock.time - 7 * DAY, goes_on)


async def keys(rig: TelemetryRig, kind: str, partition: str | None = None) -> list[str]:
    """Returns the keys of rows of minutes (`m`) or hours (`h`)."""
    rows = [row async for row in rig.tables["telemetry"].list_entities(select=["PartitionKey", "RowKey"])]
    return sorted(
        row["RowKey"] for row in rows if row["RowKey"].startswith(kind) and partition in (None, row["PartitionKey"])
    )


async def filled(rig: TelemetryRig, account: str = "demo", steps: int = 5) -> None:
    """Ingests steps of two minutes each over 2.5 hours, each in its own row, and one of another day."""
    host, name = await rig.host(), blob_of("n1", account=account)
    for number in range(steps):
        at = NOON + number * 30 * MINUTE
        lines = [used(1, at), used(3, at + MINUTE), received(100 + 10 * number, at)]
        await rig.append(*lines, name=name)
        await host.run()
    await rig.append(used(7, NOON + 3 * DAY), name=name)
    await host.run()


async def sums_by_name(
    rig: TelemetryRig,
    step: timedelta,
    queries: TelemetryQueries | None = None,
    *,
    since: datetime = NOON - HOUR,
    until: datetime = NOON + DAY,
) -> dict[str, dict[int, float]]:
    """Returns sums by name and by minutes since noon."""
    found = await (queries or rig.queries).of_node(
        "demo", "pool", "n1", SeriesQuery(step=step, since=since, until=until)
    )
    noon = int(NOON.timestamp()) // 60
    return {
        series.name: {minute - noon: one.sum for minute, one in steps.items()}
        for series, steps in found.rollups.items()
    }


async def test_a_day_past_its_week_becomes_hours_and_others_stay_minutes(rig: TelemetryRig) -> None:
    rig.clock.time = NOON + 4 * DAY
    await filled(rig)
    by_minute, by_hour = await sums_by_name(rig, MINUTE), await sums_by_name(rig, HOUR)
    assert by_hour == {MEMORY: {0: 8, 60: 8, 120: 4}, NETWORK: {0: 10, 60: 20, 120: 10}}
    assert await rolled(rig) == 0
    assert await sums_by_name(rig, MINUTE) == by_minute
    rig.clock.time = LATER
    assert await rolled(rig) == 1
    assert (len(await keys(rig, "h")), len(await keys(rig, "m"))) == (1, 1)
    assert await sums_by_name(rig, HOUR) == await sums_by_name(rig, MINUTE) == by_hour
    assert await rolled(rig) == 0
    found = await rig.queries.of_node("demo", "pool", "n1", SeriesQuery(since=NOON - DAY, until=LATER))
    assert found.hourly == [(NOON, NOON + 3 * HOUR)]
    assert found.range.minutes == 30
    hourly = await rig.queries.of_node("demo", "pool", "n1", SeriesQuery(since=NOON, until=NOON + HOUR))
    assert hourly.range.step == HOUR
    ((_, rollup),) = next(line for line in hourly.lines if line.name == MEMORY).points
    assert (rollup.count, rollup.min, rollup.max, rollup.last) == (4, 1, 3, 3)


async def test_hours_are_whole_where_a_range_begins_or_ends_in_them_or_some_minutes_are_left(
    rig: TelemetryRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hour_rollups, "_ENOUGH_ROWS", 2)
    rig.clock.time = NOON + 4 * DAY
    await filled(rig)
    rig.clock.time = LATER
    calls = iter([True, False])
    assert await rolled(rig, goes_on=lambda: next(calls)) == 0
    assert (len(await keys(rig, "h")), len(await keys(rig, "m"))) == (1, 5)  # one of another day
    since, until = NOON + 45 * MINUTE, NOON + 91 * MINUTE
    assert await sums_by_name(rig, MINUTE, since=since, until=until) == {
        MEMORY: {0: 8, 60: 1, 61: 3, 90: 1}, NETWORK: {0: 10, 60: 10, 90: 10},
    }  # fmt: skip
    found = await rig.queries.of_node("demo", "pool", "n1", SeriesQuery(since=since, until=until, step=MINUTE))
    assert found.hourly == [(NOON, NOON + HOUR)]
    assert await rolled(rig) == 1
    assert await sums_by_name(rig, MINUTE, since=since, until=until) == {
        MEMORY: {0: 8, 60: 8},
        NETWORK: {0: 10, 60: 20},
    }


async def test_a_roll_up_may_die_at_any_call_to_storage(rig: TelemetryRig, small: None, both: None) -> None:
    whole = {MEMORY: {0: 8, 60: 8, 120: 4}, NETWORK: {0: 10, 60: 20, 120: 10}}

    async def tried(dies_at: int) -> list[str]:
        account = Account("demo", f"d{dies_at}", "demo", None, "http://127.0.0.1:1")
        rig.accounts, rig.clock.time = [account], NOON + 4 * DAY
        await rig.blob(blob_of("n1")).delete_blob() if dies_at else None
        await filled(rig, steps=5)
        rig.clock.time = LATER
        host = await rig.host()
        mortal = Mortal(host.tables)
        mortal.arm(dies_at, committed=True)
        try:
            await rolled(rig, account=account.key, tables=host.tables)
        except DiedError:
            assert dies_at
        assert await sums_by_name(rig, HOUR) == whole, dies_at
        assert await sums_by_name(rig, HOUR, rig.queries_of(minutes=30 * DAY)) == whole, (
            dies_at
        )  # the setting was raised
        await rolled(rig, account=account.key)
        assert await sums_by_name(rig, HOUR) == await sums_by_name(rig, MINUTE) == whole, dies_at
        return mortal.methods

    calls = await tried(0)
    writes = [at for at, method in enumerate(calls, 1) if method != "GET"]
    assert len(writes) >= _SOME_CALLS
    for dies_at in writes:  # a death at a read, or before a write, equals one after the previous write
        await tried(dies_at)


async def test_hosts_that_roll_up_at_once_count_nothing_twice_and_readers_beside_them_see_all(
    rig: TelemetryRig, small: None
) -> None:
    rig.clock.time = NOON + 4 * DAY
    await filled(rig, steps=6)  # three transactions: fewer than a reader's attempts
    whole = await sums_by_name(rig, HOUR)
    rig.clock.time = LATER

    async def reads() -> list[object]:
        return [await sums_by_name(rig, HOUR) for _ in range(6)]

    *done, seen = await asyncio.gather(*(rolled(rig) for _ in range(3)), reads(), return_exceptions=True)
    assert seen == [whole] * 6
    assert all(isinstance(one, int | CacheConflictError) for one in done), done
    await rolled(rig)
    assert await sums_by_name(rig, HOUR) == whole
    assert len(await keys(rig, "h")) == 1


class _Overtaken(TelemetryStore):
    """Runs a complete roll-up after minutes have been read."""

    rig: TelemetryRig

    @override
    async def minutes(self, partition: str, first: int, last: int, names: Collection[str]) -> AsyncIterator[Chunk]:
        async for chunk in super().minutes(partition, first, last, names):
            yield chunk
        await rolled(self.rig)


async def test_a_reader_that_is_overtaken_by_a_roll_up_reads_again(rig: TelemetryRig) -> None:
    rig.clock.time = NOON + 4 * DAY
    await filled(rig)
    rig.clock.time = LATER
    whole = await sums_by_name(rig, HOUR)
    overtaken = _Overtaken(rig.tables)
    overtaken.rig = rig
    queries = rig.queries_of(7 * DAY, replace(IngestionStores.of(rig.tables), telemetry=overtaken))
    assert await sums_by_name(rig, HOUR, queries) == whole
    assert len(await keys(rig, "m")) == 1


async def test_late_minutes_of_a_day_in_hours_are_shown_with_it_and_join_it_when_they_are_indexed(
    rig: TelemetryRig,
) -> None:
    rig.clock.time = NOON + 4 * DAY
    await filled(rig)
    rig.clock.time = LATER
    await rolled(rig)
    rig.clock.time = NOON + 4 * DAY
    await rig.append(used(5, NOON + MINUTE), name=blob_of("n1"))
    await (await rig.host()).run()
    rig.clock.time = LATER
    assert (await sums_by_name(rig, MINUTE))[MEMORY] == {0: 13, 60: 8, 120: 4}
    assert await rolled(rig) == 1
    assert (await sums_by_name(rig, MINUTE))[MEMORY] == {0: 13, 60: 8, 120: 4}
    assert (len(await keys(rig, "h")), len(await keys(rig, "m"))) == (1, 1)


async def test_series_that_no_catalog_has_any_more_are_moved_with_the_others(
    rig: TelemetryRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig.clock.time = NOON + 4 * DAY
    await filled(rig)
    rig.clock.time = LATER
    with monkeypatch.context() as patch:
        patch.setattr("shared.domain.telemetry.query.ranges.instruments", dict)
        assert await rolled(rig) == 1
    assert (await sums_by_name(rig, HOUR))[MEMORY] == {0: 8, 60: 8, 120: 4}


async def test_hours_go_when_their_own_time_is_over_and_all_of_the_blob_with_the_last(
    rig: TelemetryRig, both: None
) -> None:
    rig.clock.time = NOON + 4 * DAY
    await filled(rig)
    rig.clock.time = LATER
    await rolled(rig)
    rig.clock.time += 3 * DAY
    await rolled(rig)
    stores = IngestionStores.of(rig.tables)
    far = max(LATER, datetime.now(NOON.tzinfo) + 30 * DAY)
    assert await stores.delete_telemetry_before("demo", NOON, blobs=far) == 0
    assert await rig.entries.load_all(partition_of("demo", "telemetry")) == {}
    assert (len(await keys(rig, "h")), await keys(rig, "m")) == (2, [])
    assert await sums_by_name(rig, HOUR)
    assert await stores.delete_telemetry_before("demo", NOON + DAY, blobs=far) == 1
    assert len(await keys(rig, "h")) == 1
    assert await stores.delete_telemetry_before("demo", NOON + 4 * DAY, blobs=far) == 1
    for table in ("telemetry", "nodeindex", "blobs"):
        rows = [row["RowKey"] async for row in rig.tables[table].list_entities()]
        assert [row for row in rows if row != "!"] == [], table


class _Stored:
    """A stored task that ran on the node for a minute from noon on."""

    async def job(self, *_: str) -> Any:
        facts = SimpleNamespace(id="j")
        return SimpleNamespace(account=ACCOUNT, job=SimpleNamespace(facts=facts), verdict=SimpleNamespace(as_of=NOON))

    async def task(self, *_: str) -> Task:
        start = to_milliseconds(NOON)
        return Task("t", COMPLETED, start=start, end=start + 60_000, node=("pool", "n1"))

    async def events(self, *_: object, **_others: object) -> EventPage:
        return EventPage((), None)

    async def of(self, *_: object) -> NodeSharingCount:
        return NodeSharingCount(0, is_complete=True)


async def test_a_tasks_telemetry_becomes_that_of_its_hours_and_goes_with_them(rig: TelemetryRig) -> None:
    rig.clock.time = NOON + 4 * DAY
    await filled(rig)
    stored: Any = _Stored()
    queries = TaskTelemetryQueries(stored, stored, stored, stored, rig.queries, clock=rig.clock)

    async def shown() -> tuple[str | None, list[float]]:
        found = await queries.of_task("demo", "j", "t", SeriesQuery(name="system.memory"))
        lines = found.telemetry.lines if found.telemetry else []
        return found.reason, [one.sum for line in lines for _, one in line.points]

    assert await shown() == (None, [1])
    rig.clock.time = LATER
    await rolled(rig)
    assert await shown() == (None, [8])
    rig.clock.time = NOON + 91 * DAY
    assert await shown() == ("The task ran before the time of which telemetry is kept.", [])
