"""Watched accounts by the names that clients use, and changes to their monitoring at run time."""

from collections.abc import Mapping
from datetime import timedelta

from shared.clock import Clock
from shared.domain.accounts.accounts import Account, sharing_name
from shared.domain.accounts.monitoring import MonitoringChange
from shared.domain.reports.reports import MonitoringReport
from shared.errors import AmbiguousNameError, CacheConflictError, NotFoundError
from shared.stores.accounts.monitoring import MonitoringStore

_TRIES = 5


def found[T](accounts: Mapping[str, T], account_id: str) -> T:
    """Returns the value of an account id.

    Raises NotFoundError, or AmbiguousNameError where several regions share the bare name.
    """
    entry = accounts.get(account_id.lower())
    if entry is None:
        sharing = sharing_name(account_id, accounts)
        raise AmbiguousNameError(account_id, sharing) if sharing else NotFoundError("account", account_id)
    return entry


class Registry:
    """Monitoring settings of the watched accounts.

    `accounts` are keyed by id; `interval` is the poll interval of accounts without one of their own.
    """

    def __init__(
        self, accounts: Mapping[str, Account], monitoring: MonitoringStore, clock: Clock, *, interval: timedelta
    ) -> None:
        self._accounts = accounts
        self._monitoring = monitoring
        self._clock = clock
        self._interval = interval

    async def monitoring(self, account_id: str) -> MonitoringReport:
        """Returns an account's monitoring settings. Raises NotFoundError."""
        account = found(self._accounts, account_id)
        return MonitoringReport(await self._monitoring.load(account.key), self._interval)

    async def change(self, account_id: str, change: MonitoringChange) -> MonitoringReport:
        """Changes an account's monitoring; concurrent changes are applied one on top of the other.

        Raises NotFoundError, and CacheConflictError after five conflicts with other writers.
        """
        account = found(self._accounts, account_id)
        for _ in range(_TRIES):
            before = await self._monitoring.load(account.key)
            after = before.changed(change, await self._clock.now())
            try:
                saved = after if after == before else await self._monitoring.save(account.key, after)
            except CacheConflictError:
                continue
            return MonitoringReport(saved, self._interval)
        raise CacheConflictError(f"The monitoring of '{account.id}' is being changed too often; try again.")
