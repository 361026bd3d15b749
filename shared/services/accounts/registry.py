"""Watched accounts by the names that clients use, their monitoring, and changes to it at run time."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from shared.clock import Clock
from shared.domain.accounts.accounts import Account, sharing_name
from shared.domain.accounts.monitoring import MonitoringChange
from shared.domain.polling.rounds import Round
from shared.domain.reports.reports import MonitoringReport
from shared.errors import (
    AmbiguousNameError,
    BatchThrottledError,
    CacheConflictError,
    MonitoringOffError,
    NotFoundError,
)
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


@dataclass(frozen=True, slots=True)
class Registry:
    """The watched accounts by id, the store of their monitoring settings, and the clock.

    `interval` is the poll interval of accounts without one of their own.
    """

    accounts: Mapping[str, Account]
    store: MonitoringStore
    clock: Clock
    interval: timedelta

    def account(self, account_id: str) -> Account:
        """Returns a watched account. Raises NotFoundError."""
        return found(self.accounts, account_id)

    async def monitoring(self, account_id: str) -> MonitoringReport:
        """Returns an account's monitoring settings. Raises NotFoundError."""
        return await self.watch(self.account(account_id).key)

    async def watch(self, account_key: str) -> MonitoringReport:
        """Returns an account's monitoring settings."""
        return MonitoringReport(await self.store.load(account_key), self.interval)

    async def watch_and_round(self, account_key: str) -> tuple[MonitoringReport, Round | None]:
        """Returns an account's monitoring settings and its last round, by one request."""
        monitoring, last = await self.store.load_with_round(account_key)
        return MonitoringReport(monitoring, self.interval), last

    async def require_polling_allowed(self, account: Account) -> None:
        """Raises MonitoringOffError or BatchThrottledError if no request may be made outside a round, as in a poll."""
        monitoring, last = await self.store.load_with_round(account.key)
        if monitoring.off_reason:
            raise MonitoringOffError(account.id, monitoring.off_reason)
        wait = last.wait(await self.clock.now()) if last else None
        if wait:
            raise BatchThrottledError(account.endpoint, wait)

    async def change(self, account_id: str, change: MonitoringChange) -> MonitoringReport:
        """Changes an account's monitoring; concurrent changes are applied one on top of the other.

        Raises NotFoundError, and CacheConflictError after five conflicts with other writers.
        """
        account = self.account(account_id)
        for _ in range(_TRIES):
            before = await self.store.load(account.key)
            after = before.changed(change, await self.clock.now())
            try:
                saved = after if after == before else await self.store.save(account.key, after)
            except CacheConflictError:
                continue
            return MonitoringReport(saved, self.interval)
        raise CacheConflictError(f"The monitoring of '{account.id}' is being changed too often; try again.")
