"""Deletes what is past its time: generations that nothing points to, deleted jobs, finished polls on demand, history.

Safe to run at any time, beside polls and itself: a generation goes before the note of it, rows under their ETags, and
what a crash leaves behind the next run finds.
"""

import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from shared.clock import Clock
from shared.domain.accounts import Account
from shared.domain.jobs import Job
from shared.domain.samples import MINUTES, QUARTERS, HistoryRetention
from shared.domain.stamps import to_milliseconds
from shared.errors import CacheConflictError, StorageError
from shared.services.job_records import JobRecords
from shared.stores.history import HistoryStore
from shared.stores.jobs import generation_partition
from shared.stores.operations import OperationStore
from shared.stores.read_plans import ReadPlanStore
from shared.stores.task_cache import TaskCache

_LOG = logging.getLogger(__name__)
_GRACE = timedelta(hours=1)  # longer than any function call: until then somebody may still read or write a generation


@dataclass(frozen=True, slots=True)
class Retention:
    """How long deleted jobs, with their tasks, finished polls on demand, and the history of jobs are kept."""

    deleted_jobs: timedelta
    operations: timedelta
    history: HistoryRetention


class Housekeeping:
    def __init__(
        self,
        accounts: Sequence[Account],
        *,
        records: JobRecords,
        history: HistoryStore,
        cache: TaskCache,
        plans: ReadPlanStore,
        operations: OperationStore,
        clock: Clock,
        retention: Retention,
    ) -> None:
        self._accounts = accounts
        self._records = records
        self._history = history
        self._cache = cache
        self._plans = plans
        self._operations = operations
        self._clock = clock
        self._retention = retention

    async def run(self) -> None:
        """Cleans up after every account. What went wrong with one is raised after all: StorageError."""
        now = await self._clock.now()
        failed: StorageError | None = None
        for account in self._accounts:
            try:
                await self._clean_account(account, now)
            except StorageError as error:
                failed = error
        if failed:
            raise failed

    async def _clean_account(self, account: Account, now: datetime) -> None:
        for job in (await self._records.load_all(account.key, None)).values():
            with suppress(CacheConflictError):  # a poll wrote the job meanwhile: the next run finds the rest
                await self._clean(account, job, now)
        expired = await self._operations.delete_before(account.key, now - self._retention.operations)
        rows = 0
        for grain in (MINUTES, QUARTERS):
            oldest = self._retention.history.oldest(grain, to_milliseconds(now))
            rows += await self._history.delete_before(account.key, grain, oldest)
        _LOG.info("Housekeeping of %s: %d finished polls and %d rows of history deleted.", account.id, expired, rows)

    async def _clean(self, account: Account, job: Job, now: datetime) -> None:
        if job.deleted_at and now - job.deleted_at >= self._retention.deleted_jobs:
            await self._forget(account, job)
            return
        kept = job if await self._goes_on(account, job, now) else job.abandoned(now, before=now - _GRACE)
        old = [retired for retired in kept.retired if now - retired.since >= _GRACE]
        for retired in old:
            await self._cache.delete_generation(generation_partition(account.key, job.key, retired.generation))
        kept = replace(kept, retired=tuple(retired for retired in kept.retired if retired not in old))
        if kept != job:
            await self._records.save(account.key, kept)

    async def _goes_on(self, account: Account, job: Job, now: datetime) -> bool:
        """True where a long read of the job has received anything lately."""
        if not job.building:
            return False
        plan = await self._plans.load(generation_partition(account.key, job.key, job.building))
        return plan is not None and plan.newest is not None and now - plan.newest < _GRACE

    async def _forget(self, account: Account, job: Job) -> None:
        """A deleted job past its time goes with everything that bears its name, its row last."""
        for partition in await self._cache.load_generations(generation_partition(account.key, job.key, "")):
            await self._cache.delete_generation(partition)
        await self._records.forget(account.key, job)
