"""The history of a resource from storage, without requests to Batch; reads only the rows of the range."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from shared.domain.accounts.accounts import Account
from shared.domain.core.keys import key_of
from shared.domain.history.grains import HistoryRetention, HistorySample
from shared.domain.history.points import Point, Series, Stored, points_of, series_of
from shared.domain.history.samples import SampleKind
from shared.domain.reports.reports import MonitoringReport
from shared.errors import NotFoundError
from shared.services.accounts.registry import Registry
from shared.stores.history import HistoryStore, reading_of

type Recent[N] = Callable[[str, str], Awaitable[tuple[MonitoringReport, Sequence[HistorySample[N]] | None]]]
"""Returns an account's monitoring and the samples in a resource's row, in order, by the account's key and an id.

The samples are empty where the row is unreadable, and None where it doesn't exist.
"""


@dataclass(frozen=True, slots=True)
class History[N]:
    """The requested series and its points."""

    series: Series
    points: tuple[Point[N], ...]


@dataclass(frozen=True, slots=True)
class Histories[N]:
    """Histories of one kind; `recent` reads the samples in rows of resources, `history` holds the earlier ones."""

    registry: Registry
    kind: SampleKind[N]
    recent: Recent[N]
    history: HistoryStore
    retention: HistoryRetention

    async def read(
        self,
        account_id: str,
        resource_id: str,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        step: timedelta | None = None,
    ) -> History[N]:
        """Returns the numbers at the ends of steps; for a deleted resource as long as its history is kept.

        Raises NotFoundError, HistoryRangeError, StorageError.
        """
        account, kind = self.registry.account(account_id), self.kind
        series = series_of(since, until, step, now=await self.registry.clock.now(), retention=self.retention)
        # before the history, as the row's samples may move there next
        watch, recent = await self.recent(account.key, resource_id)
        tolerance = series.tolerance(watch.interval)
        wanted = series.with_step_before() if kind.increase else series
        stored = await self._stored(account, resource_id, wanted, tolerance)
        if recent is None and not stored and not await self.history.knows(account.key, key_of(resource_id)):
            raise NotFoundError(kind.noun, resource_id, f" in the account '{account.id}'")
        read = reading_of(kind.decode, series.grain, f"the {kind.noun} '{resource_id}' of {account.id}")
        points = points_of(series, stored, (recent or ())[::-1], tolerance, read, increase=kind.increase)
        return History(series, tuple(points))

    async def _stored(self, account: Account, resource_id: str, series: Series, tolerance: timedelta) -> Stored:
        rows = series.rows(tolerance)
        if rows is None:
            return []
        first, last = rows
        return await self.history.load(account.key, key_of(resource_id), series.grain, first=first, last=last)
