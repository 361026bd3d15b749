"""Reading prices once a day: what is requested, what a failing list leaves, and what another currency begins."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from shared.domain.accounts.accounts import Account
from shared.domain.core.stamps import to_milliseconds
from shared.domain.cost import usage_days
from shared.domain.pools.machine_settings import MachineSettings
from shared.domain.pools.pool_facts import PoolFacts, Size
from shared.domain.pools.pools import first_seen
from shared.domain.prices.price_history import PriceInterval
from shared.domain.prices.price_keys import MeterKey
from shared.domain.prices.price_settings import PriceSettings
from shared.services.prices.price_reader import PriceReader
from shared.stores.prices.price_rows import PriceStore
from shared.stores.prices.retail_prices import RetailPrices
from shared.stores.stores import Stores
from shared.stores.tables.tables import Tables, load_rows, save_row
from tests.domain.prices.odd_pages import BESIDE, USUAL, row
from tests.stores.prices.test_retail_prices import PriceServer, page, server, status

__all__ = ["server"]
NOW, HOUR, DAY = datetime(2026, 11, 29, 12, tzinfo=UTC), timedelta(hours=1), timedelta(days=1)
ACCOUNT = Account(
    "contoso", "contoso.westeurope", "contoso", "westeurope", "https://contoso.westeurope.batch.azure.com"
)
LOCAL = Account("demo", "demo", "demo", None, "http://127.0.0.1:8900")
PLACE, LINUX = ("westeurope", "standard_d4s_v5"), MeterKey("linux", "dedicated")
SETTINGS = msgspec.convert(
    {"virtualMachineConfiguration": {"nodeAgentSKUId": "batch.node.ubuntu 22.04"}}, MachineSettings
)


class Reading:
    """An account with pools, a list of prices, and the reader between them."""

    def __init__(self, tables: Tables, server: PriceServer, account: Account) -> None:
        self.tables, self.server, self.account = tables, server, account
        self.stores = Stores(tables)
        self.settings = PriceSettings("both", "USD", server.url, {}, ())

    async def add_pool(self, size: str) -> None:
        facts = PoolFacts(size, NOW, "active", NOW, size, dedicated=Size(1, 1), settings=SETTINGS)
        await self.stores.pools.save_all(self.account.key, [first_seen(facts, NOW)])

    async def run(self, now: datetime, **changes: Any) -> int:
        """Reads what is due; returns how many requests that took."""
        before = len(self.server.requests)
        settings = replace(self.settings, **changes)
        source = RetailPrices(settings.url, first_pause=timedelta())
        await PriceReader([self.account], self.stores, source, settings).refresh(now)
        return len(self.server.requests) - before

    async def price(self, moment: datetime, currency: str = "USD", place: tuple[str, str] = PLACE) -> str:
        stored = (await self.stores.prices.load(currency)).histories.get(place)
        found = stored.at(LINUX, moment) if stored else "notReadYet"
        return str(found.hourly) if isinstance(found, PriceInterval) else found

    async def problem(self) -> str:
        return (await self.stores.prices.load_status("USD")).problem


@pytest.fixture
async def reading(tables: Tables, server: PriceServer) -> Reading:
    found = Reading(tables, server, ACCOUNT)
    await found.stores.usage_days.delete_before(ACCOUNT.key, to_milliseconds(NOW + 40 * DAY) // usage_days.DAY)
    for table in ("prices", "pools"):
        for partition in ("usd", "eur", ACCOUNT.key):
            for old in await load_rows(tables[table], partition):
                await tables[table].delete_entity(partition, old["RowKey"])
    await found.add_pool("Standard_D4s_v5")
    return found


async def test_a_size_is_requested_once_a_day_and_a_new_one_at_the_next_run(reading: Reading) -> None:
    reading.server.replies = [
        page(*USUAL, *(row(0.4, armSkuName="Standard_D8s_v5", meterId=f"n{n}") for n in range(2)))
    ]
    assert await reading.run(NOW) == 1
    assert await reading.price(NOW) == "0.2"
    assert await reading.run(NOW + HOUR) == 0
    await reading.add_pool("STANDARD_D8S_V5")
    assert await reading.run(NOW + 2 * HOUR) == 1
    assert await reading.price(NOW + 2 * HOUR, place=("westeurope", "standard_d8s_v5")) == "0.4"
    assert await reading.run(NOW + 24 * HOUR) == 1
    assert (await reading.problem(), (await reading.stores.prices.load_status("USD")).as_of) == ("", NOW + 24 * HOUR)


async def test_a_size_is_requested_for_a_pool_that_was_deleted_before_the_next_run(reading: Reading) -> None:
    reading.server.replies = [page(*USUAL, row(0.4, armSkuName="Standard_D8s_v5"))]
    await reading.run(NOW)
    units = {usage_days.NodeKind("standard_d8s_v5", dedicated=True): {"idle": 60_000}}
    pool = usage_days.PoolDay("Brief", 1, "westeurope", "linux", "none", units)
    day = usage_days.UsageDay(to_milliseconds(NOW) // usage_days.DAY, to_milliseconds(NOW), pools={"brief": pool})
    await reading.stores.usage_days.save(reading.account.key, day)
    assert await reading.run(NOW + HOUR) == 1
    assert await reading.price(NOW + HOUR, place=("westeurope", "standard_d8s_v5")) == "0.4"


async def test_a_failing_list_keeps_known_prices_and_says_since_when(reading: Reading) -> None:
    reading.server.replies = [page(*USUAL)]
    await reading.run(NOW)
    reading.server.replies = [status(500)]
    for hours in (25, 26, 27):
        assert await reading.run(NOW + hours * HOUR) == 5
        assert await reading.problem() == (
            "Retail prices couldn't be read since 2026-11-30 13:00 UTC, so known prices go on:"
            f" {reading.server.url} answers 500, after 5 tries."
        )
        assert await reading.price(NOW + hours * HOUR) == "0.2"
    reading.server.replies = [page(row(0.3, effectiveStartDate="2026-11-30T00:00:00Z"), *BESIDE)]
    await reading.run(NOW + 28 * HOUR)
    assert await reading.problem() == ""
    moments = (NOW, NOW + 11 * HOUR, NOW + 12 * HOUR, NOW + 28 * HOUR)
    assert [await reading.price(moment) for moment in moments] == ["0.2", "0.2", "0.3", "0.3"]


async def test_a_size_whose_answer_is_no_page_holds_up_no_other(reading: Reading) -> None:
    await reading.add_pool("standard_a1_v2")
    reading.server.replies = [status(400), page(*USUAL)]
    assert await reading.run(NOW) == 2
    assert await reading.price(NOW) == "0.2"
    assert "answers 400" in await reading.problem()


@pytest.mark.parametrize("known", [False, True])
async def test_a_size_whose_requests_always_fail_holds_up_others_for_an_hour_at_most(
    reading: Reading, *, known: bool
) -> None:
    await reading.add_pool("standard_a1_v2")
    if known:
        reading.server.replies = [page(*USUAL)]
        await reading.run(NOW - 2 * DAY)
    failed, listed = status(500), page(row(0.3), *BESIDE)
    reading.server.replies = [lambda request: (failed if "A1_v2" in request.query["$filter"] else listed)(request)]
    for hours in range(2):
        await reading.run(NOW + hours * HOUR)
    stored = (await reading.stores.prices.load("USD")).histories[PLACE]
    assert stored.as_of in {NOW, NOW + HOUR}
    assert "answers 500" in await reading.problem()


async def test_sizes_without_a_price_have_a_reason_and_negative_prices_are_none(reading: Reading) -> None:
    for rows, reason in (
        ((row(-1),), "noPositivePrice"),
        ((), "notListed"),
        ((row(), row(9, meterId="x")), "severalMeters"),
    ):
        reading.server.replies = [page(*rows)]
        await reading.run(NOW)
        assert await reading.price(NOW) == reason
        await reading.tables["prices"].delete_entity("usd", "westeurope~standard_d4s_v5")


async def test_another_currency_begins_prices_of_its_own_and_changes_no_others(reading: Reading) -> None:
    reading.server.replies = [page(*USUAL)]
    await reading.run(NOW)
    reading.server.replies = [page(row(0.18, currencyCode="EUR"))]
    await reading.run(NOW + HOUR, currency="EUR")
    assert [await reading.price(NOW + HOUR, currency) for currency in ("USD", "EUR")] == ["0.2", "0.18"]
    reading.server.replies = [page(*USUAL)]
    await reading.run(NOW + 30 * HOUR, currency="EUR")  # a list that ignores the currency
    assert await reading.price(NOW + 30 * HOUR, "EUR") == "otherCurrency"
    assert await reading.price(NOW + HOUR / 2, "EUR") == "0.18"


@pytest.mark.parametrize("source", ["file", "off"])
async def test_nothing_is_requested_where_retail_prices_are_not_used(reading: Reading, source: str) -> None:
    reading.server.replies = [page(*USUAL)]
    assert await reading.run(NOW, source=source) == 0


async def test_accounts_on_this_machine_request_prices_only_from_this_machine(
    tables: Tables, server: PriceServer
) -> None:
    local = Reading(tables, server, LOCAL)
    local.settings = replace(local.settings, regions={"demo": "westeurope"})
    await local.add_pool("standard_d4s_v5")
    server.replies = [page(*USUAL)]
    assert await local.run(NOW, url="https://prices.example/api/retail/prices") == 0
    assert local.settings.requests_for(LOCAL)
    assert not replace(local.settings, url="https://prices.example/").requests_for(LOCAL)
    assert local.settings.unread(LOCAL) == "notReadYet"
    assert replace(local.settings, url="https://prices.example/").unread(LOCAL) == "notRequested"


async def test_two_hosts_at_once_leave_one_price(reading: Reading) -> None:
    reading.server.replies = [page(*USUAL)]
    await reading.run(NOW)
    store = PriceStore(reading.tables)
    before = (await store.load("USD")).histories[PLACE]
    await store.save("USD", replace(before, as_of=NOW + HOUR))
    reader = PriceReader([ACCOUNT], reading.stores, RetailPrices(reading.server.url), reading.settings)
    await reader._read_size(before, NOW + DAY)  # another host wrote meanwhile
    assert (await store.load("USD")).histories[PLACE].as_of == NOW + HOUR
    assert len((await store.load("USD")).histories[PLACE].intervals[LINUX]) == 1


async def test_prices_of_sizes_that_no_pool_uses_are_deleted_after_13_months(reading: Reading) -> None:
    reading.server.replies = [page(*USUAL)]
    await reading.run(NOW)
    await reading.tables["pools"].delete_entity(ACCOUNT.key, "standard_d4s_v5")
    reading.stores = Stores(reading.tables)
    await reading.run(NOW + 395 * DAY)
    assert await reading.price(NOW) == "0.2"
    await reading.run(NOW + 397 * DAY)
    assert await reading.price(NOW) == "notReadYet"


async def test_a_row_that_cannot_be_read_is_replaced_by_the_next_reading(reading: Reading) -> None:
    reading.server.replies = [page(*USUAL)]
    await reading.run(NOW)
    (kept,) = (one for one in await load_rows(reading.tables["prices"], "usd") if one["RowKey"] != "!")
    await save_row(reading.tables["prices"], {**_columns(kept), "schema": 2}, kept["etag"])
    assert await reading.price(NOW) == "notReadYet"
    assert await reading.run(NOW + HOUR) == 1
    assert await reading.price(NOW) == "0.2"


async def test_amounts_are_stored_with_all_of_their_digits(reading: Reading) -> None:
    amount = "0.12345678901234567890"
    reading.server.replies = [page(row("HERE"))]
    reply = reading.server.replies[0]

    def exact(request: Any) -> Any:
        answer: Any = reply(request)
        answer.body = answer.body.replace(b'"HERE"', amount.encode())
        return answer

    reading.server.replies = [exact]
    await reading.run(NOW)
    assert await reading.price(NOW) == str(Decimal(amount))


def _columns(stored: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in stored.items() if name != "etag"}
