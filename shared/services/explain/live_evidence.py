"""Evidence about a waiting job that only Batch has: a few requests in bounded time, which never fail the answer.

At most: a GET of the job, one of its pool if that isn't stored, three of repeatedly retried tasks, three pages of
waiting tasks, three failed and three unstored tasks that others depend on, three pages of preparation tasks. Then, for
three jobs before it, the dependencies of their waiting tasks and the results of their preparation. These are requested
for up to ten jobs, while no answer shows a task that could start and fewer than three requests failed. Missing answers
are stated in sentences. On throttling no more is requested, and rounds wait as well.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from shared.domain.core.amounts import amount
from shared.domain.explain.evidence import ENDING, Evidence
from shared.domain.jobs.forecasts import forecast_of
from shared.domain.jobs.jobs import COMPLETED
from shared.domain.jobs.observations import RetriedTask
from shared.domain.reports.reports import JobReport
from shared.errors import BatchError, BatchMissingError, BatchThrottledError, MonitoringOffError
from shared.services.accounts.registry import Registry
from shared.services.explain.dependency_reader import DependencyReader
from shared.services.explain.shared_evidence import SharedEvidence
from shared.services.explain.unknown_facts import UnknownFacts
from shared.services.tasks.task_queries import TaskQueries
from shared.stores.accounts.rounds import RoundStore
from shared.stores.batch.batch import BatchAccount
from shared.stores.batch.batch_evidence import BatchEvidence
from shared.stores.batch.batch_pools import BatchPools

_SECONDS = 10

type KnowsPool = Callable[[str | None], Awaitable[bool]]


@dataclass(frozen=True, slots=True)
class LiveEvidence:
    """Evidence from Batch; `seconds` is the time limit for all requests.

    `shared` is evidence of one account that several explanations share; None to request everything anew.
    """

    tasks: TaskQueries
    registry: Registry
    rounds: RoundStore
    seconds: float = _SECONDS
    shared: SharedEvidence | None = None

    def evidence(self, source: BatchAccount) -> BatchEvidence:
        return self.shared or BatchEvidence(source)

    def dependencies(self, evidence: BatchEvidence) -> DependencyReader:
        return DependencyReader(evidence, self.tasks, self.shared.dependencies if self.shared else None)

    async def gather(
        self,
        source: BatchAccount,
        report: JobReport,
        unknown: UnknownFacts,
        *,
        knows_pool: KnowsPool,
        retried: Sequence[RetriedTask] = (),
    ) -> Evidence:
        """Returns what storage and Batch have on a job itself; Batch isn't asked if no task waits or is retried.

        Missing answers are added to `unknown`. `knows_pool` returns whether the pool with an id is stored. `retried`
        are tasks with retries; Batch is asked for their retry limits, up to the first task without one. Raises
        StorageError, CacheConflictError.
        """
        requests = _Requests(self, source, report, await self.registry.clock.now(), unknown)
        if not report.job.deleted and (_may_wait(report) or retried):
            await self.ask(source, lambda: requests.send(knows_pool, retried), unknown, lambda: requests.left)
        return requests.evidence

    async def ask(
        self, source: BatchAccount, send: Callable[[], Awaitable[None]], unknown: UnknownFacts, left: Callable[[], str]
    ) -> None:
        """Sends requests within the time limit, where Batch may be asked now.

        `left` returns the facts that stay unknown if no more can be requested. Raises StorageError, CacheConflictError.
        """
        try:
            await self.registry.require_polling_allowed(source.account)
        except (BatchError, MonitoringOffError) as error:
            unknown.add(f"Batch wasn't asked, so {left()}: {error}")
            return
        try:
            async with asyncio.timeout(self.seconds):
                await send()
        except TimeoutError:
            unknown.add(f"Batch didn't answer everything that was asked within {self.seconds:.0f} seconds")
        except BatchThrottledError as error:
            unknown.add(f"Nothing more was asked of Batch, so {left()}: {error}")
            until, reason = await self.registry.clock.now() + error.retry_after, str(error)
            await self.rounds.change(source.account.key, lambda last: last.waiting(until, reason))
        except BatchError as error:
            unknown.add(f"Batch wasn't asked, so {left()}: {error}")


def _may_wait(report: JobReport) -> bool:
    """Returns whether tasks may wait: some do, counts are unknown, or the job completed without any."""
    snapshot = report.job.snapshot
    if snapshot is None or snapshot.counts.active:
        return True
    return report.job.facts.state == COMPLETED and not snapshot.counts.total


class _Requests:
    """Sends one request after another; `evidence` keeps earlier answers when a later request fails."""

    def __init__(
        self, live: LiveEvidence, source: BatchAccount, report: JobReport, now: datetime, unknown: UnknownFacts
    ) -> None:
        self._pools = BatchPools(source)
        self._batch = live.evidence(source)
        self._dependencies = live.dependencies(self._batch)
        self._report = report
        self._unknown = unknown
        job, forecast = report.job, forecast_of(report.job, report.verdict)
        self.evidence = Evidence(
            now,
            job.facts,
            deleted=job.deleted,
            counts=job.snapshot.counts if job.snapshot else None,
            waiting_slots=forecast.statistics.active_slots if forecast else None,
        )

    @property
    def left(self) -> str:
        """The facts that stay unknown if no more can be requested."""
        if self.evidence.job is self._report.job.facts:
            return "how the job is now, what its waiting tasks depend on and how its preparation went isn't known"
        return "the rest of what only Batch knows isn't known"

    async def send(self, knows_pool: KnowsPool, retried: Sequence[RetriedTask]) -> None:
        """Raises BatchError if the job can't be fetched, BatchThrottledError whenever requests must stop."""
        stored = self._report.job
        try:
            job = await self._batch.fetch_job(stored.facts.id)
        except BatchMissingError:
            self.evidence = replace(self.evidence, deleted=True)
            return
        if job.facts.creation_time != stored.facts.creation_time:
            self._unknown.add("The job was created anew under its id, and what is stored is of the one before")
            return
        self.evidence = replace(
            self.evidence, job=job.facts, makes_pool=job.makes_pool, scheduling_error=job.scheduling_error
        )
        if job.facts.state in ENDING:
            return
        with self._unknown.unasked("Whether a task is tried again without end"):
            await self._ask_retry_limits(retried)
        if not _may_wait(self._report):
            return
        if not await knows_pool(job.facts.pool_id):
            with self._unknown.unasked("Whether its pool is there"):
                await self._ask_pool(job.facts.pool_id)
        if stored.snapshot is None:
            return
        if job.facts.rules.uses_task_dependencies:
            with self._unknown.unasked("What its waiting tasks depend on"):
                dependencies = await self._dependencies.read(self._report, self._unknown)
                self.evidence = replace(self.evidence, dependencies=dependencies)
        if job.awaits_preparation:
            with self._unknown.unasked("How its preparation went"):
                await self._ask_preparation()

    async def _ask_pool(self, pool_id: str | None) -> None:
        """Looks up an unstored pool, which may be new or not listed; a job without a pool id has no pool."""
        try:
            if pool_id:
                await self._pools.fetch_pool(pool_id)
                self._unknown.add(f"The pool '{pool_id}' is there, but its nodes weren't read yet")
        except BatchMissingError:
            self.evidence = replace(self.evidence, pool_gone=True)
        else:
            self.evidence = replace(self.evidence, pool_gone=not pool_id)

    async def _ask_retry_limits(self, retried: Sequence[RetriedTask]) -> None:
        for task in retried:
            if await self._batch.fetch_is_endless(self._report.job.facts.id, task.id):
                self.evidence = replace(self.evidence, retried=task)
                return

    async def _ask_preparation(self) -> None:
        found, whole = await self._batch.fetch_preparation(self._report.job.facts.id)
        self.evidence = replace(self.evidence, preparation=found)
        if not whole:
            self._unknown.add(f"How its preparation went is known of {amount(found.nodes, 'node')} only")
