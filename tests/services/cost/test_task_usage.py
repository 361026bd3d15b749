"""A roll-up of usage lets others on the event loop go on, however many tasks have events; it sums nodes' time once."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from shared.clock import SharedClock
from shared.domain.core.stamps import to_milliseconds
from shared.domain.cost.runs.run_events import RunEvents
from shared.domain.cost.runs.task_attempts import attempts
from shared.domain.cost.usage_days import UsageDay
from shared.domain.events.batch_events import IDENTITY_BYTES, BatchEvent
from shared.domain.jobs.jobs import Job, JobFacts
from shared.domain.jobs.snapshots import JobSnapshot
from shared.domain.leaves.leaves import Leaf
from shared.domain.leaves.run_ends import RunEnds
from shared.domain.nodes.nodes import Node
from shared.domain.polling.pool_rounds import PoolRound
from shared.domain.tasks.tasks import COMPLETED, RUNNING, SUCCESS, Task, TaskCounts
from shared.domain.usage.usage_ledger import DeletedPool, UsageHours, UsageLedger
from shared.errors import StorageError
from shared.services.accounts.registry import Registry
from shared.services.cost.usage_rollups import UsageRollups
from shared.services.queries.queries import Queries
from shared.services.tasks.leaf_reader import LeafReader
from shared.stores.events import TABLE, chunk_rows
from shared.stores.jobs.jobs import generation_partition
from shared.stores.jobs.leaf_rows import LeafEntry, LeafReplacement
from shared.stores.jobs.task_cache import Directory
from shared.stores.pools.nodes import StoredNodes, planned
from shared.stores.stores import Stores
from shared.stores.tables.rows import write_units
from shared.stores.usage_days import UsageDayStore
from tests.services.fakes.memory_tables import Connection, MemoryTables, Storage
from tests.services.worlds.process import ACCOUNT, NO_PRICES

_NOW = datetime(2026, 11, 3, 10, 30, tzinfo=UTC)
_START = _NOW - timedelta(hours=2)
_TASKS, _FEW = 1_500, 500
_NODE = ("Pool", "tvmps_1_d")


class _World:
    """An account of one pool and one cached job; the log has as many tasks again, of a job that no poll saw."""

    def __init__(self) -> None:
        self.tables = MemoryTables(Connection(Storage()))
        self.stores = Stores(self.tables)
        registry = Registry({ACCOUNT.id: ACCOUNT}, self.stores.monitoring, SharedClock(), timedelta(minutes=1))
        leaves = LeafReader(Queries(registry, self.stores), self.stores.cache)
        self.rollups = UsageRollups(self.stores, leaves, NO_PRICES, self.stores.events)

    async def fill(self, events: Sequence[BatchEvent] = (), leaf: Leaf | None = None) -> None:
        """Stores events of the log and the tasks of the cached job, many of both where none are given."""
        events = events or [event for job in ("Cached", "gone") for event in _events(job)]
        await write_units(self.tables[TABLE], [[row] for row in chunk_rows(ACCOUNT.key, "source", events)])
        leaf, partition = leaf or Leaf(map(_task, range(_TASKS))), generation_partition(ACCOUNT.key, "cached", "g")
        first = Directory(partition, (LeafEntry("s", TaskCounts(), None),))
        saved = await self.stores.cache.save_leaves(first, [LeafReplacement(first.leaves[0], [leaf])])
        snapshot = JobSnapshot("g", _NOW, "delta", saved.counts, _NOW, _NOW, _NOW)
        await self.stores.cache.save_head(saved, _NOW)
        await self.stores.jobs.save(ACCOUNT.key, Job(JobFacts("Cached", _START, "active", _START), snapshot))
        usage = UsageLedger(_ms(_NOW - timedelta(days=3)), _ms(_NOW), pool=DeletedPool("Pool", 4, "linux", None))
        nodes = {"node": Node(_NODE[1], "running", transition=usage.since)}
        await self.stores.nodes.save_all([planned(StoredNodes(ACCOUNT.key, "pool"), nodes, None, usage)])


def _task(number: int) -> Task:
    start, name = _ms(_START), f"task-{number:05}"
    return Task(name, COMPLETED, SUCCESS, start + 9_000, start, start, start + 9_000, node=_NODE)


def _events(job: str) -> Iterator[BatchEvent]:
    for number in range(_TASKS):
        run = {"startTime": _START.isoformat(), "endTime": (_START + timedelta(seconds=9)).isoformat()}
        identity = f"{job[0]}{number}".encode().ljust(IDENTITY_BYTES)
        yield BatchEvent(_START, "TaskCompleteEvent", job, _task(number).id, *_NODE, {"executionInfo": run}, identity)


def _ms(moment: datetime) -> int:
    return to_milliseconds(moment)


@asynccontextmanager
async def _turns() -> AsyncIterator[Callable[[], int]]:
    """Yields how many turns another task on the event loop has had so far."""
    turns = 0

    async def another() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    running = asyncio.create_task(another())
    try:
        yield lambda: turns
    finally:
        running.cancel()


@pytest.mark.parametrize("part", ["events", "tasks"])
async def test_others_on_the_event_loop_go_on_between_few_events_and_between_few_tasks(
    part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    world, done = _World(), Counter[int]()
    await world.fill()
    take = RunEvents.take
    async with _turns() as turn:

        def taken(found: RunEvents, events: Any) -> None:
            some = list(events)
            done[turn()] += len(some)
            take(found, some)

        def joined(*asked: Any) -> Any:
            done[turn()] += 1
            return attempts(*asked)

        if part == "events":
            monkeypatch.setattr(RunEvents, "take", taken)
        else:
            monkeypatch.setattr("shared.services.cost.task_usage.attempts", joined)
        await world.rollups.refresh(ACCOUNT, _NOW)
    assert done.total() >= 2 * _TASKS
    assert max(done.values()) <= _FEW


async def test_a_day_that_cannot_be_written_keeps_no_other_day_from_being_made(monkeypatch: pytest.MonkeyPatch) -> None:
    world, today, save = _World(), _ms(_NOW) // 86_400_000, UsageDayStore.save

    async def saved(store: UsageDayStore, account_key: str, day: UsageDay) -> None:
        if day.day == today - 1:
            raise StorageError("Table Storage refused to write usage.")
        await save(store, account_key, day)

    await world.fill()
    monkeypatch.setattr(UsageDayStore, "save", saved)
    with pytest.raises(StorageError, match="refused"):
        await world.rollups.refresh(ACCOUNT, _NOW)
    stored = await world.stores.usage_days.load(ACCOUNT.key, range(today - 3, today + 1))
    assert list(stored) == [today - 3, today - 2, today]


@pytest.mark.parametrize("listed", [None, _NOW - timedelta(days=1), _NOW])
async def test_a_day_without_pools_is_stored_only_where_a_list_of_pools_shows_that(listed: datetime | None) -> None:
    world, today = _World(), _ms(_NOW) // 86_400_000
    if listed:
        await world.stores.pools.save_round(ACCOUNT.key, PoolRound(listed, listed), {})
    await world.rollups.refresh(ACCOUNT, _NOW)
    stored = await world.stores.usage_days.load(ACCOUNT.key, range(today - 3, today + 1))
    assert list(stored) == ([today] if listed == _NOW else [])


async def test_the_time_of_a_pools_nodes_is_summed_once_for_all_open_days(monkeypatch: pytest.MonkeyPatch) -> None:
    world, summed, total = _World(), Counter[int](), UsageLedger.total

    def counted(ledger: UsageLedger, nodes: Any, as_of: int) -> UsageHours:
        summed[as_of] += 1
        return total(ledger, nodes, as_of)

    await world.fill()
    monkeypatch.setattr(UsageLedger, "total", counted)
    await world.rollups.refresh(ACCOUNT, _NOW)
    today = _ms(_NOW) // 86_400_000
    days = await world.stores.usage_days.load(ACCOUNT.key, range(today - 3, today + 1))
    assert summed == {_ms(_NOW): 1}
    assert [sum(sum(units.values()) for units in day.pools["pool"].units.values()) // 4 for day in days.values()] == [
        13.5 * 3_600_000, 86_400_000, 86_400_000, 10.5 * 3_600_000
    ]  # fmt: skip


async def test_a_retried_run_ends_when_a_poll_saw_its_task_wait_also_of_a_task_that_is_gone() -> None:
    world, again = _World(), _START + timedelta(minutes=50)
    starts = [("there", _START, 0), ("there", again, 1), ("deleted", _START, 0)]
    events = [
        BatchEvent(
            at, "TaskStartEvent", "Cached", task, *_NODE,
            {"executionInfo": {"scheduledTime": at.isoformat(), "retryCount": retries}},
            f"{task}{retries}".encode().ljust(IDENTITY_BYTES),
        )
        for task, at, retries in starts
    ]  # fmt: skip
    leaf = Leaf([Task("there", RUNNING, transition=_ms(again), start=_ms(again), retries=1, node=_NODE)])
    leaf.run_ends = RunEnds({("there", 0): _ms(_START) + 60_000, ("deleted", 0): _ms(_START) + 7_000})
    await world.fill(events, leaf)
    await world.rollups.refresh(ACCOUNT, _NOW)
    today = _ms(_NOW) // 86_400_000
    day = (await world.stores.usage_days.load(ACCOUNT.key, range(today, today + 1), ["jobs"]))[today]
    held = Counter[str]()
    for key, units in day.jobs["cached"].units.items():
        held[key.outcome] += units
    assert held == {"retried": 67_000, "running": _ms(_NOW) - _ms(again)}
