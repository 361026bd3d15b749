"""The time of an account's tasks in a day's open hours: from cached tasks and, where it is ingested, Batch's event log.

Cached tasks show the latest run of each; events show earlier ones, and runs of tasks and jobs that were deleted. Events
are read once for all days, in one range.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import batched

from shared.domain.accounts.accounts import Account
from shared.domain.core.keys import key_of
from shared.domain.core.stamps import from_milliseconds, to_milliseconds
from shared.domain.cost.busy_nodes import HOUR, Outcome, TaskUsageByHour, outcome_of
from shared.domain.cost.runs.known_nodes import KnownNodes
from shared.domain.cost.runs.node_runs import NodeRuns
from shared.domain.cost.runs.run_events import RunEvent, RunEvents, TaskEvents, instances_of
from shared.domain.cost.runs.task_attempts import attempts
from shared.domain.jobs.jobs import Job
from shared.domain.leaves.leaf_summaries import remembered
from shared.domain.pools.pool_facts import PoolFacts
from shared.domain.tasks.job_statistics import MINUTE
from shared.domain.tasks.tasks import Task, TaskCounts
from shared.domain.timeline.timeline import Run, runs_of
from shared.errors import CacheConflictError, NotFoundError, UnreadableError
from shared.log import logger
from shared.services.cost.long_runs import LongRuns
from shared.services.tasks.leaf_reader import LeafReader, Slice, Wanted
from shared.stores.events import EventStore

_LOG = logger(__name__)
LOOK_BACK = timedelta(hours=6) // timedelta(milliseconds=1)
"""How long a run may take that its end or next start alone doesn't show: its start is looked for so far back."""
_FRESH = timedelta(minutes=5) // timedelta(milliseconds=1)
"""For so long a task that started may be missing in the cache, as no poll has seen it yet."""
_DELETING = "deleting"
_AT_ONCE = 200  # events, or tasks with events, after which others on the event loop go on, such as HTTP functions
MAX_EVENTS = 200_000
"""Events of runs that one run of housekeeping keeps in memory for an account."""


async def read_run_events(store: EventStore | None, account_key: str, first_hour: int, now: int) -> RunEvents:
    """Returns events of runs that concern hours from one on (since 1970), the latest ones where there are too many.

    `now` is in milliseconds since 1970. Without a store there are none. Raises StorageError.
    """
    found = RunEvents()
    if store is None:
        return found
    first, last = (first_hour * HOUR - LOOK_BACK) // MINUTE, now // MINUTE + 1
    async for minute, events in store.minutes(account_key, first, last):
        for some in batched(events, _AT_ONCE, strict=False):
            found.take(some)
            await asyncio.sleep(0)
        if found.count > MAX_EVENTS and minute > first:
            _LOG.warning("Events of runs before %s are left out of usage.", from_milliseconds(minute * MINUTE))
            break
    return found


@dataclass(frozen=True, slots=True)
class TaskUsageReader:
    """Adds the runs of jobs to the usage of a day; `now` is in milliseconds since 1970, pools and nodes by pool key."""

    leaves: LeafReader
    account: Account
    events: RunEvents
    pools: Mapping[str, PoolFacts]
    nodes: Mapping[str, KnownNodes]
    now: int
    long_runs: LongRuns

    def slots_of(self, pool_id: str) -> int:
        """Returns how many slots each node of a pool has, 0 for an unknown one."""
        facts = self.pools.get(key_of(pool_id))
        return facts.slots_per_node if facts else 0

    async def read(self, usage: TaskUsageByHour, jobs: Sequence[Job], hours: range) -> None:
        """Adds the runs of stored jobs, and of jobs that only events show, within hours since 1970."""
        since = hours.start * HOUR
        found = _Found(usage, NodeRuns(lambda pool: self.nodes.get(key_of(pool))), since)
        for job in jobs:
            if _may_have_run(job, hours) or self.events.has_since(job.key, since):
                await self._add_job(found, job, self.events.of_job(job.key), hours)
        for key in self.events.names.keys() - {job.key for job in jobs}:
            await self._add_rest(found, _KnownJob(key), self.events.of_job(key))
        await found.add_bounded()
        for job_key, run in found.long:
            usage.add(job_key, run, outcome_of(run), await self.long_runs.instances(job_key, run))

    async def _add_job(self, found: "_Found", job: Job, events: TaskEvents, hours: range) -> None:
        known, left = _KnownJob(job.key, _gone(job)), dict(events)
        try:
            wanted = _ran_since(hours.start * HOUR)
            async with aclosing(self.leaves.slices(self.account.id, job.facts.id, wanted=wanted)) as slices:
                async for part in slices:
                    known.ends.update(part.leaf.run_ends.times)
                    await self._add_part(found, known, part, left)
        except (CacheConflictError, NotFoundError, UnreadableError) as error:
            _LOG.warning("The usage of %s in %s lacks tasks: %s", job.facts.id, self.account.id, error)
        await self._add_rest(found, known, left)

    async def _add_part(self, found: "_Found", job: "_KnownJob", part: Slice, left: dict[str, list[RunEvent]]) -> None:
        """Adds the runs of a leaf's tasks, those with events apart; takes these events out of `left`."""
        places = [at for at in part.places if part.leaf.keys[at] in left]
        async for at, task in _with_pauses(zip(places, part.leaf.rows(places), strict=True)):
            key = part.leaf.keys[at]
            self._add_attempts(found, job, key, left.pop(key), task)
        rest = runs_of(part.leaf, part.places, without=frozenset(places))
        self._take(found, job.key, _until(rest, job.gone))
        await asyncio.sleep(0)

    def _take(self, found: "_Found", job: str, runs: Iterable[Run]) -> None:
        """Adds the runs of tasks without events; of those that may take place on several nodes, only notes them."""
        if self.long_runs.is_needed:
            known = list(runs)
            found.long.extend((job, run) for run in known if self.long_runs.concerns(run, found.since))
            runs = (run for run in known if not self.long_runs.concerns(run, found.since))
        found.usage.take(job, runs)

    async def _add_rest(self, found: "_Found", job: "_KnownJob", left: TaskEvents) -> None:
        """Adds the runs of tasks that aren't cached."""
        async for key, events in _with_pauses(left.items()):
            self._add_attempts(found, job, key, events, None)

    def _add_attempts(
        self, found: "_Found", job: "_KnownJob", key: str, events: Sequence[RunEvent], task: Task | None
    ) -> None:
        instances = instances_of(events)
        runs = attempts(events, task, self.now - _FRESH, lambda retries: job.ends.get((key, retries)))
        for run, outcome, is_bounded in runs:
            pool, node = run.node
            facts = self.pools.get(key_of(pool))
            known = run._replace(node=(facts.id if facts else pool, node))
            (ended,) = _until((known,), job.gone)
            if run.end is None and ended.end is not None:
                found.add(job.key, ended, "interrupted", instances, is_bounded=True)
            else:
                found.add(job.key, ended, outcome, instances, is_bounded=is_bounded)


@dataclass(frozen=True, slots=True)
class _KnownJob:
    """A job by key, since when it has no running tasks, and ends of its retried runs by task key and retries."""

    key: str
    gone: int | None = None
    ends: dict[tuple[str, int], int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Found:
    """The usage of a day, and the runs of tasks with events by node; those without a known end are added last."""

    usage: TaskUsageByHour
    nodes: NodeRuns
    since: int
    long: list[tuple[str, Run]] = field(default_factory=list)

    def add(self, job: str, run: Run, outcome: Outcome, instances: int, *, is_bounded: bool) -> None:
        self.nodes.add(job, run, outcome, instances, is_bounded=is_bounded)
        if not is_bounded:
            self.usage.add(job, run, outcome, instances)

    async def add_bounded(self) -> None:
        for some in self.nodes.bounded():
            for job, run, outcome, instances in some:
                self.usage.add(job, run, outcome, instances)
            await asyncio.sleep(0)


async def _with_pauses[T](items: Iterable[T]) -> AsyncIterator[T]:
    """Yields items; between some of them others on the event loop go on."""
    for some in batched(items, _AT_ONCE, strict=False):
        for one in some:
            yield one
        await asyncio.sleep(0)


def _gone(job: Job) -> int | None:
    """Returns since when a job has no running tasks as it is deleted: its deletion began, or a poll missed it."""
    if job.facts.state == _DELETING:
        return to_milliseconds(job.facts.state_transition_time)
    return to_milliseconds(job.deleted_at) if job.deleted_at else None


def _until(runs: Iterable[Run], gone: int | None) -> Iterable[Run]:
    """Returns runs that don't last longer than their job, which was deleted by a time."""
    if gone is None:
        return runs
    return (run._replace(end=max(gone, run.start)) if run.end is None else run for run in runs)


def _may_have_run(job: Job, hours: range) -> bool:
    """Returns whether tasks of a job may have run within hours since 1970: one runs now, or changed since."""
    start, end = from_milliseconds(hours.start * HOUR), from_milliseconds(hours.stop * HOUR)
    snapshot = job.snapshot
    if snapshot is None or job.facts.creation_time >= end:
        return False
    if job.deleted_at and job.deleted_at < start:
        return False
    return snapshot.counts.running + snapshot.counts.preparing > 0 or snapshot.moved_at >= start


def _ran_since(start: int) -> Wanted:
    """Returns whether a leaf has tasks that may have run since a time, in milliseconds since 1970."""

    def ran(counts: TaskCounts, summary: bytes | None) -> bool:
        if counts.completed < counts.total or summary is None:
            return True
        found = remembered(summary)
        return found is None or any(minute >= start // MINUTE for minute, _ in found.statistics.completions[-1:])

    return ran
