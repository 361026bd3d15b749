"""Answers from storage about accounts, and about jobs with their verdicts, without requests to Batch."""

import asyncio
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from shared.domain.accounts.accounts import Account
from shared.domain.core.keys import key_of
from shared.domain.jobs.job_samples import JobSample
from shared.domain.jobs.jobs import Job
from shared.domain.jobs.verdicts import verdict_of
from shared.domain.jobs.waiting_ahead import tasks_ahead, waiting_tasks
from shared.domain.polling.rounds import Round
from shared.domain.pools.pool_totals import PoolTotals, totals_of
from shared.domain.reads.read_plans import Progress
from shared.domain.reports.pool_tasks import account_tasks
from shared.domain.reports.reports import AccountReport, FailuresReport, JobReport, MonitoringReport, ReportList
from shared.domain.tasks.tasks import TaskCounts
from shared.errors import CacheConflictError, NotFoundError, UnreadableError
from shared.services.accounts.registry import Registry
from shared.services.reading.long_deltas import is_behind
from shared.stores.jobs.jobs import generation_partition
from shared.stores.pools.pools import KnownPools
from shared.stores.stores import Stores
from shared.stores.tables.unreadable import unreadable_reports

_LISTING_TRIES = 5


class Queries:
    """Answers about accounts and jobs."""

    def __init__(self, registry: Registry, stores: Stores) -> None:
        self._registry = registry
        self._stores = stores

    async def accounts(self, names: Collection[str]) -> list[AccountReport]:
        """Returns the watched accounts with these ids, by id."""
        return list(await asyncio.gather(*(self.account(name) for name in sorted(names))))

    async def account(self, account_id: str) -> AccountReport:
        """Returns one account. Raises NotFoundError."""
        account = self._registry.account(account_id)
        watch, last = await self._registry.watch_and_round(account.key)
        stored = await self._stores.jobs.load_known(account.key)
        jobs = [job for job in stored.jobs.values() if not job.deleted]
        counts = sum((job.snapshot.counts for job in jobs if job.snapshot), TaskCounts())
        last = last if last and last.was_run else None
        known, looked, deleted, causes = await asyncio.gather(
            self._stores.pools.load_known(account.key),  # from memory if this process polled last, as it is read often
            self._stores.schedules.load_round(account.key),
            self._stores.deleted_job_counters.load(account.key),
            self._stores.waiting_causes.load(account.key),
        )
        return AccountReport(
            account,
            Counter(job.facts.state for job in jobs),
            counts,
            last,
            watch,
            pools=_pool_totals(known),
            schedules=looked,
            pools_problem=known.last.problem if known.last else None,
            unreadable_jobs=len(stored.unreadable),
            tasks=account_tasks(stored.jobs.values(), deleted.with_jobs(stored.counters), causes),
        )

    async def jobs(self, account_id: str, *, schedule: str | None = None) -> list[JobReport]:
        """Returns the jobs of an account or of one job schedule, in key order, also deleted ones.

        Raises NotFoundError.
        """
        return (await self.listed_jobs(account_id, schedule=schedule)).reports

    async def listed_jobs(self, account_id: str, *, schedule: str | None = None) -> ReportList[JobReport]:
        """Returns `jobs` with unreadable rows; without `tasks_ahead` for one schedule's jobs. Raises NotFoundError."""
        account = self._registry.account(account_id)
        watch, last = await self._registry.watch_and_round(account.key)
        known = await (
            self._stores.jobs.load_of_schedule(account.key, schedule)
            if schedule
            else self._stores.jobs.load_known(account.key)
        )
        jobs, causes = known.jobs, await self._stores.waiting_causes.load(account.key)
        now = await self._registry.clock.now()
        found = await asyncio.gather(*(self._report(account, jobs[key], last, watch, now) for key in sorted(jobs)))
        reports = [replace(report, waiting=causes.of_job(report.job)) for report in found]
        if schedule is None:
            reports = await self._with_tasks_ahead(account, reports)
        return ReportList(reports, unreadable_reports(known.unreadable))

    async def jobs_since(self, account_id: str, since: datetime) -> list[JobReport]:
        """Returns the jobs that hadn't completed before `since`, in key order, also deleted ones. Raises NotFoundError.

        They come without `tasks_ahead`.
        """
        account = self._registry.account(account_id)
        watch, last = await self._registry.watch_and_round(account.key)
        jobs = (await self._stores.jobs.load_since(account.key, since)).jobs
        now = await self._registry.clock.now()
        return list(await asyncio.gather(*(self._report(account, jobs[key], last, watch, now) for key in sorted(jobs))))

    async def job(self, account_id: str, job_id: str) -> JobReport:
        """Returns one job, by point reads and without `tasks_ahead`. Raises NotFoundError."""
        account = self._registry.account(account_id)
        watch, last = await self._registry.watch_and_round(account.key)
        job = await self._stores.jobs.load(account.key, job_id)
        if job is None:
            raise NotFoundError("job", job_id, f" in the account '{account.id}'")
        return await self._report(account, job, last, watch, await self._registry.clock.now())

    async def recent_samples(
        self, account_key: str, job_id: str
    ) -> tuple[MonitoringReport, tuple[JobSample, ...] | None]:
        """Returns an account's monitoring and the samples in a job's row, for `Histories`."""
        watch, last = await self._registry.watch_and_round(account_key)
        try:
            job = await self._stores.jobs.load(account_key, job_id)
        except UnreadableError:
            return watch, ()
        if job and last:
            job = job.confirmed(last.confirmations.get(job.key))
        return watch, job.samples if job else None

    async def job_with_forecast(self, account_id: str, job_id: str) -> JobReport:
        """Returns one job; `tasks_ahead` is counted if tasks wait and the end is estimated.

        Counting scans the rows of the account's jobs. Raises NotFoundError.
        """
        report = await self.job(account_id, job_id)
        snapshot = report.job.snapshot
        if snapshot is None or not snapshot.counts.active:
            return report
        causes = await self._stores.waiting_causes.load(report.account.key)
        report = replace(report, waiting=causes.of_job(report.job))
        if report.forecast is None or report.forecast.estimate.completion is None:
            return report
        pool_id, priority = report.job.facts.pool_id, report.job.facts.priority or 0
        oldest_first = bool(pool_id) and await self._takes_oldest_first(report.account, pool_id or "")
        urgent = await self._stores.jobs.load_urgent(report.account.key, priority if oldest_first else priority + 1)
        ahead = tasks_ahead(report.job, waiting_tasks(urgent), oldest_first=oldest_first)
        return replace(report, tasks_ahead=ahead)

    async def _takes_oldest_first(self, account: Account, pool_id: str) -> bool:
        """Returns the order among jobs of equal priority, False for a pool that isn't stored or can't be read."""
        with suppress(UnreadableError):
            _, pool = await self._stores.pools.load(account.key, pool_id)
            return pool is not None and pool.facts.takes_oldest_first
        return False

    async def _with_tasks_ahead(self, account: Account, reports: Sequence[JobReport]) -> list[JobReport]:
        """Returns all jobs of an account with the tasks of those that go first."""
        pools = (await self._stores.pools.load_known(account.key)).resources.items()
        orders = {key: pool.facts.takes_oldest_first for key, pool in pools}
        waiting = waiting_tasks(report.job for report in reports)

        def ahead(job: Job) -> int:
            return tasks_ahead(job, waiting, oldest_first=orders.get(key_of(job.facts.pool_id or ""), False))

        return [replace(report, tasks_ahead=ahead(report.job)) for report in reports]

    async def failures(self, account_id: str, job_id: str) -> FailuresReport:
        """Returns a job's failed tasks by cause, from the head of its generation.

        Raises NotFoundError, and CacheConflictError if the generation keeps changing.
        """
        for _ in range(_LISTING_TRIES):
            report = await self.job(account_id, job_id)
            snapshot, as_of = report.job.snapshot, report.verdict.as_of
            if snapshot is None or as_of is None:
                return FailuresReport()
            head = await self._stores.cache.load_head(
                generation_partition(report.account.key, report.job.key, snapshot.generation)
            )
            if head:  # it is later than the job's row while a poll is writing
                return FailuresReport(max(head.as_of, as_of), head.counts.failed, head.failures)
        raise CacheConflictError(f"The tasks of '{job_id}' are read anew too often for an answer; try again.")

    async def require_groups(self, account_id: str, job_id: str, groups: Iterable[str]) -> None:
        """Raises NotFoundError if all causes of a job's failures are known and one of these groups isn't among them."""
        failures = (await self.failures(account_id, job_id)).failures
        if failures is None or failures.ungrouped:
            return
        known = {group.id for group in failures.groups}
        for group in groups:
            if group not in known:
                raise NotFoundError("failureGroup", group, f" in the job '{job_id}'")

    async def _progress(self, account: Account, job: Job) -> Progress | None:
        """Returns the progress of a running first read that has a readable plan, as long ones do."""
        if job.snapshot or job.deleted or not job.building:
            return None
        try:
            plan = await self._stores.plans.load(generation_partition(account.key, job.key, job.building))
        except UnreadableError:
            return None
        return Progress(plan.tasks, None if plan.since else plan.expected) if plan else None

    async def _report(
        self, account: Account, job: Job, last: Round | None, watch: MonitoringReport, now: datetime
    ) -> JobReport:
        key = job.key
        if last is not None:
            job = job.confirmed(last.confirmations.get(key))
        looked_at = job.snapshot.looked_at if job.snapshot else None
        failure = last.failure_of(key, looked_at) if last and not job.finalized else None
        queued = last is not None and last.is_queued(key, now) and job.is_live
        progress = await self._progress(account, job)
        verdict = verdict_of(
            job,
            failure=failure,
            now=now,
            interval=watch.interval,
            off_reason=watch.monitoring.off_reason,
            progress=progress,
            is_behind=queued and await is_behind(self._stores.plans, account.key, job),
        )
        return JobReport(account, job, verdict, progress)


def _pool_totals(known: KnownPools) -> PoolTotals | None:
    """Returns totals, or None if no list of pools has been received: there may still be pools."""
    is_listed = known.resources or (known.last and known.last.as_of)
    return totals_of(known.resources.values()) if is_listed else None
