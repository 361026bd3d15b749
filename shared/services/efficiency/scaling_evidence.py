"""Gathers from storage what replays of a pool's scaling need: tasks, nodes over time, evaluations and prices."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from shared.domain.autoscale.evaluation import DEDICATED, SPOT, Targets
from shared.domain.core.keys import key_of
from shared.domain.core.stamps import from_milliseconds, to_milliseconds
from shared.domain.cost.usage_days import PoolDay
from shared.domain.efficiency.scaling.plans import unrecorded_falls
from shared.domain.efficiency.scaling.recorded_pool import DAY, NodePoint, PoolTask, RecordedPool, is_usable
from shared.domain.efficiency.scaling.resize_options import KINDS, resize_options
from shared.domain.events.batch_events import BatchEvent
from shared.domain.events.event_lists import EventFilter
from shared.domain.history.grains import MINUTES
from shared.domain.history.points import MAX_POINTS, Point
from shared.domain.pools.pool_facts import PoolFacts
from shared.domain.pools.pool_samples import PoolNumbers
from shared.domain.pools.pool_settings import Evaluation
from shared.domain.pools.pools import Pool
from shared.domain.prices.price_table import PriceTable
from shared.domain.reports.reports import JobReport, PoolReport
from shared.domain.tasks.tasks import COMPLETED, FAILURE, Task
from shared.errors import WhatIfError
from shared.services.cost.pool_days import pool_day
from shared.services.events.event_queries import EventPage, EventQueries
from shared.services.prices.price_queries import PriceQueries
from shared.services.queries.histories import Histories
from shared.services.queries.pool_queries import PoolQueries
from shared.services.queries.queries import Queries
from shared.services.tasks.leaf_reader import LeafReader
from shared.stores.stores import Stores

MAX_TASKS = 30_000
"""The most tasks of a pool that are replayed."""
_MINUTE = timedelta(minutes=1)
_MAX_PAGES = 10  # of events of resizes, each for a time in which targets fell
_MAX_EVENTS = _MAX_ROWS = 1_000  # of a page
_SECOND = timedelta(seconds=1)
_MARGIN = timedelta(minutes=10)  # as an answer takes time
_RESULT = re.compile(r"(\$Target(?:Dedicated|LowPriority)Nodes)=(\d{1,9})(?:\.\d*)?(?:;|$)")


@dataclass(frozen=True, slots=True)
class PoolEvidence:
    """What is stored of a pool from `since` to `until`, and of the day before.

    `stated` are targets that Batch stated with evaluations, by their times in milliseconds since 1970; None where one
    failed. `start_ups` are those of nodes, in milliseconds. `changed` is when the formula last changed, None where no
    poll saw that. In `unseen` of the time no poll saw the nodes. `is_partly_read` where there were too many events for
    the options of all resizes that a replay follows.
    """

    report: PoolReport
    since: datetime
    until: datetime
    record: RecordedPool
    stated: Mapping[int, Targets | None]
    start_ups: Sequence[int]
    priced: PoolDay | None
    prices: PriceTable
    changed: datetime | None
    has_dependencies: bool
    unseen: timedelta
    is_partly_read: bool = False

    @property
    def facts(self) -> PoolFacts:
        return self.report.pool.facts


class ScalingEvidence:
    def __init__(
        self,
        queries: tuple[Queries, PoolQueries, EventQueries],
        leaves: LeafReader,
        histories: Histories[PoolNumbers],
        stores: Stores,
        prices: PriceQueries,
    ) -> None:
        self._jobs, self._pools, self._events = queries
        self._leaves = leaves
        self._histories = histories
        self._stores = stores
        self._prices = prices

    async def report(self, account_id: str, pool_id: str) -> PoolReport:
        """Returns a pool. Raises NotFoundError, StorageError."""
        return await self._pools.pool(account_id, pool_id)

    def earliest(self, now: datetime) -> datetime:
        """Returns from when on the history has every minute."""
        oldest = from_milliseconds(self._histories.retention.oldest(MINUTES, to_milliseconds(now)))
        return oldest + _MARGIN

    async def of_pool(self, report: PoolReport, since: datetime, until: datetime) -> PoolEvidence:
        """Returns what is stored of a pool. Raises WhatIfError, CacheConflictError, StorageError."""
        account, pool = report.account, report.pool
        first = max(since - timedelta(days=1), pool.facts.creation_time)
        jobs = [
            job
            for job in await self._jobs.jobs_since(account.id, pool.facts.creation_time)
            if key_of(job.job.facts.pool_id or "") == pool.key
        ]
        over, under_way = _divided(jobs, first)
        nodes = await self._nodes(report, first, until)
        stored = await self._stores.nodes.read(account.key, pool.key)
        record = RecordedPool(
            begin=to_milliseconds(pool.facts.creation_time),
            tasks=[task for job in under_way for task in await self._tasks(job)],
            nodes=[_node_point(point, point.numbers) for point in nodes if point.numbers],
            slots=pool.facts.slots_per_node,
            succeeded=sum(job.job.snapshot.counts.succeeded for job in over if job.job.snapshot),
            failed=sum(job.job.snapshot.counts.failed for job in over if job.job.snapshot),
            options=resize_options(pool.all_evaluations, ()),
        )
        return PoolEvidence(
            report=report,
            since=since,
            until=until,
            record=record,
            stated={to_milliseconds(one.at): _targets(one) for one in pool.all_evaluations if one.error or one.results},
            start_ups=await self._start_ups(report, since, until),
            priced=pool_day(pool.facts, stored.usage, self._prices.region_of(account)),
            prices=await self._prices.table(account),
            changed=_formula_change(pool),
            has_dependencies=any(job.job.facts.rules.uses_task_dependencies for job in under_way),
            unseen=sum(point.numbers is None and point.time > since for point in nodes) * _MINUTE,
        )

    async def _tasks(self, job: JobReport) -> list[PoolTask]:
        depends = job.job.facts.rules.uses_task_dependencies
        gone = job.job.deleted_at
        found = list[PoolTask]()
        async with aclosing(self._leaves.slices(job.account.id, job.job.facts.id)) as slices:
            async for part in slices:
                found += [_pool_task(task, gone, depends=depends) for task in part.leaf.rows(part.places)]
        return found

    async def with_options(self, evidence: PoolEvidence, until: int) -> PoolEvidence:
        """Returns the evidence with what events say of resizes that a replay follows until a time.

        Events are read only of times in which recorded targets fell. Raises StorageError.
        """
        report, record = evidence.report, evidence.record

        async def page(wanted: EventFilter) -> EventPage:
            account = report.account.id
            return await self._events.events(account, wanted, after=None, most=_MAX_EVENTS, most_rows=_MAX_ROWS)

        falls = unrecorded_falls(record, to_milliseconds(evidence.since), until)
        found, is_partly_read = await resizes(page, evidence.facts.id, falls)
        options = resize_options(report.pool.all_evaluations, found)
        return replace(evidence, record=replace(record, options=options), is_partly_read=is_partly_read)

    async def _nodes(self, report: PoolReport, since: datetime, until: datetime) -> list[Point[PoolNumbers]]:
        """Returns the pool's numbers by minute, from several answers of its history."""
        account, pool = report.account.id, report.pool.facts.id
        found, at = list[Point[PoolNumbers]](), max(since, self.earliest(report.now))
        while at < until:
            end = min(at + MAX_POINTS * _MINUTE, until)
            history = await self._histories.read(account, pool, since=at, until=end, step=_MINUTE)
            found += history.points
            at = end
        return found

    async def _start_ups(self, report: PoolReport, since: datetime, until: datetime) -> list[int]:
        days = range(to_milliseconds(since) // DAY, to_milliseconds(until) // DAY + 1)
        found = [await self._stores.start_ups.read(report.account.key, report.pool.key, day) for day in days]
        return [
            max((one.ready or one.busy or 0) - one.allocated, 0)
            for day in found
            for one in day.start_ups.values()
            if one.allocated and (one.ready or one.busy)
        ]


async def resizes(
    page: Callable[[EventFilter], Awaitable[EventPage]], pool_id: str, falls: Sequence[tuple[int, int]]
) -> tuple[list[BatchEvent], bool]:
    """Returns events of a pool's resizes and evaluations in times in which targets fell, and whether some are missing.

    There are none without resource logs. The latest times are read first.
    """
    found, is_partly_read = list[BatchEvent](), len(falls) > _MAX_PAGES
    for last, at in falls[-_MAX_PAGES:][::-1]:
        since, until = from_milliseconds(last), from_milliseconds(at) + _SECOND
        one = await page(EventFilter(pools=frozenset({pool_id}), kinds=KINDS, since=since, until=until))
        found += one.events
        is_partly_read |= one.more is not None and not one.events
    return found, is_partly_read


def _divided(jobs: Sequence[JobReport], first: datetime) -> tuple[list[JobReport], list[JobReport]]:
    """Returns the jobs that had ended before a time, and the others. Raises WhatIfError if these are too large."""
    over, others = list[JobReport](), list[JobReport]()
    for job in jobs:
        facts = job.job.facts
        has_ended = facts.state == "completed" and facts.state_transition_time < first
        (over if has_ended else others).append(job)
    number = sum(job.job.snapshot.counts.total for job in others if job.job.snapshot)
    if number > MAX_TASKS:
        text = f"The pool's jobs since then have {number:,} tasks, and at most {MAX_TASKS:,} are replayed"
        raise WhatIfError(f"{text}: take a range that begins later.", target="from")
    return over, others


def _pool_task(task: Task, gone: datetime | None, *, depends: bool) -> PoolTask:
    """Returns a task as it was seen; one that may have waited for others counts as ready when its run began."""
    end = task.transition or task.end if task.state == COMPLETED else None
    if end is None and gone:
        end = to_milliseconds(gone)
    start = task.start or None
    ready = start or end or task.creation if depends else task.creation
    return PoolTask(ready or task.creation, start, end, task.slots, has_failed=task.result == FAILURE)


def _node_point(point: Point[PoolNumbers], numbers: PoolNumbers) -> NodePoint:
    preempted = sum(number for state, _, number in numbers.counts if state == "preempted")
    usable = sum(number for state, _, number in numbers.counts if is_usable(state))
    (dedicated, wanted), (spot, wanted_spot) = numbers.dedicated, numbers.spot
    targets = None if wanted is None or wanted_spot is None else Targets(wanted, wanted_spot)
    return NodePoint(to_milliseconds(point.as_of or point.time), dedicated, spot, preempted, usable, targets)


def _targets(evaluation: Evaluation) -> Targets | None:
    """Returns the targets that an evaluation stated; None if it failed or doesn't say."""
    found = {name: int(value) for name, value in _RESULT.findall(evaluation.results or "")}
    if evaluation.error or not found:
        return None
    return Targets(found.get(DEDICATED, 0), found.get(SPOT, 0))


def _formula_change(pool: Pool) -> datetime | None:
    """Returns when the formula or its interval last changed, as polls saw it."""
    names = ("autoScaleFormula", "autoScaleEvaluationInterval", "enableAutoScale")
    return max((change.at for change in pool.changes if change.name in names), default=None)


def evaluation_times(evidence: PoolEvidence, interval: timedelta) -> list[int]:
    """Returns when the present formula was evaluated in the range: as polls saw, else at its interval."""
    step, known = interval // timedelta(milliseconds=1), sorted(evidence.stated)
    begun = to_milliseconds(evidence.changed) if evidence.changed else evidence.record.begin
    first = max(to_milliseconds(evidence.since), begun)
    last = to_milliseconds(evidence.until)
    anchor = known[0] if known else first
    begin = anchor - (anchor - first) // step * step
    found = [at for at in range(begin, last + 1, step) if not known or at < known[0]]
    for at, following in zip(known, [*known[1:], last + 1], strict=False):
        found += [moment for moment in range(at, following - step // 2, step) if moment <= last] or [at]
    return [at for at in found if first <= at <= last]
