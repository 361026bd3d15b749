"""Pages of an account's charges in the terms of FOCUS, day by day."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime

from shared.domain.accounts.accounts import Account
from shared.domain.cost.cost_ranges import CostRange, cost_range
from shared.domain.cost.focus_charges import FocusCharge, focus_charges
from shared.domain.cost.priced_days import PricedDay, Sharing
from shared.domain.prices.price_table import PriceTable
from shared.services.accounts.registry import Registry
from shared.services.prices.price_queries import PriceQueries
from shared.stores.usage_days import Part, UsageDayStore

_JOBS: tuple[Part, ...] = ("jobs",)
_AT_ONCE = 7  # days


@dataclass(frozen=True, slots=True)
class FocusPosition:
    """Where a page begins: at a charge of a day since 1970, by its number within the day."""

    day: int
    charge: int = 0


@dataclass(frozen=True, slots=True)
class FocusPage:
    """Charges in the order of days, in one currency; `following` is where the next page begins, None on the last."""

    account: Account
    currency: str
    charges: Sequence[FocusCharge]
    following: FocusPosition | None


class FocusQueries:
    def __init__(self, registry: Registry, days: UsageDayStore, prices: PriceQueries) -> None:
        self._registry = registry
        self._days = days
        self._prices = prices

    async def page(
        self,
        account_id: str,
        sharing: Sharing,
        *,
        since: datetime | None,
        until: datetime | None,
        after: FocusPosition | None,
        size: int,
    ) -> FocusPage:
        """Returns a page of charges of days, by default the last 30.

        It has whole days, or a part of one day with more charges than `size`.
        Raises NotFoundError, HistoryRangeError, StorageError.
        """
        account = self._registry.account(account_id)
        wanted = cost_range(since, until, None, await self._registry.clock.now())
        begin = max(after or FocusPosition(0), FocusPosition(wanted.days.start), key=lambda one: (one.day, one.charge))
        prices = await self._prices.table(account)
        charges: list[FocusCharge] = []
        async with aclosing(self._priced_days(account, wanted, begin.day, prices)) as days:
            async for number, day in days:
                skipped = begin.charge if number == begin.day else 0
                found = (await asyncio.to_thread(_charges, day, sharing))[skipped:]
                if len(charges) + len(found) > size:
                    if charges:
                        return FocusPage(account, prices.currency, charges, FocusPosition(number, skipped))
                    return FocusPage(account, prices.currency, found[:size], FocusPosition(number, skipped + size))
                charges += found
        return FocusPage(account, prices.currency, charges, None)

    async def _priced_days(
        self, account: Account, wanted: CostRange, first: int, prices: PriceTable
    ) -> AsyncGenerator[tuple[int, PricedDay]]:
        for start in range(first, wanted.days.stop, _AT_ONCE):
            days = range(start, min(start + _AT_ONCE, wanted.days.stop))
            stored = await self._days.load(account.key, days, _JOBS)
            for day in sorted(stored):
                yield day, PricedDay(stored[day], prices)


def _charges(day: PricedDay, sharing: Sharing) -> list[FocusCharge]:
    return list(focus_charges(day, sharing))
