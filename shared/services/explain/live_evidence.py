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
from typing import Protocol

from shared.clock import Clock
from shared.domain.core.amounts import amount
from shared.domain.dependencies.dependencies import MAX_KEYS, Dependencies
from shared.domain.explain.evidence import ENDING
from shared.domain.jobs.jobs import COMPLETED, JobFacts
from shared.domain.jobs.observations import Preparation, RetriedTask
from shared.domain.pools.pool_settings import Problem
from shared.domain.reports.reports import JobReport
from shared.errors import (
    BatchError,
    BatchMissingError,
    BatchscopeError,
    BatchThrottledError,
    MonitoringOffError,
)
from shared.services.explain.dependency_reader import MAX_ASKED, DependencyReader
from shared.services.explain.rival_conditions import AskingOfRivals, RivalConditions
from shared.services.jobs.polling_permission import require_polling_allowed
from shared.services.tasks.task_queries import TaskQueries
from shared.stores.accounts.monitoring import MonitoringStore
from shared.stores.accounts.rounds import RoundStore
from shared.stores.batch.batch import BatchAccount
from shared.stores.batch.batch_evidence import BatchEvidence
from shared.stores.batch.batch_pools import BatchPools

_SECONDS = 10
_WITHOUT = "how the job is now, what its waiting tasks depend on and how its preparation went isn't known"

type KnowsPool = Callable[[str | None], Awaitable[bool]]


@dataclass(frozen=True, slots=True)
class LiveAnswers:
    """The answers of Batch, None for those not requested, and sentences on missing ones."""

    facts: JobFacts | None = None
    gone: bool = False
    pool_gone: bool | None = None
    dependencies: Dependencies | None = None
    preparation: Preparation | None = None
    retried: RetriedTask | None = None
    makes_pool: bool = False
    scheduling_error: Problem | None = None
    unknown: tuple[str, ...] = ()


class LiveEvidence:
    """Evidence from Batch; `seconds` is the time limit for all requests."""

    def __init__(
        self,
        tasks: TaskQueries,
        monitoring: MonitoringStore,
        rounds: RoundStore,
        clock: Clock,
        *,
        seconds: float = _SECONDS,
    ) -> None:
        self._tasks = tasks
        self._monitoring = monitoring
        self._rounds = rounds
        self._clock = clock
        self._seconds = seconds

    async def gather(
        self, source: BatchAccount, report: JobReport, *, knows_pool: KnowsPool, retried: Sequence[RetriedTask] = ()
    ) -> LiveAnswers:
        """Returns evidence about a job beyond storage; nothing if none of its tasks waits or is retried.

        `knows_pool` returns whether the pool with an id is stored. `retried` are tasks with retries; Batch is asked for
        their retry limits, up to the first task without one. Raises StorageError, CacheConflictError.
        """
        if report.job.deleted or not (_may_wait(report) or retried):
            return LiveAnswers()
        asking = _Asking(source, self._tasks, report, knows_pool, retried)
        await self._ask(source, asking)
        return asking.live

    async def of_rivals(self, source: BatchAccount, rivals: Sequence[JobReport]) -> RivalConditions:
        """Returns the causes that hold the waiting tasks of other jobs. Raises StorageError, CacheConflictError."""
        asking = AskingOfRivals(source, self._tasks, rivals)
        if rivals:
            await self._ask(source, asking)
        return RivalConditions(asking.found, frozenset(asking.failed), asking.unknown)

    async def _ask(self, source: BatchAccount, asking: "_Asks") -> None:
        try:
            await require_polling_allowed(source, self._monitoring, self._clock)
        except (BatchError, MonitoringOffError) as error:
            asking.add_problem(f"Batch wasn't asked, so {asking.left}: {error}")
            return
        try:
            async with asyncio.timeout(self._seconds):
                await asking.ask()
        except TimeoutError:
            asking.add_problem(f"Batch didn't answer everything that was asked within {self._seconds:.0f} seconds")
        except BatchThrottledError as error:
            asking.add_problem(f"Nothing more was asked of Batch, so {asking.left}: {error}")
            until = await self._clock.now() + error.retry_after
            await self._rounds.change(source.account.key, lambda last: last.waiting(until))
        except BatchError as error:
            asking.add_problem(f"Batch wasn't asked, so {asking.left}: {error}")


class _Asks(Protocol):
    """Requests made one after another, with sentences on missing answers; `left` names the facts that stay unknown."""

    @property
    def left(self) -> str: ...

    async def ask(self) -> None: ...

    def add_problem(self, sentence: str) -> None: ...


def _may_wait(report: JobReport) -> bool:
    """Returns whether tasks may wait: some do, counts are unknown, or the job completed without any."""
    picture = report.job.picture
    if picture is None or picture.counts.active:
        return True
    return report.job.facts.state == COMPLETED and not picture.counts.total


class _Asking:
    """Sends one request after another; earlier answers stay when a later request fails."""

    def __init__(
        self,
        source: BatchAccount,
        tasks: TaskQueries,
        report: JobReport,
        knows_pool: KnowsPool,
        retried: Sequence[RetriedTask],
    ) -> None:
        self._source = source
        self._knows_pool = knows_pool
        self._evidence = BatchEvidence(source)
        self._dependencies = DependencyReader(self._evidence, tasks)
        self._report = report
        self._retried = retried
        self._job = report.job.facts
        self.live = LiveAnswers()

    @property
    def left(self) -> str:
        """The facts that stay unknown if no more can be requested."""
        return _WITHOUT if self.live.facts is None else "the rest of what only Batch knows isn't known"

    async def ask(self) -> None:
        """Raises BatchError if the job can't be fetched, BatchThrottledError whenever requests must stop."""
        try:
            job = await self._evidence.fetch_job(self._job.id)
        except BatchMissingError:
            self.live = replace(self.live, gone=True)
            return
        facts = job.facts
        if facts.creation_time != self._job.creation_time:
            self.add_problem("The job was created anew under its id, and what is stored is of the one before")
            return
        self.live = replace(self.live, facts=facts, makes_pool=job.makes_pool, scheduling_error=job.scheduling_error)
        if facts.state not in ENDING:
            await self._ask_more(facts, awaits_preparation=job.awaits_preparation)

    async def _ask_more(self, facts: JobFacts, *, awaits_preparation: bool) -> None:
        if self._retried:
            await self._guarded("Whether a task is tried again without end", self._ask_bound)
        if not _may_wait(self._report):
            return
        if not await self._knows_pool(facts.pool_id):
            await self._guarded("Whether its pool is there", lambda: self._ask_pool(facts.pool_id))
        if self._report.job.picture is None:
            return
        if facts.rules and facts.rules.uses_task_dependencies:
            await self._guarded("What its waiting tasks depend on", self._ask_dependencies)
        if awaits_preparation:
            await self._guarded("How its preparation went", self._ask_preparation)

    async def _ask_pool(self, pool_id: str | None) -> None:
        """Looks up an unstored pool, which may be new or not listed; a job without a pool id has no pool."""
        try:
            if pool_id:
                await BatchPools(self._source).fetch_pool(pool_id)
                self.add_problem(f"The pool '{pool_id}' is there, but its nodes weren't read yet")
        except BatchMissingError:
            self.live = replace(self.live, pool_gone=True)
        else:
            self.live = replace(self.live, pool_gone=not pool_id)

    async def _ask_dependencies(self) -> None:
        dependencies, unread, surmised, is_cut = await self._dependencies.read(self._report)
        self.live = replace(self.live, dependencies=dependencies)
        if is_cut:
            self.add_problem(
                f"Waiting tasks depend on {MAX_KEYS:,} tasks or more: whether all of these are there and let others "
                "go on isn't known"
            )
        if surmised:
            self.add_problem(
                f"{amount(surmised, 'more task')} that others depend on failed, and {MAX_ASKED} were asked whether "
                "exit conditions let others go on all the same: the rest is taken not to, as is the default"
            )
        if unread:
            as_of = self._report.verdict.as_of
            self.add_problem(
                f"Whether {amount(unread, 'task')} that others depend on are there isn't known: tasks are stored as of "
                f"{as_of:%Y-%m-%d %H:%M:%S} UTC, and of newer ones {MAX_ASKED} were asked for"
            )

    async def _ask_bound(self) -> None:
        for retried in self._retried:
            if await self._evidence.fetch_is_endless(self._job.id, retried.id):
                self.live = replace(self.live, retried=retried)
                return

    async def _ask_preparation(self) -> None:
        found, whole = await self._evidence.fetch_preparation(self._job.id)
        self.live = replace(self.live, preparation=found)
        if not whole:
            self.add_problem(f"How its preparation went is known of {amount(found.nodes, 'node')} only")

    async def _guarded(self, what: str, ask: Callable[[], Awaitable[None]]) -> None:
        try:
            await ask()
        except BatchThrottledError:
            raise
        except BatchscopeError as error:
            self.add_problem(f"{what} isn't known: {error}")

    def add_problem(self, sentence: str) -> None:
        """Adds a sentence on a missing answer."""
        self.live = replace(self.live, unknown=(*self.live.unknown, f"{sentence.rstrip('.')}."))
