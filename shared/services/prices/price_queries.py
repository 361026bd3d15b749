"""Answers from storage about the prices of an account's pools."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from shared.domain.accounts.accounts import Account
from shared.domain.prices.pool_prices import price_keys
from shared.domain.prices.price_keys import NoPriceReason, Price, PriceKey
from shared.domain.prices.price_settings import PriceSettings
from shared.domain.prices.price_status import PriceSourceStatus
from shared.domain.prices.price_table import PriceTable
from shared.services.accounts.registry import Registry
from shared.stores.prices.price_rows import StoredPrices
from shared.stores.stores import Stores


@dataclass(frozen=True, slots=True)
class NodePriceReport:
    """The price now of the nodes of some pools, or why there is none.

    `as_of` is when the retail prices of the size were read last, None where they weren't.
    """

    key: PriceKey
    pools: int
    price: Price | NoPriceReason
    as_of: datetime | None


@dataclass(frozen=True, slots=True)
class PricesReport:
    """The prices of an account's pools, in one currency, and how reading the retail list goes."""

    currency: str
    prices: Sequence[NodePriceReport]
    status: PriceSourceStatus


class PriceQueries:
    def __init__(self, registry: Registry, stores: Stores, settings: PriceSettings) -> None:
        self._registry = registry
        self._pools, self._prices = stores.pools, stores.prices
        self._settings = settings

    async def prices(self, account_id: str) -> PricesReport:
        """Returns the prices of an account's pools in the order of their sizes. Raises NotFoundError, StorageError."""
        account, settings = self._registry.account(account_id), self._settings
        stored = await self._stored(account)
        table, region = self._table(account, stored), settings.region_of(account)
        pools = (await self._pools.load_known(account.key)).resources.values()
        counted = Counter(key for pool in pools for key in set(price_keys(pool, region)))
        now = await self._registry.clock.now()
        reports = [
            NodePriceReport(key, counted[key], table.at(key, now), table.read_at(key))
            for key in sorted(counted, key=_order)
        ]
        return PricesReport(settings.currency, reports, stored.status)

    async def table(self, account: Account) -> PriceTable:
        """Returns the prices that count for an account, at any time. Raises StorageError."""
        return self._table(account, await self._stored(account))

    async def tables(self, accounts: Sequence[Account]) -> Mapping[str, PriceTable]:
        """Returns the prices that count for accounts, by account id; stored ones are read once. Raises StorageError."""
        reads_list = any(self._settings.requests_for(account) for account in accounts)
        stored = await self._prices.load(self._settings.currency) if reads_list else StoredPrices()
        nothing = StoredPrices()
        return {
            account.id: self._table(account, stored if self._settings.requests_for(account) else nothing)
            for account in accounts
        }

    def region_of(self, account: Account) -> str | None:
        """Returns the region whose prices count for an account, None where it isn't known."""
        return self._settings.region_of(account)

    async def problem(self) -> str:
        """Returns a sentence on retail prices that can't be read; empty without any. Raises StorageError."""
        if not any(self._settings.requests_for(account) for account in self._registry.accounts.values()):
            return ""
        return (await self._prices.load_status(self._settings.currency)).problem

    async def _stored(self, account: Account) -> StoredPrices:
        if not self._settings.requests_for(account):
            return StoredPrices()
        return await self._prices.load(self._settings.currency)

    def _table(self, account: Account, stored: StoredPrices) -> PriceTable:
        unread = self._settings.unread(account)
        if unread == "notReadYet" and stored.status.failed_since:
            unread = "sourceFailed"
        return PriceTable(self._settings.currency, self._settings.entries, stored.histories, unread)


def _order(key: PriceKey) -> tuple[str, ...]:
    return tuple(part or "" for part in key)
