"""The whole list of the emulator: every price is the one that the emulator calls right, or none."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from local.batch_emulator.core.injection import Fault
from local.batch_emulator.core.stamps import SECOND, stamp
from local.batch_emulator.emulator import Emulator
from local.batch_emulator.http.prices import change_prices, right_prices
from local.batch_emulator.http.server import Server
from local.batch_emulator.protocol.auth import DEVELOPMENT_KEY
from shared.domain.prices.meter_choice import chosen_item
from shared.domain.prices.price_history import PriceHistory, PriceInterval
from shared.domain.prices.price_keys import METERS, NO_PRICE, MeterKey
from shared.domain.prices.retail_items import RetailItem, RetailPage
from shared.stores.prices.retail_prices import RetailPrices

PLACE = ("westeurope", "standard_d2s_v5")


@dataclass(frozen=True, slots=True)
class EmulatedList:
    """An emulator's list, and the client that reads it."""

    emulator: Emulator
    source: RetailPrices

    @property
    def now(self) -> datetime:
        return datetime.fromisoformat(stamp(self.emulator.clock.now))

    def right(self, currency: str) -> dict[tuple[str, str], dict[MeterKey, Decimal | None]]:
        """Returns the right prices by region and size, without low priority, which Batch has no more."""
        found: dict[tuple[str, str], dict[MeterKey, Decimal | None]] = {}
        for one in right_prices(self.emulator, {"currencyCode": currency})["prices"]:
            if one["priority"] != "Low Priority":
                meter = MeterKey(one["os"], "spot" if one["priority"] == "Spot" else "dedicated")
                price = None if one["retailPrice"] is None else Decimal(str(one["retailPrice"]))
                found.setdefault((one["armRegionName"], one["armSkuName"].lower()), {})[meter] = price
        return found

    def chosen(self, rows: RetailPage, place: tuple[str, str], currency: str) -> dict[MeterKey, Any]:
        region, size = place
        return {meter: chosen_item(rows, size, region, meter, currency=currency, now=self.now) for meter in METERS}

    async def prices(self, place: tuple[str, str], currency: str) -> dict[MeterKey, Decimal | None]:
        rows = await self.source.fetch(place[1], place[0], currency)
        chosen = self.chosen(rows, place, currency)
        assert all(isinstance(one, RetailItem) or one in NO_PRICE for one in chosen.values())
        return {meter: one.hourly if isinstance(one, RetailItem) else None for meter, one in chosen.items()}

    async def read(self, history: PriceHistory) -> PriceHistory:
        rows = await self.source.fetch(history.vm_size, history.region, "USD")
        return history.after(self.chosen(rows, history.place, "USD"), self.now)


@pytest.fixture
async def listed() -> AsyncIterator[EmulatedList]:
    emulator = Emulator({"demo": DEVELOPMENT_KEY}, token="t", seed=7, speed=1.0, stepped=True)
    server = Server(emulator)
    port = await server.start("127.0.0.1", 0)
    yield EmulatedList(emulator, RetailPrices(f"http://127.0.0.1:{port}/api/retail/prices", first_pause=timedelta()))
    await server.stop()


@pytest.mark.parametrize(("currency", "size"), [("USD", 100), ("EUR", 2)])
async def test_every_price_is_the_right_one_or_none(listed: EmulatedList, currency: str, size: int) -> None:
    listed.emulator.settings.pricePageSize = size
    right = listed.right(currency)
    assert len(right) == 36
    assert sum(price is None for prices in right.values() for price in prices.values()) == 4
    assert {place: await listed.prices(place, currency) for place in right} == right


@pytest.mark.parametrize("fault", [
    {"status": 429, "retryAfter": 0}, {"status": 503}, {"truncate": True}, {"reset": True},
])  # fmt: skip
async def test_faults_of_single_requests_change_no_price(listed: EmulatedList, fault: Mapping[str, Any]) -> None:
    listed.emulator.settings.pricePageSize = 2
    right = listed.right("USD")[PLACE]
    for _ in range(3):
        listed.emulator.faults.add(Fault(path="/api/retail/prices", count=4, **fault))
        assert await listed.prices(PLACE, "USD") == right
        assert not any(one.count for one in listed.emulator.faults.all)


async def test_changed_prices_are_right_at_each_moment_and_the_past_keeps_its_price(listed: EmulatedList) -> None:
    history, seen = await listed.read(PriceHistory(*PLACE)), list[tuple[datetime, dict[MeterKey, Decimal | None]]]()
    for factor in (1.5, 0.7, 2, 1):
        later = listed.emulator.clock.now + 5 * 3600 * SECOND
        change = {"armSkuName": "Standard_D2s_v5", "armRegionName": PLACE[0], "factor": factor}
        change_prices(listed.emulator, {**change, "effectiveStartDate": stamp(later)})
        for _ in range(4):
            seen.append((listed.now, listed.right("USD")[PLACE]))
            listed.emulator.event_queue.advance(3 * 3600)
        history = await listed.read(history)
        for moment, right in seen:
            found = {meter: history.at(meter, moment) for meter in METERS}
            assert {meter: one.hourly for meter, one in found.items() if isinstance(one, PriceInterval)} == right, (
                moment
            )
    assert len({tuple(right.values()) for _, right in seen}) == 4
