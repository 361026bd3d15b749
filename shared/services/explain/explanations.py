"""Explanations why a job doesn't run: gathers evidence from storage and Batch, and applies the rules."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

from shared.domain.core.stamps import from_milliseconds
from shared.domain.events.batch_events import BatchEvent
from shared.domain.events.event_lists import EventFilter
from shared.domain.explain.evidence import ENDING, Evidence
from shared.domain.explain.explanation import Explanation, explain
from shared.domain.explain.node_events import KINDS
from shared.domain.explain.pool_nodes import NO_NODES, PoolNodes
from shared.domain.explain.pool_size import current_error
from shared.domain.explain.preemptions import REQUEUED, STARTED, Requeue, requeues_of, with_takers
from shared.domain.findings.thresholds import NODE_EVENTS_SINCE, SLOT_TAKEN_WITHIN
from shared.domain.jobs.observations import RequiredSlots, RetriedTask
from shared.domain.nodes.failing_nodes import FailingNodes
from shared.domain.quotas.account_quotas import Quota
from shared.domain.quotas.core_quotas import CODES
from shared.domain.reports.pool_rate import pool_rate
from shared.domain.reports.reports import JobReport, PoolReport
from shared.errors import NotFoundError
from shared.services.accounts.registry import found
from shared.services.events.event_queries import EventQueries
from shared.services.explain.competing_job_reader import CompetingJobReader
from shared.services.explain.live_evidence import LiveEvidence
from shared.services.explain.stored_evidence import may_change, oldest_as_of, shares_pool, unsure_parts
from shared.services.explain.unknown_facts import UnknownFacts
from shared.services.queries.pool_queries import PoolQueries
from shared.services.queries.queries import Queries
from shared.services.quotas.quota_queries import QuotaQueries
from shared.services.tasks.task_queries import TaskQueries
from shared.services.tasks.unfinished_tasks import UnfinishedTasks
from shared.stores.batch.batch import BatchAccount

_MAX_NODE_EVENTS = 200
_MAX_REQUEUES = 50
_MAX_STARTS = 1000


@dataclass(frozen=True, slots=True)
class ExplanationReport:
    """An explanation, the date of its oldest stored evidence, and the facts that couldn't be determined."""

    job: JobReport
    as_of: datetime | None
    explanation: Explanation
    unknown: tuple[str, ...]


class Explanations:
    """Explanations of jobs; `sources` are keyed by account id."""

    def __init__(
        self,
        sources: Mapping[str, BatchAccount],
        queries: Queries,
        tasks: TaskQueries,
        pools: PoolQueries,
        *,
        live: LiveEvidence,
        events: EventQueries,
        quotas: QuotaQueries,
    ) -> None:
        self._sources = sources
        self._queries = queries
        self._tasks = UnfinishedTasks(tasks)
        self._competing_jobs = CompetingJobReader(tasks, live)
        self._pools = pools
        self._live = live
        self._events = events
        self._quotas = quotas

    async def explain(self, account_id: str, job_id: str) -> ExplanationReport:
        """Returns the explanation of a job. Raises NotFoundError."""
        source = found(self._sources, account_id)
        report = await self._queries.job(account_id, job_id)
        unknown = UnknownFacts()

        async def knows_pool(pool_id: str | None) -> bool:
            return await self._pool(account_id, pool_id, unknown) is not None

        retried = await self._retried(report, unknown)
        evidence, jobs = await asyncio.gather(
            self._live.gather(source, report, unknown, knows_pool=knows_pool, retried=retried),
            self._jobs(account_id, report),
        )
        pool_id = evidence.job.pool_id
        pool = await self._pool(account_id, pool_id, unknown)
        sharing = [job for job in jobs if shares_pool(job, pool_id) and job.job.key != report.job.key]
        others = [job for job in sharing if not job.job.deleted]
        now, rules = await self._live.registry.clock.now(), evidence.job.rules
        evidence = replace(evidence, now=now, rules=rules, pool=pool.pool if pool else None)
        rate = pool_rate([report, *sharing], now)
        competing = await self._competing_jobs.read(source, evidence, others, rate, unknown)
        evidence = replace(evidence, competing_jobs=competing, per_minute=rate.per_minute if rate else None)
        evidence = replace(evidence, waiting=await self._waiting(report, evidence, unknown))
        evidence = replace(evidence, node_events=await self._node_events(account_id, evidence, unknown))
        evidence = replace(evidence, requeues=await self._requeues(account_id, evidence, sharing, unknown))
        evidence = replace(evidence, quotas=await self._core_quotas(report, evidence, unknown))
        evidence = replace(evidence, nodes=await self._nodes(account_id, evidence, unknown))
        evidence = replace(evidence, failing_nodes=await self._failing_nodes(report, now, unknown))
        used = [job for job in others if may_change(job, now)]
        sentences = (*unknown.sentences, *unsure_parts(report, pool, used), *await self._without_pool(report, evidence))
        return ExplanationReport(report, oldest_as_of(report, pool, *used), explain(evidence), sentences)

    async def _retried(self, report: JobReport, unknown: UnknownFacts) -> tuple[RetriedTask, ...]:
        with unknown.unread("Which of its tasks were tried again"):
            return await self._tasks.most_retried(report)
        return ()

    async def _pool(self, account_id: str, pool_id: str | None, unknown: UnknownFacts) -> PoolReport | None:
        with suppress(NotFoundError), unknown.unread("What its pool is like"):
            return await self._pools.pool(account_id, pool_id) if pool_id else None
        return None

    async def _without_pool(self, report: JobReport, evidence: Evidence) -> list[str]:
        """Returns that an unstored pool is unknown, and why: a problem of the account's last round over pools."""
        name, unknown = evidence.job.pool_id, list[str]()
        if evidence.pool is None and evidence.pool_gone is None and name and not report.job.deleted:
            unknown.append(f"Nothing is known of the pool '{name}' yet.")
        if evidence.pool or evidence.pool_gone or evidence.deleted or not name:
            return unknown
        problem = await self._pools.problem(report.account.id)
        return [*unknown, f"When pools were polled last, this went wrong: {problem}"] if problem else unknown

    async def _jobs(self, account_id: str, report: JobReport) -> list[JobReport]:
        """Returns all jobs of the account if the job has waiting tasks that may compete with theirs."""
        snapshot, shared = report.job.snapshot, self._live.shared
        if snapshot is None or not snapshot.counts.active:
            return []
        if shared is None:
            return await self._queries.jobs(account_id)
        return await shared.reports(lambda: self._queries.jobs(account_id))

    async def _waiting(self, report: JobReport, evidence: Evidence, unknown: UnknownFacts) -> RequiredSlots | None:
        """Returns the slots of the first waiting tasks; of more if these may not fit the free slots or any node."""
        if not evidence.waiting_tasks or evidence.deleted:
            return None
        slots_per_node = evidence.facts.slots_per_node if evidence.facts else 1
        with unknown.unread("How many slots its waiting tasks require"):
            return await self._tasks.required_slots(report, slots_per_node, by_all=evidence.free > 0)
        return None

    async def _node_events(
        self, account_id: str, evidence: Evidence, unknown: UnknownFacts
    ) -> tuple[BatchEvent, ...] | None:
        """Returns the latest events that nodes of the pool reported, by one page; None where that isn't known.

        If the page ends before the hour does, a sentence says from when on the events are known.
        """
        pool_id, job = evidence.job.pool_id, evidence.job
        if not pool_id or evidence.deleted or job.state in ENDING:
            return None
        wanted = EventFilter(pools=frozenset({pool_id}), kinds=frozenset(KINDS), since=evidence.now - NODE_EVENTS_SINCE)
        with unknown.unasked("What the pool's nodes reported lately"):
            page = await self._events.events(account_id, wanted, after=None, most=_MAX_NODE_EVENTS)
            if page.more:
                unknown.add(f"What the pool's nodes reported before {page.more.moment:%H:%M} UTC isn't known")
            return tuple(page.events)
        return None

    async def _failing_nodes(self, report: JobReport, now: datetime, unknown: UnknownFacts) -> FailingNodes | None:
        """Returns the stored nodes on which the job's tasks fail, without those that are gone."""
        found, snapshot = report.job.failing_nodes, report.job.snapshot
        if found is None or snapshot is None or report.job.deleted:
            return None
        if not found.holds(snapshot.counts.failed, now):
            unknown.add(f"On which nodes its tasks fail isn't known since {from_milliseconds(found.as_of):%H:%M} UTC")
            return None
        with unknown.unread("Which nodes of its pool are still there"):
            return await self._pools.still_there(report.account.id, found)
        return None

    async def _core_quotas(self, report: JobReport, evidence: Evidence, unknown: UnknownFacts) -> tuple[Quota, ...]:
        """Returns the account's quotas if the last resize of the pool failed for one of cores."""
        error = current_error(evidence.pool)
        if error and error.code.lower() in CODES:
            with unknown.unread("What the account's quotas are"):
                return tuple(await self._quotas.with_active(report.account, 0))
        return ()

    async def _requeues(
        self, account_id: str, evidence: Evidence, sharing: Sequence[JobReport], unknown: UnknownFacts
    ) -> tuple[Requeue, ...] | None:
        """Returns the latest requeues of running tasks of a job that allows preemption, with those who took the slots.

        None where that isn't known, or no task waits, as then all of them were started again.
        """
        if not evidence.rules.allows_preemption or not evidence.waiting_tasks or evidence.deleted:
            return None
        job, since = evidence.job.id, max(evidence.now - NODE_EVENTS_SINCE, evidence.job.creation_time)
        with unknown.unasked("For which jobs its running tasks were requeued"):
            wanted = EventFilter(jobs=frozenset({job}), kinds=frozenset({REQUEUED}), since=since)
            page = await self._events.events(account_id, wanted, after=None, most=_MAX_REQUEUES)
            found = requeues_of(page.events)
            if not found:
                return ()
            more_urgent = {
                report.job.key: report.job.facts.id
                for report in sharing
                if (report.job.facts.priority or 0) > evidence.priority
            }
            started = EventFilter(
                nodes=frozenset(each.node for each in found),
                kinds=frozenset({STARTED}),
                since=min(each.at for each in found),
                until=max(each.at for each in found) + SLOT_TAKEN_WITHIN,
            )
            starts = await self._events.events(account_id, started, after=None, most=_MAX_STARTS)
            if starts.more:
                unknown.add(f"Which tasks started on its nodes before {starts.more.moment:%H:%M} UTC isn't known")
            return with_takers(found, starts.events, more_urgent)
        return None

    async def _nodes(self, account_id: str, evidence: Evidence, unknown: UnknownFacts) -> PoolNodes:
        """Returns the pool's nodes if its totals don't suffice: some take no tasks, or their free slots matter.

        They also matter where some reported events. For full nodes, totals don't show which accept no more tasks, as
        draining nodes are also `running`.
        """
        pool = evidence.pool
        if pool is None or pool.snapshot is None or not evidence.waiting_tasks:
            return NO_NODES
        summary = pool.snapshot.summary
        is_full = summary.total > 0 and not summary.free
        is_plain = not is_full and summary.free + summary.used == summary.slots and evidence.able == summary.total
        needs_room = evidence.waiting is not None and evidence.waiting.least_slots > 1
        if is_plain and not needs_room and evidence.preparation is None and not evidence.node_events:
            return NO_NODES
        with suppress(NotFoundError), unknown.unread("How each of the pool's nodes is"):  # it may be deleted meanwhile
            return PoolNodes(report.node for report in await self._pools.nodes(account_id, pool.facts.id))
        return NO_NODES
