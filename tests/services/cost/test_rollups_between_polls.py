"""Roll-ups of usage between the polls of nodes and of tasks, and of runs that ended on a later day."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from shared.clock import SharedClock
from shared.domain.core.stamps import to_milliseconds
from shared.domain.cost.usage_days import DAY, UsageDay
from shared.domain.events.batch_events import IDENTITY_BYTES, BatchEvent
from shared.domain.jobs.jobs import Job, JobFacts
from shared.domain.jobs.snapshots import Confirmation, JobSnapshot
from shared.domain.leaves.leaves import Leaf
from shared.domain.nodes.nodes import Node
from shared.domain.polling.rounds import Round
from shared.domain.pools.pool_facts import PoolFacts
from shared.domain.pools.pools import Pool
from shared.domain.tasks.tasks import COMPLETED, FAILURE, RUNNING, Task, TaskCounts
from shared.domain.usage.usage_ledger import DeletedPool, UsageLedger
from shared.services.accounts.registry import Registry
from shared.services.cost import task_usage, usage_rollups
from shared.services.cost.usage_rollups import UsageRollups
from shared.services.queries.queries import Queries
from shared.services.tasks.leaf_reader import LeafReader
from shared.stores.events import TABLE, chunk_rows
from shared.stores.jobs.jobs import generation_partition
from shared.stores.jobs.leaf_rows import LeafEntry, LeafReplacement
from shared.stores.jobs.task_cache import Directory
from shared.stores.pools.nodes import planned
from shared.stores.stores import Stores
from shared.stores.tables.rows import write_units
from shared.stores.usage_days import UsageDayStore
from tests.services.fakes.memory_tables import Connection, MemoryTables, Storage
from tests.services.worlds.process import ACCOUNT, NO_PRICES

_NODE = ("Pool", "tvmps_1_d")
_START = datetime(2026, 11, 3, 4, 10, tzinfo=UTC)
_MINUTE, _HOUR = timedelta(minutes=1), timedelta(hours=1)
_AN_HOUR = 30  # events


class _World:
    """An account of a pool with one node, which runs the only task of a job."""

    def __init__(self) -> None:
        self.storage = Storage()
        self.tables = MemoryTables(Connection(self.storage))
        self.stores = Stores(self.tables)
        registry = Registry({ACCOUNT.id: ACCOUNT}, self.stores.monitoring, SharedClock(), _MINUTE)
        leaves = LeafReader(Queries(registry, self.stores), self.stores.cache)
        self.rollups = UsageRollups(self.stores, leaves, NO_PRICES, self.stores.events)

    async def list_nodes(self, at: datetime) -> None:
        usage = UsageLedger(_ms(_START), _ms(at), pool=DeletedPool("Pool", 1, "linux", None))
        stored = await self.stores.nodes.read(ACCOUNT.key, "pool")
        node = Node(_NODE[1], "running", transition=_ms(_START), vm_size="s")
        await self.stores.nodes.save_all([planned(stored, {"node": node}, None, usage)])

    async def read_tasks(self, at: datetime, *, end: datetime | None = None) -> None:
        """Stores the job's task as read at a time; it failed at the end, if there is one."""
        task = Task("task", RUNNING, transition=_ms(_START), start=_ms(_START), node=_NODE)
        if end:
            task = task._replace(state=COMPLETED, result=FAILURE, transition=_ms(end), end=_ms(end))
        generation = f"{at:%d%H%M}"
        first = Directory(generation_partition(ACCOUNT.key, "job", generation), (LeafEntry("s", TaskCounts(), None),))
        saved = await self.stores.cache.save_leaves(first, [LeafReplacement(first.leaves[0], [Leaf([task])])])
        await self.stores.cache.save_head(saved, at)
        moved = end or _START
        self.snapshot = JobSnapshot(generation, at, "delta", saved.counts, at, moved, moved)
        old = await self.stores.jobs.load(ACCOUNT.key, "job")
        facts = JobFacts("Job", _START, "active", _START)
        await self.stores.jobs.save(ACCOUNT.key, Job(facts, self.snapshot, etag=old.etag if old else None))

    async def confirm_tasks(self, at: datetime) -> None:
        """Stores a round that found the job's tasks unchanged."""
        await self.list_jobs(at, job=Confirmation(self.snapshot.version, at, self.snapshot.agreement))

    async def list_jobs(self, at: datetime, **found: Confirmation) -> None:
        """Stores a round that listed jobs, and read the tasks only of those that it `found` unchanged."""
        await self.stores.rounds.save(ACCOUNT.key, Round(at, at, finished_at=at, jobs_as_of=at, confirmations=found))

    async def log_runs(self, since: datetime) -> None:
        """Stores events of thirty runs of another job within an hour, half a minute each."""
        events = [_event(since + number * 2 * _MINUTE) for number in range(_AN_HOUR)]
        await write_units(self.tables[TABLE], [[row] for row in chunk_rows(ACCOUNT.key, "source", events)])

    async def rolled_up(self, at: datetime) -> UsageDay:
        """Returns the day of the start after a roll-up."""
        await self.rollups.refresh(ACCOUNT, at)
        day = _ms(_START) // DAY
        return (await self.stores.usage_days.load(ACCOUNT.key, range(day, day + 1), ["hours", "jobs"]))[day]


def _ms(moment: datetime) -> int:
    return to_milliseconds(moment)


def _held(day: UsageDay) -> dict[str, timedelta]:
    units = day.jobs["job"].units
    assert {key.outcome: held for key, held in units.items()} == {
        name: held
        for kinds in day.pools["pool"].units.values()
        for name, held in kinds.items()
        if name != "unattributed"
    }
    return {key.outcome: timedelta(milliseconds=held) for key, held in units.items()}


def _event(start: datetime) -> BatchEvent:
    end, name = start + _MINUTE / 2, f"t{_ms(start)}"
    run = {"startTime": start.isoformat(), "endTime": end.isoformat(), "result": "success"}
    identity = _ms(start).to_bytes(IDENTITY_BYTES)
    return BatchEvent(end, "TaskCompleteEvent", "other", name, *_NODE, {"executionInfo": run}, identity)


async def _dies(*_: object) -> None:
    raise TimeoutError


async def test_a_roll_up_after_an_outage_waits_for_tasks_where_only_nodes_are_known() -> None:
    world, down, up = _World(), _START + 6 * _HOUR, _START + 12 * _HOUR
    await world.list_nodes(down)
    await world.read_tasks(down)
    day = await world.rolled_up(down)
    assert (day.settled, _held(day)) == (9, {"running": 6 * _HOUR})
    await world.list_nodes(up)
    day = await world.rolled_up(up)
    assert (day.settled, _held(day)) == (9, {"running": 6 * _HOUR})
    await world.read_tasks(up + _MINUTE, end=down + 2 * _HOUR)
    day = await world.rolled_up(up + 2 * _MINUTE)
    assert (day.settled, _held(day)) == (15, {"failed": 8 * _HOUR})


async def test_a_task_that_rounds_find_unchanged_goes_on() -> None:
    world, at = _World(), _START + 6 * _HOUR
    await world.read_tasks(_START + _HOUR)
    await world.list_nodes(at)
    await world.confirm_tasks(at)
    day = await world.rolled_up(at)
    assert (day.settled, _held(day)) == (9, {"running": 6 * _HOUR})


async def test_a_day_has_when_runs_were_read_also_where_nodes_were_listed_earlier() -> None:
    world, at = _World(), _START + 6 * _HOUR
    pool = Pool(PoolFacts("Pool", _START, "active", _START, "s"), _START)
    await world.stores.pools.save_all(ACCOUNT.key, [pool])
    await world.list_nodes(at - 5 * _HOUR)
    await world.read_tasks(at, end=at - _MINUTE)
    day = await world.rolled_up(at)
    assert (day.as_of, day.runs_as_of) == (_ms(at - 5 * _HOUR), _ms(at))
    assert [one.runs for one in day.jobs["job"].ends.values()] == [1]


async def test_hours_wait_for_no_tasks_where_events_of_runs_would_be_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (task_usage, usage_rollups):
        monkeypatch.setattr(module, "MAX_EVENTS", 10 * _AN_HOUR)
    world = _World()
    await world.read_tasks(_START)
    for hours in range(1, 20):
        at = _START + hours * _HOUR
        await world.log_runs(at - _HOUR)
        await world.list_nodes(at)
        await world.list_jobs(at)
        day = await world.rolled_up(at)
        held = sum(units.get("succeeded", 0) for units in day.pools["pool"].units.values())
        assert held == _AN_HOUR * hours * 30_000
        assert day.settled >= hours - 4


async def test_hours_wait_for_a_job_that_may_get_tasks_while_it_is_not_read() -> None:
    world = _World()
    await world.read_tasks(_START + _HOUR, end=_START + _HOUR / 2)
    for hours in (4, 12, 13):
        await world.list_nodes(_START + hours * _HOUR)
        await world.list_jobs(_START + hours * _HOUR)
        day = await world.rolled_up(_START + hours * _HOUR)
        assert day.settled == (4 if hours < 13 else 16)


@pytest.mark.parametrize("is_killed", [False, True])
async def test_the_day_before_gets_the_outcome_of_a_run_that_failed_after_midnight(
    monkeypatch: pytest.MonkeyPatch, *, is_killed: bool
) -> None:
    world, end = _World(), _START + 24 * _HOUR
    for hours in range(1, 24):
        await world.list_nodes(_START + hours * _HOUR)
        await world.read_tasks(_START + hours * _HOUR)
        await world.rolled_up(_START + hours * _HOUR)
    for hours in range(1, 5):
        await world.list_nodes(end + hours * _HOUR)
        await world.read_tasks(end + hours * _HOUR, end=end)
        if is_killed and hours == 2:
            with monkeypatch.context() as broken:
                broken.setattr(UsageDayStore, "save", _dies)
                with pytest.raises(TimeoutError):
                    await world.rolled_up(end + hours * _HOUR)
        day = await world.rolled_up(end + hours * _HOUR)
    assert (day.is_final, _held(day)) == (True, {"failed": timedelta(hours=19, minutes=50)})


async def test_the_day_before_isnt_written_again_where_it_has_the_outcome_of_runs_over_midnight() -> None:
    world, end = _World(), _START + 24 * _HOUR
    for hours in (1, 2):
        await world.list_nodes(end + hours * _HOUR)
        await world.read_tasks(end + hours * _HOUR, end=end)
        if hours == 1:
            day = await world.rolled_up(end + hours * _HOUR)
            assert (day.is_final, _held(day)) == (True, {"failed": timedelta(hours=19, minutes=50)})
            await world.stores.usage_days.save(ACCOUNT.key, replace(day, outcomes_as_of=()))  # an earlier version's
            world.storage.writes.clear()
    known = await world.rolled_up(end + 2 * _HOUR)
    assert _held(known) == _held(day)
    assert world.storage.writes.count("usage") == 3  # rows of the day on which it ended
