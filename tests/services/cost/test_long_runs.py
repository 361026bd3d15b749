"""Which tasks of long ago have their start looked up, what is found, and how many requests that takes at most."""

from datetime import UTC, datetime, timedelta

import pytest

from shared.domain.core.stamps import to_milliseconds
from shared.domain.events.batch_events import IDENTITY_BYTES, BatchEvent
from shared.domain.pools.machine_settings import MachineSettings
from shared.domain.pools.pool_facts import PoolFacts
from shared.domain.timeline.timeline import Run
from shared.services.cost.long_runs import LongRuns
from shared.stores.events import EventStore
from tests.services.fakes.memory_tables import Connection, MemoryTables, Storage

_AT = datetime(2026, 11, 3, 10, tzinfo=UTC)
_HOUR = 3_600_000
_START = to_milliseconds(_AT)


def _pool(name: str, *, slots: int = 1, connected: bool | None = True) -> PoolFacts:
    settings = MachineSettings(enable_inter_node_communication=connected)
    return PoolFacts(name, _AT, "active", _AT, "standard_d2s_v5", slots_per_node=slots, settings=settings)


_POOLS = {
    pool.key: pool
    for pool in (
        _pool("Wide"),
        _pool("plain", connected=False),
        _pool("unsaid", connected=None),
        _pool("many", slots=2),
    )
}


def _long(store: EventStore | None) -> LongRuns:
    return LongRuns(store, "demo", _POOLS, _START + _HOUR)


def _run(pool: str = "Wide", start: int = _START, end: int | None = None, task: str = "T") -> Run:
    return Run(start, task, end, 0, 1, (pool, "node"))


@pytest.mark.parametrize(
    ("run", "is_concerned"),
    [
        (_run(), True),
        (_run(end=_START + 9 * _HOUR), True),
        (_run(end=_START + 7 * _HOUR), False),
        (_run(start=_START + 2 * _HOUR), False),
        (_run("plain"), False),
        (_run("unsaid"), False),
        (_run("many"), False),
        (_run("gone"), False),
    ],
)
def test_only_old_runs_of_pools_that_run_multi_instance_tasks_are_looked_up(run: Run, *, is_concerned: bool) -> None:
    assert _long(None).concerns(run, _START + 8 * _HOUR) is is_concerned


def test_nothing_is_needed_without_the_log_or_without_such_a_pool() -> None:
    store = EventStore(MemoryTables(Connection(Storage())))
    assert _long(store).is_needed
    assert not _long(None).is_needed
    assert not LongRuns(store, "demo", {"plain": _POOLS["plain"]}, _START).is_needed


async def test_instances_are_those_of_the_start_whose_event_is_minutes_away_at_most() -> None:
    store = EventStore(MemoryTables(Connection(Storage())))
    properties = {"multiInstanceSettings": {"numberOfInstances": 5}}
    found = _long(store)
    for minutes, task in ((-1, "t"), (4, "late"), (9, "later")):
        at, identity = _AT + timedelta(minutes=minutes), task.encode().ljust(IDENTITY_BYTES)
        event = BatchEvent(at, "TaskStartEvent", "Job", task, "Wide", "node", properties, identity)
        await store.save_once("demo", [event])
    known = {task: await found.instances("job", _run(task=task)) for task in ("T", "Late", "later", "other")}
    assert known == {"T": 5, "Late": 5, "later": 1, "other": 1}
    assert await found.instances("another", _run()) == 1


async def test_runs_of_one_minute_take_one_request_and_all_at_most_twenty() -> None:
    storage = Storage()
    found = _long(EventStore(MemoryTables(Connection(storage))))
    for start in range(0, 40 * 60_000, 20_000):
        assert await found.instances("job", _run(start=_START + start)) == 1
    assert storage.queries.count("events") == 20
