"""Reads the retail prices of the VM sizes that pools use or used lately, once a day, one request at a time.

A failure is a sentence in storage. Known prices go on until a reading says otherwise, and the next run tries again.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta

from shared.domain.accounts.accounts import Account
from shared.domain.core.stamps import to_milliseconds
from shared.domain.cost.usage_days import DAY
from shared.domain.prices.meter_choice import chosen_item
from shared.domain.prices.pool_prices import price_keys
from shared.domain.prices.price_history import RETENTION, PriceHistory
from shared.domain.prices.price_keys import METERS, PriceKey
from shared.domain.prices.price_settings import PriceSettings
from shared.errors import CacheConflictError, PriceAnswerError, PriceSourceError
from shared.log import logger
from shared.stores.prices.price_rows import StoredPrices
from shared.stores.prices.retail_prices import RetailPrices
from shared.stores.stores import Stores

_LOG = logger(__name__)
_INTERVAL = timedelta(hours=23)  # the timer that runs it has an hour
_HOUR = 3_600_000  # milliseconds
_BUDGET, _MOST = timedelta(minutes=1), timedelta(minutes=2)  # to begin with a size, to end with it


class PriceReader:
    """The reading for all accounts; hosts share the prices that it stores."""

    def __init__(
        self, accounts: Sequence[Account], stores: Stores, source: RetailPrices, settings: PriceSettings
    ) -> None:
        self._accounts = [account for account in accounts if settings.requests_for(account)]
        self._pools, self._prices, self._days = stores.pools, stores.prices, stores.usage_days
        self._source = source
        self._settings = settings

    async def refresh(self, now: datetime) -> None:
        """Reads sizes that are new, or were read a day ago, and deletes prices past their retention.

        Raises StorageError.
        """
        with suppress(CacheConflictError):  # another host reads one of them
            await self._prices.delete_before(now - RETENTION)
        if not (wanted := await self._wanted(now)):
            return
        stored = await self._prices.load(self._settings.currency)
        due = [one for one in (self._history(stored, place) for place in wanted) if _is_due(one, now)]
        if not due:
            return
        reason = await self._read(_in_turn(due, now), now)
        if reason:
            _LOG.warning("Retail prices can't be read: %s", reason)
        with suppress(CacheConflictError):  # another host read them, too
            await self._prices.save_status(self._settings.currency, stored.status.after(reason, now))

    async def _wanted(self, now: datetime) -> Sequence[tuple[str, str]]:
        """Returns the regions and VM sizes whose prices can be looked up, of all pools and of nodes since yesterday.

        So a pool that was there for less than an hour has prices, too.
        """
        found, today = set[PriceKey](), to_milliseconds(now) // DAY
        for account in self._accounts:
            region = self._settings.region_of(account)
            for pool in (await self._pools.load_known(account.key)).resources.values():
                found.update(price_keys(pool, region))
            for day in (await self._days.load(account.key, range(today - 1, today + 1))).values():
                found.update(pool.price_key(kind) for pool in day.pools.values() for kind in pool.units)
        return sorted({(key.region, key.vm_size) for key in found if key.region and key.has_size})

    def _history(self, stored: StoredPrices, place: tuple[str, str]) -> PriceHistory:
        return stored.histories.get(place) or PriceHistory(*place)

    async def _read(self, due: Sequence[PriceHistory], now: datetime) -> str:
        """Reads sizes while time lasts and the list answers; returns why one couldn't be read, or nothing."""
        time, reason = asyncio.get_running_loop().time, ""
        until = time() + _BUDGET.total_seconds()
        for history in due:
            if time() > until:
                break
            try:
                async with asyncio.timeout(_MOST.total_seconds()):
                    await self._read_size(history, now)
            except PriceAnswerError as error:
                reason = reason or str(error)
            except (PriceSourceError, TimeoutError) as error:
                return str(error) or f"The list took more than {_MOST.total_seconds():g} s for one size."
        return reason

    async def _read_size(self, history: PriceHistory, now: datetime) -> None:
        """Reads and stores the prices of one size. Raises PriceSourceError, StorageError."""
        currency, region, size = self._settings.currency, history.region, history.vm_size
        rows = await self._source.fetch(size, region, currency)
        if rows.unread:
            _LOG.warning("Retail prices of %s in %s have %d rows that can't be read.", size, region, rows.unread)
        chosen = {meter: chosen_item(rows, size, region, meter, currency=currency, now=now) for meter in METERS}
        with suppress(CacheConflictError):  # another host read it, too
            await self._prices.save(currency, history.after(chosen, now))


def _in_turn(due: Sequence[PriceHistory], now: datetime) -> Sequence[PriceHistory]:
    """Returns sizes from another one on each hour, so that one whose requests fail for good holds up others only once.

    Before that they are in the order of their last reading, new ones first.
    """
    ordered = sorted(due, key=lambda one: (one.as_of is not None, one.as_of or now))
    first = to_milliseconds(now) // _HOUR % len(ordered)
    return [*ordered[first:], *ordered[:first]]


def _is_due(history: PriceHistory, now: datetime) -> bool:
    return history.as_of is None or now - history.as_of >= _INTERVAL
