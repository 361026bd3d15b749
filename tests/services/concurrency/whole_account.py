"""An account with jobs, pools and job schedules that several hosts poll concurrently, in virtual time.

Each kind is checked as in its own world: `asOf` doesn't go back after any host's poll, and all other claims are true
after all polls.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, NamedTuple, override

from shared.domain.polling.pool_rounds import pool_verdict
from shared.domain.polling.schedule_rounds import schedule_verdict
from shared.services.pools.pool_records import PoolRecords
from shared.services.pools.pool_rounds import PoolRounds
from shared.services.schedules.schedule_rounds import ScheduleRounds
from shared.stores.stores import Stores
from tests.services.fakes.fake_pools import FakePools
from tests.services.fakes.memory_tables import Fault, MemoryTables
from tests.services.worlds.pool_world import PoolWorld, as_listed
from tests.services.worlds.process import ACCOUNT, BUDGET, HISTORY, Process
from tests.services.worlds.schedule_world import RULES, FakeSchedules, ScheduleWorld
from tests.services.worlds.world import World

MINUTE = timedelta(minutes=1)


class Visit(NamedTuple):
    """A host's poll: seconds until it begins, seconds per call to Batch and to storage, and its storage fault."""

    delay: float
    takes: float
    stores: float
    fault: Fault | None


@dataclass(slots=True)
class WholeAccount(World):
    pools: PoolWorld = field(init=False)
    schedules: ScheduleWorld = field(init=False)

    def __post_init__(self) -> None:
        self.pools = PoolWorld(storage=self.storage, loop=self.loop)
        self.schedules = ScheduleWorld(storage=self.storage, loop=self.loop)
        World.__post_init__(self)

    @override
    def started(self, ahead: timedelta = timedelta()) -> Process:
        process = World.started(self, ahead)
        stores, clock = Stores(MemoryTables(process.connection)), process.clock
        pools = FakePools(self.pools.service, process.connection)
        records = PoolRecords(stores.pools, stores.pool_history, HISTORY)
        process.rounds._pools = PoolRounds(pools, stores, records, clock=clock, rules=RULES)
        schedules = FakeSchedules(self.schedules.service, process.connection)
        process.rounds._schedules = ScheduleRounds(schedules, stores.schedules, clock, RULES)
        return process

    def visit(self, visits: Sequence[Visit]) -> None:
        """Polls once with every host, concurrently, then checks every claim."""
        ends = self.run(self._visited(visits))
        for who, (visit, end) in enumerate(zip(visits, ends, strict=True)):
            self.messages += self.processes[who].polling.take_messages() if end is None else []
            self._take(who, end, may_fail=visit.fault is not None)
        self.check_all()

    async def _visited(self, visits: Sequence[Visit]) -> list[BaseException | None]:
        work = (self._poll(process, visit) for process, visit in zip(self.processes, visits, strict=False))
        return list(await asyncio.gather(*work, return_exceptions=True))

    async def _poll(self, process: Process, visit: Visit) -> None:
        await asyncio.sleep(visit.delay)
        hasten(process, visit.takes, visit.stores)
        process.connection.arm(visit.fault)
        try:
            await process.rounds.run_now(None, budget=BUDGET)
        finally:
            process.connection.arm(None)
            hasten(process, 0, 0)
        self._check_order(await self._reports())
        self.pools._check_order(await self.pools.started().pools.load_all(ACCOUNT.key))
        self.schedules._check_order(await self.schedules.started().store.load_all(ACCOUNT.key))

    def check_all(self) -> None:
        self.check(done=False, full=False, processes=[])
        self.pools.check(fresh=[])
        self.schedules.check()

    def come_to_rest(self) -> None:
        """Asserts that all counts become exact and true within a few rounds without changes."""
        self.wait(660)
        for number in range(5):
            self.wait(61)
            self.visit([Visit(60 * who, 0, 0, None) for who in range(len(self.processes))])
            self.deliver(who=number % len(self.processes))
            self.deliver_all()
        self._check_jobs_at_rest()
        self._check_pools_at_rest()
        self._check_schedules_at_rest()

    def _check_jobs_at_rest(self) -> None:
        reports, now = self.reports(), self.now()
        there = {job.id: job for job in self.truth.all_at(now)}
        assert there.keys() == {name for name, report in reports.items() if not report.job.deleted}
        for name, job in there.items():
            report = reports[name]
            assert report.verdict.level == "exact", report.verdict
            assert report.job.snapshot
            assert report.job.snapshot.counts == job.counts(now)
            seen = {task: true.seen_at(now) for task, true in job.tasks.items()}
            assert self.cached(name) == {task: change.row for task, change in seen.items() if change}
            self._check_insight(name, report, self.cached)

    def _check_pools_at_rest(self) -> None:
        known, now = self.pools.known(), self.now()
        assert known.last
        assert known.resources.keys() == {true.id.lower() for true in self.pools.service.there(now)}
        for true in self.pools.service.there(now):
            pool = known.resources[true.id.lower()]
            failure = known.last.failure_of(pool.key, pool.nodes_as_of)
            verdict = pool_verdict(pool, failure=failure, now=now, interval=MINUTE)
            assert verdict.level == "exact", verdict
            assert {name: as_listed(node) for name, node in self.pools.stored(true.id).items()} == true.at(now)

    def _check_schedules_at_rest(self) -> None:
        known, now = self.schedules.known(), self.now()
        there = {key: schedule for key, schedule in known.resources.items() if not schedule.deleted}
        assert {key: schedule.facts for key, schedule in there.items()} == self.schedules.service.there
        for schedule in there.values():
            verdict = schedule_verdict(schedule, known.last, now=now, interval=MINUTE)
            assert verdict.level == "exact", verdict


def sources_of(process: Process) -> list[Any]:
    """Returns the process's Batch clients for jobs, pools and schedules."""
    beside = (process.rounds._pools, process.rounds._schedules)
    return [process.batch, *(each.source for each in beside if each)]


def hasten(process: Process, takes: float, stores: float) -> None:
    """Sets the duration, in seconds, of each further call to Batch and to storage."""
    process.connection.latency = stores
    for source in sources_of(process):
        source.latency = takes
