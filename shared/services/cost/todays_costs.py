"""What accounts cost today so far, for metrics: a row an account, and the prices of all by one query."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from shared.clock import Clock
from shared.domain.accounts.accounts import Account
from shared.domain.core.stamps import to_milliseconds
from shared.domain.cost.day_costs import DayCosts, day_costs
from shared.domain.cost.priced_days import PricedDay
from shared.domain.cost.usage_days import DAY
from shared.domain.prices.price_table import PriceTable
from shared.services.prices.price_queries import PriceQueries
from shared.stores.usage_days import Part, UsageDayStore

_JOBS: tuple[Part, ...] = ("jobs",)


class _Known(NamedTuple):
    """Costs, and the stored day and the prices from which they follow."""

    etag: str | None
    prices: PriceTable
    costs: DayCosts


class TodaysCosts:
    """Costs of today; an account's last ones are kept, as its usage is rolled up only once an hour."""

    def __init__(self, days: UsageDayStore, prices: PriceQueries, clock: Clock) -> None:
        self._days = days
        self._prices = prices
        self._clock = clock
        self._known: dict[str, _Known] = {}

    async def of_accounts(self, accounts: Sequence[Account]) -> Mapping[str, DayCosts]:
        """Returns the costs of today (UTC) by account id, without accounts whose usage wasn't rolled up today.

        Raises StorageError.
        """
        today = to_milliseconds(await self._clock.now()) // DAY
        tables = await self._prices.tables(accounts)
        found = await asyncio.gather(*(self._of_account(one, today, tables[one.id]) for one in accounts))
        return {account.id: costs for account, costs in zip(accounts, found, strict=True) if costs}

    async def _of_account(self, account: Account, today: int, prices: PriceTable) -> DayCosts | None:
        days, known = range(today, today + 1), self._known.get(account.id)
        stored = (await self._days.load(account.key, days)).get(today)
        if stored is None:
            return None
        if known is None or (known.etag, known.prices) != (stored.etag, prices):
            whole = (await self._days.load(account.key, days, _JOBS)).get(today, stored)
            costs = await asyncio.to_thread(day_costs, PricedDay(whole, prices))
            known = self._known[account.id] = _Known(whole.etag, prices, costs)
        return known.costs
