"""The history of a pool from storage, without requests to Batch; reads only the rows of the range."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from shared.clock import Clock
from shared.domain.accounts.accounts import Account
from shared.domain.core.keys import key_of
from shared.domain.history.grains import HistoryRetention
from shared.domain.history.history import Series, Stored, series_of
from shared.domain.pools.pool_history import PoolPoint, pool_points_of, with_step_before
from shared.domain.pools.pool_samples import PoolSample, pool_sample_of
from shared.errors import NotFoundError, UnreadableError
from shared.services.accounts.registry import found
from shared.stores.accounts.monitoring import MonitoringStore
from shared.stores.jobs.history import reading_of
from shared.stores.pools.pool_history import PoolHistoryStore
from shared.stores.pools.pools import PoolStore


@dataclass(frozen=True, slots=True)
class PoolHistory:
    """The requested series and its points."""

    series: Series
    points: tuple[PoolPoint, ...]


class PoolHistories:
    """Histories of pools; `accounts` are keyed by id, `interval` is the poll interval of accounts without their own."""

    def __init__(
        self,
        accounts: Mapping[str, Account],
        *,
        pools: PoolStore,
        monitoring: MonitoringStore,
        history: PoolHistoryStore,
        clock: Clock,
        interval: timedelta,
        retention: HistoryRetention,
    ) -> None:
        self._accounts = accounts
        self._pools = pools
        self._monitoring = monitoring
        self._history = history
        self._clock = clock
        self._interval = interval
        self._retention = retention

    async def of_pool(
        self,
        account_id: str,
        pool_id: str,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        step: timedelta | None = None,
    ) -> PoolHistory:
        """Returns a pool's numbers at the ends of steps; for a deleted pool as long as its history is kept.

        Raises NotFoundError, HistoryRangeError, StorageError.
        """
        account = found(self._accounts, account_id)
        series = series_of(since, until, step, now=await self._clock.now(), retention=self._retention)
        monitoring = await self._monitoring.load(account.key)
        recent = await self._recent(account, pool_id)  # before the history, as its samples may move there next
        tolerance = series.tolerance(monitoring.interval(self._interval))
        stored = await self._stored(account, pool_id, with_step_before(series), tolerance)
        if recent is None and not stored and not await self._history.knows(account.key, key_of(pool_id)):
            raise NotFoundError("pool", pool_id, f" in the account '{account.id}'")
        read = reading_of(pool_sample_of, series.grain, f"the pool '{pool_id}' of {account.id}")
        return PoolHistory(series, tuple(pool_points_of(series, stored, recent or (), tolerance, read)))

    async def _recent(self, account: Account, pool_id: str) -> tuple[PoolSample, ...] | None:
        """Returns the samples in a pool's row, the latest first: none if it is unreadable, None if it doesn't exist."""
        try:
            _, pool = await self._pools.load(account.key, pool_id)
        except UnreadableError:
            return ()
        return pool.samples[::-1] if pool else None

    async def _stored(self, account: Account, pool_id: str, series: Series, tolerance: timedelta) -> Stored:
        rows = series.rows(tolerance)
        if rows is None:
            return []
        first, last = rows
        return await self._history.load(account.key, key_of(pool_id), series.grain, first=first, last=last)
