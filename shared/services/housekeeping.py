"""Deletes expired data: unused generations and nodes, deleted jobs, old polls and events, history and telemetry.

Minutes of telemetry become hours first (hour_rollups.py), as many in a run as time allows. The timer also reads quotas
once an hour (quota_reader.py) and the prices of VM sizes once a day (price_reader.py), and makes the usage of days
(usage_rollups.py) and the efficiency of jobs (efficiency_digests.py).

It is safe at any time, beside polls and other runs: a generation is deleted before its note, rows under their ETags,
and the next run finds the rest after a crash.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from shared.clock import Clock
from shared.domain.accounts.accounts import Account
from shared.domain.core.stamps import to_milliseconds
from shared.domain.cost.usage_days import RETENTION
from shared.domain.history.grains import MINUTES, QUARTERS
from shared.domain.jobs.deleted_job_counters import DeletedJobCounters
from shared.domain.jobs.jobs import Job
from shared.errors import CacheConflictError, StorageError, UnreadableError
from shared.log import logger
from shared.services.blobs.ingestion_stores import IngestionStores
from shared.services.cost.usage_rollups import UsageRollups
from shared.services.efficiency.efficiency_digests import EfficiencyDigests
from shared.services.jobs.job_records import JobRecords
from shared.services.pools.stray_nodes import collect_stray_nodes
from shared.services.prices.price_reader import PriceReader
from shared.services.quotas.quota_reader import QuotaReader
from shared.services.telemetry.hour_rollups import HourRollups
from shared.settings import Settings
from shared.stores.jobs.jobs import KnownJobs, counters_of, generation_partition
from shared.stores.stores import Stores
from shared.stores.tables.unreadable import UndecodedRow

_LOG = logger(__name__)
_DAY = timedelta(days=1) // timedelta(milliseconds=1)
_ROLLING = timedelta(minutes=5)  # of the ten that a function call may take
_GRACE = timedelta(hours=1)  # longer than any function call: until then a running one may still read or write these


@dataclass(frozen=True, slots=True)
class HousekeepingService:
    accounts: Sequence[Account]
    records: JobRecords
    stores: Stores
    ingestion: IngestionStores
    prices: PriceReader
    quotas: QuotaReader
    usage: UsageRollups
    efficiency: EfficiencyDigests
    clock: Clock
    settings: Settings

    async def run(self) -> None:
        """Cleans up every account, and reads quotas and prices.

        Raises StorageError or CacheConflictError at the end if something failed.
        """
        now, time = await self.clock.now(), asyncio.get_running_loop().time
        failed: StorageError | CacheConflictError | None = None
        for account in self.accounts:
            try:
                await self.usage.refresh(account, now)  # before the ledgers and jobs from which it is made are deleted
                await self.efficiency.refresh(account, now)
                await self._clean_account(account, now)
            except (StorageError, CacheConflictError) as error:
                failed = error
        until = time() + _ROLLING.total_seconds()
        for account in self.accounts:
            try:
                await self._roll_up(account, now, lambda: time() < until)
            except (StorageError, CacheConflictError) as error:
                failed = error
        for reader in (self.quotas, self.prices):
            try:
                await reader.refresh(now)
            except (StorageError, CacheConflictError) as error:
                failed = error
        if failed:
            raise failed

    async def _clean_account(self, account: Account, now: datetime) -> None:
        known = await self.records.load_all(account.key, None)
        await self._keep_counters(account, known, now)
        for job in known.jobs.values():
            with suppress(CacheConflictError):  # a poll wrote the job meanwhile: the next run finds the rest
                await self._clean(account, job, now)
        for key, row in known.unreadable.items():
            with suppress(CacheConflictError):
                await self._clean_unreadable(account, key, row, now)
        for schedule in (await self.stores.schedules.load_all(account.key)).resources.values():
            if schedule.deleted_at and now - schedule.deleted_at >= self.settings.deleted_job_retention:
                with suppress(CacheConflictError):  # it was re-created meanwhile
                    await self.stores.schedules.delete(account.key, schedule)
        await collect_stray_nodes(self.stores, account.key, before=now - _GRACE)
        expired = await self.stores.operations.delete_before(account.key, now - self.settings.operation_retention)
        rows = 0
        for grain in (MINUTES, QUARTERS):
            oldest = self.settings.history_retention.oldest(grain, to_milliseconds(now))
            for history in (self.stores.history, self.stores.pool_history):
                rows += await history.delete_before(account.key, grain, oldest)
        quarters = self.settings.history_retention.oldest(QUARTERS, to_milliseconds(now))
        rows += await self.stores.usage_days.delete_before(account.key, to_milliseconds(now - RETENTION) // _DAY)
        rows += await self.stores.start_ups.delete_before(account.key, quarters // _DAY)
        events = await self.ingestion.delete_before(account.key, now - self.settings.event_retention)
        kept = max(self.settings.telemetry_retention, self.settings.telemetry_hour_retention)
        telemetry = await self.ingestion.delete_telemetry_before(
            account.key, now - kept, blobs=now - self.settings.telemetry_retention
        )
        telemetry += await self.ingestion.delete_pool_telemetry_before(
            account.key, now - self.settings.telemetry_retention
        )
        oldest_day = to_milliseconds(now - kept) // _DAY
        telemetry += await self.ingestion.attempts.delete_before(account.key, oldest_day)
        telemetry += await self.ingestion.day_use.delete_before(account.key, oldest_day)
        outputs = await self.stores.outputs.delete_expired(account.key, to_milliseconds(now) // _DAY)
        _LOG.info(
            "Housekeeping of %s: %d finished polls, %d rows of history, %d of events, %d of telemetry and %d of outputs"
            " deleted.",
            *(account.id, expired, rows, events, telemetry, outputs),
        )

    async def _roll_up(self, account: Account, now: datetime, goes_on: Callable[[], bool]) -> None:
        """Rolls expired minutes up to hours, unless hours are kept no longer than minutes."""
        if self.settings.telemetry_hour_retention <= self.settings.telemetry_retention:
            return
        with suppress(CacheConflictError):  # another host does the same
            rollups = HourRollups(self.ingestion.telemetry, self.ingestion.node_index)
            days = await rollups.run(account.key, now - self.settings.telemetry_retention, goes_on)
            _LOG.info("Telemetry of %s: %d days of blobs are in hours now.", account.id, days)

    def _is_expired(self, job: Job, now: datetime) -> bool:
        return job.deleted_at is not None and now - job.deleted_at >= self.settings.deleted_job_retention

    async def _keep_counters(self, account: Account, known: KnownJobs, now: datetime) -> None:
        """Adds the counters of jobs that are about to be deleted to those of deleted ones, and prunes these.

        Raises StorageError, CacheConflictError.
        """
        stored = known.counters
        expired = {
            key: one for key, one in stored.items() if key in known.jobs and self._is_expired(known.jobs[key], now)
        }
        pools = await self.stores.pools.keys(account.key)

        def changed(before: DeletedJobCounters) -> DeletedJobCounters:
            after = before
            for key, counters in expired.items():
                after = after.with_job(key, counters, now)
            return after.pruned(stored, pools, now)

        await self.stores.deleted_job_counters.change(account.key, changed)

    async def _clean(self, account: Account, job: Job, now: datetime) -> None:
        if self._is_expired(job, now):
            await self._forget(account, job)
            return
        kept = job if await self._goes_on(account, job, now) else job.abandoned(now, before=now - _GRACE)
        old = [retired for retired in kept.retired if now - retired.since >= _GRACE]
        for retired in old:
            await self.stores.cache.delete_generation(generation_partition(account.key, job.key, retired.generation))
        kept = replace(kept, retired=tuple(retired for retired in kept.retired if retired not in old))
        if kept != job:
            await self.records.save(account.key, kept)

    async def _clean_unreadable(self, account: Account, key: str, row: UndecodedRow, now: datetime) -> None:
        """Deletes a job whose row was unreadable for the retention of deleted jobs, as Batch doesn't list it any more.

        If Batch listed it, a poll would have replaced the row; generations of a replacement from now on aren't deleted.
        """
        partitions = await self.stores.cache.load_generations(generation_partition(account.key, key, ""))
        written = await self.stores.jobs.written_at(account.key, row)
        if written is None or now - written < self.settings.deleted_job_retention:
            return
        for partition in partitions:
            await self.stores.cache.delete_generation(partition)
        if counters := counters_of(row):
            await self.stores.deleted_job_counters.change(
                account.key, lambda before: before.with_job(key, counters, now)
            )
        await self.stores.jobs.delete_unreadable(account.key, row)

    async def _goes_on(self, account: Account, job: Job, now: datetime) -> bool:
        """Returns whether a long read of the job received anything recently; False for an unreadable plan."""
        if not job.building:
            return False
        try:
            plan = await self.stores.plans.load(generation_partition(account.key, job.key, job.building))
        except UnreadableError:
            return False
        return plan is not None and plan.newest is not None and now - plan.newest < _GRACE

    async def _forget(self, account: Account, job: Job) -> None:
        """Deletes an expired deleted job with all its generations, its row last.

        If it was re-created meanwhile it stays; its new generations aren't among these.
        """
        partitions = await self.stores.cache.load_generations(generation_partition(account.key, job.key, ""))
        if not await self.stores.jobs.is_stored(account.key, job):
            return
        for partition in partitions:
            await self.stores.cache.delete_generation(partition)
        await self.stores.outputs.delete_job(account.key, job.key)
        await self.records.forget(account.key, job)
