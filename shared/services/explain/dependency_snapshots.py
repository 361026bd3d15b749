"""Stores the dependencies of jobs' waiting tasks, which task lists don't show, for answers without requests to Batch.

A few jobs of each account after each tick: those whose tasks moved since, least recently read first. At most three
pages of waiting tasks and six single tasks are requested for each (`DependencyReader`), within the call cap and the
account's budget (`RequestBudgets`), as long as the account may be polled.
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import count

from shared.domain.dependencies.stored_dependencies import StoredDependencies
from shared.domain.jobs.jobs import Job
from shared.errors import CacheConflictError, NotFoundError, StorageError, UnreadableError
from shared.log import logger
from shared.services.accounts.registry import found
from shared.services.explain.dependency_reader import DependencyReader
from shared.services.explain.live_evidence import LiveEvidence
from shared.services.explain.request_budgets import RequestBudgets
from shared.services.explain.unknown_facts import UnknownFacts
from shared.services.queries.queries import Queries
from shared.services.tasks.task_queries import TaskQueries
from shared.stores.batch.batch import BatchAccount
from shared.stores.batch.batch_evidence import BatchEvidence
from shared.stores.jobs.dependencies import DependencyStore
from shared.stores.jobs.jobs import generation_partition

_LOG = logger(__name__)
_MAX_JOBS = 3  # of an account after a tick
_MAX_REMEMBERED = 10_000  # jobs

type _Mark = tuple[object, ...] | None


class DependencySnapshots:
    """Reads and stores dependencies; remembers which state of each job was read last by this process."""

    def __init__(
        self,
        sources: Mapping[str, BatchAccount],
        queries: Queries,
        tasks: TaskQueries,
        store: DependencyStore,
        *,
        live: LiveEvidence,
        budgets: RequestBudgets,
    ) -> None:
        self._sources = sources
        self._queries = queries
        self._tasks = tasks
        self._store = store
        self._live = live
        self._budgets = budgets
        self._numbers = count(1)
        self._read: dict[tuple[str, str], tuple[int, _Mark]] = {}

    async def refresh(self, waiting: Mapping[str, Sequence[Job]]) -> None:
        """Reads dependencies anew of some of these jobs, by account id, that changed since.

        Errors of storage are logged: answers go without them, as they do without those of Batch.
        """
        if len(self._read) > _MAX_REMEMBERED:
            self._read = {}
        await asyncio.gather(*(self._refresh(account, jobs) for account, jobs in waiting.items()))

    async def _refresh(self, account_id: str, jobs: Sequence[Job]) -> None:
        source, last = found(self._sources, account_id), {job.key: self._last(account_id, job) for job in jobs}
        changed = [job for job in jobs if last[job.key][1] != _mark(job)]
        first = sorted(changed, key=lambda job: last[job.key][0])[:_MAX_JOBS]

        async def read() -> None:
            for job in first:
                if not self._budgets.has_room(source.account.key):
                    return
                self._read[account_id, job.key] = next(self._numbers), None
                with self._budgets.spending(source), suppress(CacheConflictError, NotFoundError, UnreadableError):
                    await self._store_one(source, account_id, job)

        try:
            if first:
                await self._budgets.refill(source.account.key)
                await self._live.ask(source, read, UnknownFacts(), lambda: "dependencies aren't known")
        except StorageError as error:
            _LOG.warning("Dependencies of waiting tasks weren't stored: %s", error)

    async def _store_one(self, source: BatchAccount, account_id: str, job: Job) -> None:
        """Raises BatchError, CacheConflictError, NotFoundError, UnreadableError, StorageError."""
        report = await self._queries.job(account_id, job.facts.id)
        snapshot, as_of = report.job.snapshot, report.verdict.as_of
        if snapshot is None or as_of is None or not snapshot.counts.active:
            return
        partition = generation_partition(report.account.key, job.key, snapshot.generation)
        if not await self._is_current(partition, snapshot.moved_at):
            dependencies = await DependencyReader(BatchEvidence(source), self._tasks).read(report, UnknownFacts())
            await self._store.save(partition, StoredDependencies(as_of, dependencies))
        self._read[account_id, job.key] = next(self._numbers), _mark(report.job)

    async def _is_current(self, partition: str, moved_at: datetime) -> bool:
        """Returns whether an explanation, or another process, stored dependencies since a task last moved."""
        with suppress(UnreadableError):
            stored = await self._store.load(partition)
            return stored is not None and moved_at <= stored.as_of
        return False

    def _last(self, account_id: str, job: Job) -> tuple[int, _Mark]:
        """Returns the number of the last attempt to read a job, 0 without one, and the state that was read."""
        return self._read.get((account_id, job.key), (0, None))


def _mark(job: Job) -> _Mark:
    """Returns values that change whenever a task of the job moves."""
    snapshot = job.snapshot
    return (job.facts.creation_time, snapshot.generation, snapshot.moved_at, snapshot.counts) if snapshot else None
