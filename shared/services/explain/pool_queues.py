"""The queues of pools: jobs with waiting tasks in Batch's order, from storage and without requests to Batch."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from shared.domain.core.amounts import amount
from shared.domain.explain.pool_nodes import NO_NODES, PoolNodes
from shared.domain.explain.pool_queue import QueuedJob, QueueEvidence, WaitingJob, queue_of
from shared.domain.reports.pool_rate import pool_rate
from shared.domain.reports.reports import JobReport, PoolReport
from shared.errors import NotFoundError
from shared.services.explain.competing_job_reader import competing_job_of
from shared.services.explain.stored_evidence import may_change, oldest_as_of, shares_pool, unsure_parts
from shared.services.explain.unknown_facts import UnknownFacts
from shared.services.queries.pool_queries import PoolQueries
from shared.services.queries.queries import Queries
from shared.services.tasks.task_queries import TaskQueries
from shared.services.tasks.unfinished_tasks import UnfinishedTasks
from shared.stores.jobs.dependencies import DependencyStore
from shared.stores.jobs.jobs import generation_partition

_MAX_LOOKED = 300  # jobs, each by one or two reads
_AT_ONCE = 20  # of these, between which the order is found anew
_SINCE = timedelta(hours=2)  # tasks of jobs that completed since then count in the rate of ended tasks


@dataclass(frozen=True, slots=True)
class PoolQueueReport:
    """The first jobs of a pool's queue, how many jobs and tasks wait in all, and sentences on unknown facts.

    All stored data is as of `as_of` or later, None before the first poll.
    """

    pool: PoolReport
    as_of: datetime | None
    jobs: tuple[QueuedJob, ...]
    waiting_jobs: int
    waiting_tasks: int
    per_minute: float | None
    unknown: tuple[str, ...]


class PoolQueues:
    """Answers about the queues of pools."""

    def __init__(self, queries: Queries, tasks: TaskQueries, pools: PoolQueries, dependencies: DependencyStore) -> None:
        self._queries = queries
        self._tasks = UnfinishedTasks(tasks)
        self._pools = pools
        self._dependencies = dependencies

    async def of_pool(self, account_id: str, pool_id: str, top: int) -> PoolQueueReport:
        """Returns the first `top` jobs of a pool's queue. Raises NotFoundError."""
        pool = await self._pools.pool(account_id, pool_id)
        reports = await self._queries.jobs_since(account_id, pool.now - _SINCE)
        sharing = [report for report in reports if shares_pool(report, pool_id)]
        live = {report.job.key: report for report in sharing if not report.job.deleted}
        rate = pool_rate(sharing, pool.now)
        jobs = tuple(
            WaitingJob(report.job.facts, job) for report in live.values() if (job := competing_job_of(report, rate))
        )
        used, unknown = [report for report in live.values() if may_change(report, pool.now)], UnknownFacts()
        as_of, per_minute = oldest_as_of(pool, *used), rate.per_minute if rate else None
        stored = QueueEvidence(as_of or pool.now, pool.pool, NO_NODES, per_minute, jobs)
        evidence = await self._looked_at(stored, top, live, unknown)
        evidence = replace(evidence, nodes=await self._nodes(pool, evidence, unknown))
        if unread := sum(report.job.snapshot is None for report in used):
            unknown.add(f"The tasks of {amount(unread, 'job')} on the pool haven't been read yet")
        waiting = [each.job.counts.active for each in jobs if each.job.counts.active]
        return PoolQueueReport(
            pool=pool,
            as_of=as_of,
            jobs=tuple(queue_of(evidence, top)),
            waiting_jobs=len(waiting),
            waiting_tasks=sum(waiting),
            per_minute=per_minute,
            unknown=(*unknown.sentences, *unsure_parts(None, pool, used)),
        )

    async def _looked_at(
        self, evidence: QueueEvidence, top: int, reports: Mapping[str, JobReport], unknown: UnknownFacts
    ) -> QueueEvidence:
        """Returns the evidence with slots and dependencies of the first jobs' tasks.

        Those of which no task can start come last then, so others take their places and are looked at, too.
        """
        jobs, looked, first = {each.facts.key: each for each in evidence.jobs}, set[str](), max(top, _AT_ONCE)
        while fresh := [each for each in evidence.in_order[:first] if each.facts.key not in looked]:
            if len(looked) >= _MAX_LOOKED:
                unknown.add(f"Whether jobs after {_MAX_LOOKED} that were looked at could start a task isn't known")
                break
            for each in fresh:
                with unknown.unread(f"How the tasks of '{each.facts.id}' wait"):
                    jobs[each.facts.key] = await self._look_at(each, reports[each.facts.key], evidence)
            looked |= {each.facts.key for each in fresh}
            evidence = replace(evidence, jobs=tuple(jobs.values()))
        return evidence

    async def _look_at(self, each: WaitingJob, report: JobReport, evidence: QueueEvidence) -> WaitingJob:
        """Raises UnreadableError, CacheConflictError."""
        snapshot, as_of = report.job.snapshot, report.verdict.as_of
        if each.is_unsure and snapshot and as_of:
            partition = generation_partition(report.account.key, report.job.key, snapshot.generation)
            stored = await self._dependencies.load(partition)
            if stored and stored.holds(moved_at=snapshot.moved_at, as_of=as_of):
                each = replace(each, job=replace(each.job, dependencies=stored.dependencies))
        if each.job.waiting_slots > each.job.counts.active:
            slots_per_node = evidence.pool.facts.slots_per_node
            each = each.with_slots(await self._tasks.required_slots(report, slots_per_node), slots_per_node)
        return each

    async def _nodes(self, pool: PoolReport, evidence: QueueEvidence, unknown: UnknownFacts) -> PoolNodes:
        """Returns the pool's nodes if its totals don't suffice to find causes, and tasks wait."""
        snapshot = pool.pool.snapshot
        if snapshot is None or not any(each.job.counts.active for each in evidence.jobs):
            return NO_NODES
        summary = snapshot.summary
        is_roomy = summary.free > 0 and summary.free + summary.used == summary.slots
        if is_roomy and not any(each.waiting for each in evidence.jobs):
            return NO_NODES
        with suppress(NotFoundError), unknown.unread("How each of the pool's nodes is"):  # it may be deleted meanwhile
            return PoolNodes(each.node for each in await self._pools.nodes(pool.account.id, pool.pool.facts.id))
        return NO_NODES
