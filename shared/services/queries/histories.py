"""The history of a job's counts from storage, without requests to Batch; reads only the rows of the range."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from shared.clock import Clock
from shared.domain.accounts.accounts import Account
from shared.domain.core.keys import key_of
from shared.domain.history.grains import HistoryRetention
from shared.domain.history.history import Point, Series, Stored, points_of, series_of
from shared.domain.history.samples import Sample, sample_of
from shared.domain.polling.rounds import Round
from shared.errors import NotFoundError, UnreadableError
from shared.services.accounts.registry import found
from shared.stores.accounts.monitoring import MonitoringStore
from shared.stores.jobs.history import HistoryStore, reading_of
from shared.stores.jobs.jobs import JobStore


@dataclass(frozen=True, slots=True)
class JobHistory:
    """The requested series and its points."""

    series: Series
    points: tuple[Point, ...]


class Histories:
    """Histories of jobs; `accounts` are keyed by id, `interval` is the poll interval of accounts without their own."""

    def __init__(
        self,
        accounts: Mapping[str, Account],
        *,
        jobs: JobStore,
        monitoring: MonitoringStore,
        history: HistoryStore,
        clock: Clock,
        interval: timedelta,
        retention: HistoryRetention,
    ) -> None:
        self._accounts = accounts
        self._jobs = jobs
        self._monitoring = monitoring
        self._history = history
        self._clock = clock
        self._interval = interval
        self._retention = retention

    async def of_job(
        self,
        account_id: str,
        job_id: str,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        step: timedelta | None = None,
    ) -> JobHistory:
        """Returns a job's counts at the ends of steps; for a deleted job as long as its history is kept.

        Raises NotFoundError, HistoryRangeError, StorageError.
        """
        account = found(self._accounts, account_id)
        series = series_of(since, until, step, now=await self._clock.now(), retention=self._retention)
        monitoring, last = await self._monitoring.load_with_round(account.key)
        # before the history, as the row's samples may move there next
        recent = await self._recent(account, job_id, last)
        tolerance = series.tolerance(monitoring.interval(self._interval))
        stored = await self._stored(account, job_id, series, tolerance)
        if recent is None and not stored and not await self._history.knows(account.key, key_of(job_id)):
            raise NotFoundError("job", job_id, f" in the account '{account.id}'")
        read = reading_of(sample_of, series.grain, f"the job '{job_id}' of {account.id}")
        return JobHistory(series, tuple(points_of(series, stored, recent or (), tolerance, read)))

    async def _recent(self, account: Account, job_id: str, last: Round | None) -> tuple[Sample, ...] | None:
        """Returns the samples in a job's row, the latest first: none if it is unreadable, None if it doesn't exist."""
        try:
            job = await self._jobs.load(account.key, job_id)
        except UnreadableError:
            return ()
        if job and last:
            job = job.confirmed(last.confirmations.get(job.key))
        return job.samples[::-1] if job else None

    async def _stored(self, account: Account, job_id: str, series: Series, tolerance: timedelta) -> Stored:
        rows = series.rows(tolerance)
        if rows is None:
            return []
        first, last = rows
        return await self._history.load(account.key, key_of(job_id), series.grain, first=first, last=last)
