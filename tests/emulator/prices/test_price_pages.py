"""The list of retail prices: pages, parameters, filters, refusals and faults, by HTTP."""

import time
from collections.abc import Callable
from typing import Any

import aiohttp
import orjson
import pytest

from tests.emulator.support.driver import Driver
from tests.emulator.support.price_client import PATH, VERSION, PriceClient, Row, of_node

_WHOLE = {"pricePageSize": 1000}
_NAMES = """
    currencyCode tierMinimumUnits retailPrice unitPrice armRegionName location effectiveStartDate meterId meterName
    productId skuId productName skuName serviceName serviceId serviceFamily unitOfMeasure type isPrimaryMeterRegion
    armSkuName
"""


@pytest.fixture
def prices(stepped: Driver) -> PriceClient:
    return PriceClient(stepped)


async def _all(prices: PriceClient, **query: Any) -> list[Row]:
    """Returns all rows on one page."""
    await prices.driver.control("POST", "settings", _WHOLE)
    (page,) = await prices.pages(**query)
    rows: list[Row] = page.body["Items"]
    return rows


async def test_pages_have_all_rows_once_and_their_number(prices: PriceClient) -> None:
    whole = await _all(prices)
    await prices.driver.control("POST", "settings", {"pricePageSize": 7})
    pages = [page.body for page in await prices.pages()]
    rows = [row for page in pages for row in page["Items"]]
    assert rows == whole
    assert len({orjson.dumps(row) for row in rows}) == len(rows)
    assert [page["Count"] for page in pages] == [len(page["Items"]) for page in pages]
    assert {page["Count"] for page in pages[:-1]} == {7}


async def test_a_page_has_a_hundred_rows_and_the_last_one_no_next_link(prices: PriceClient) -> None:
    pages = [page.body for page in await prices.pages()]
    assert len(pages) > 3
    assert [page["Count"] for page in pages[:-1]] == [100] * (len(pages) - 1)
    assert 0 < pages[-1]["Count"] <= 100
    assert pages[-1]["NextPageLink"] is None


async def test_a_page_that_the_rows_just_fill_is_the_last_one(prices: PriceClient) -> None:
    number = len(await _all(prices))
    for size, full in ((number, [number]), (number - 1, [number - 1, 1])):
        await prices.driver.control("POST", "settings", {"pricePageSize": size})
        assert [page.body["Count"] for page in await prices.pages()] == full


async def test_next_links_are_absolute_with_the_port_and_keep_the_parameters(prices: PriceClient) -> None:
    condition = "contains(productName, 'Series') and serviceName eq 'Virtual Machines'"
    pages = await prices.pages(_filter=condition, currencyCode="'EUR'", meterRegion="'primary'")
    link = pages[1].body["NextPageLink"]
    assert link.startswith(f"{prices.driver.url}{PATH}?api-version={VERSION}&")
    assert link.endswith("&$skip=200")
    rows = [row for page in pages for row in page.body["Items"]]
    assert {(row["currencyCode"], row["serviceName"]) for row in rows} == {("EUR", "Virtual Machines")}
    assert all(row["isPrimaryMeterRegion"] for row in rows)


async def test_next_links_name_the_port_of_the_scheme_too(prices: PriceClient) -> None:
    answer = await prices.follow(f"{prices.driver.url}{PATH}", Host="prices.example")
    assert answer.body["NextPageLink"] == f"http://prices.example:80{PATH}?$skip=100"


async def test_rows_of_a_size_are_scattered_over_pages(prices: PriceClient) -> None:
    pages = await prices.pages()
    found = [page for page in pages if of_node(page.body["Items"], "Standard_D2s_v5", "westeurope")]
    assert len(found) > 1


async def test_a_skip_beyond_the_end_is_an_empty_last_page(prices: PriceClient) -> None:
    body = (await prices.page(_skip=100_000)).body
    assert (body["Items"], body["Count"], body["NextPageLink"]) == ([], 0, None)


async def test_pages_and_rows_have_the_documented_names(prices: PriceClient) -> None:
    body = (await prices.page()).body
    assert {name: value for name, value in body.items() if name not in ("Items", "NextPageLink")} == {
        "BillingCurrency": "USD", "CustomerEntityId": "Default", "CustomerEntityType": "Retail", "Count": 100,
    }  # fmt: skip
    names = set(_NAMES.split())
    optional = {"effectiveEndDate", "reservationTerm", "savingsPlan"}
    rows = await _all(prices)
    assert all(names <= row.keys() <= names | optional for row in rows)
    assert {name for row in rows for name in row} == names | optional
    plans = [plan for row in rows for plan in row.get("savingsPlan", ())]
    assert {tuple(plan) for plan in plans} == {("unitPrice", "retailPrice", "term")}


async def test_currencies_have_the_same_rows_with_other_amounts(prices: PriceClient) -> None:
    dollars, euros = await _all(prices), await _all(prices, currencyCode="EUR")
    assert {row["currencyCode"] for row in euros} == {"EUR"}
    amounts = ("currencyCode", "retailPrice", "unitPrice", "savingsPlan")
    first, second = ([_without(row, *amounts) for row in rows] for rows in (dollars, euros))
    assert first == second
    pairs = [(one["retailPrice"], two["retailPrice"]) for one, two in zip(dollars, euros, strict=True)]
    assert all(two == pytest.approx(one * 0.91, abs=1e-6) for one, two in pairs)


async def test_only_the_version_has_savings_plans(prices: PriceClient) -> None:
    with_version, without = await _all(prices), await _all(prices, api_version=None)
    assert without == [_without(row, "savingsPlan") for row in with_version]
    assert without != with_version


@pytest.mark.parametrize(
    ("condition", "wanted"),
    [
        ("armSkuName eq 'Standard_D2s_v5'", lambda row: row["armSkuName"] == "Standard_D2s_v5"),
        ("priceType eq 'Reservation'", lambda row: row["type"] == "Reservation"),
        ("type eq 'DevTestConsumption'", lambda row: row["type"] == "DevTestConsumption"),
        ("contains(productName, 'Windows')", lambda row: "Windows" in row["productName"]),
        (
            "contains(meterName,'Spot') or contains(meterName,'Low')",
            lambda row: row["skuName"].endswith((" Spot", " Low Priority")),
        ),
        (
            "armRegionName eq 'eastus' or armRegionName eq 'northeurope' and type eq 'Reservation'",
            lambda row: (
                row["armRegionName"] == "eastus"
                or (row["armRegionName"] == "northeurope" and row["type"] == "Reservation")
            ),
        ),
        (
            "(armRegionName eq 'eastus' or armRegionName eq 'northeurope') and type eq 'Reservation'",
            lambda row: row["armRegionName"] != "westeurope" and row["type"] == "Reservation",
        ),
        ("serviceFamily eq 'Networking'", lambda row: row["serviceName"] == "Virtual Network"),
        (
            "location eq 'EU West' and serviceName eq 'Storage'",
            lambda row: row["armRegionName"] == "westeurope" and row["skuName"] == "E10 LRS",
        ),
        ("currencyCode eq 'USD'", lambda row: row["currencyCode"] == "USD"),
    ],
)
async def test_filters_select_the_rows_that_they_describe(
    prices: PriceClient, condition: str, wanted: Callable[[Row], bool]
) -> None:
    expected = [row for row in await _all(prices) if wanted(row)]
    assert expected
    assert await _all(prices, _filter=condition) == expected


async def test_ids_of_meters_products_and_skus_can_be_filtered(prices: PriceClient) -> None:
    rows = await _all(prices)
    for name in ("meterId", "productId", "skuId", "serviceId"):
        value = rows[0][name]
        found = await _all(prices, _filter=f"{name} eq '{value}'")
        assert found == [row for row in rows if row[name] == value]


async def test_values_are_case_sensitive_only_with_the_version(prices: PriceClient) -> None:
    for condition in ("armSkuName eq 'standard_d2s_v5'", "contains(skuName, 'd2S')"):
        assert await _all(prices, _filter=condition) == []
        assert len(await _all(prices, _filter=condition, api_version=None)) == 29


async def test_a_currency_in_the_filter_converts_nothing(prices: PriceClient) -> None:
    assert await _all(prices, _filter="currencyCode eq 'EUR'") == []


@pytest.mark.parametrize(
    "query",
    [
        {"_top": 5},
        {"_skip": "-1"},
        {"_skip": "ten"},
        {"api_version": "2019-01-01"},
        {"currencyCode": "'usd'"},
        {"meterRegion": "'secondary'"},
        {"_filter": "armSkuName ne 'x'"},
        {"_filter": "startswith(armSkuName, 'x')"},
        {"_filter": "not(contains(productName,'Windows'))"},
        {"_filter": "retailPrice eq 5"},
        {"_filter": "armSkuName eq 5"},
        {"_filter": "isPrimaryMeterRegion eq true"},
        {"_filter": "armskuname eq 'x'"},
        {"_filter": "contains(unitOfMeasure, 'Hour')"},
        {"_filter": "armSkuName eq 'x' and"},
        {"_filter": "armSkuName eq x"},
    ],
)
async def test_anything_else_is_refused_with_its_reason(prices: PriceClient, query: dict[str, Any]) -> None:
    answer = await prices.page(**query)
    assert answer.status == 400
    assert answer.body["Error"]["Code"] == "BadRequest"
    assert answer.body["Error"]["Message"]


async def test_a_parameter_that_is_sent_twice_is_refused_and_so_is_another_method(prices: PriceClient) -> None:
    url = f"{prices.driver.url}{PATH}?$skip=1&$skip=2"
    assert (await prices.follow(url)).status == 400
    assert (await prices.page("POST")).status == 405


async def test_a_fault_answers_with_its_status_as_often_as_asked(prices: PriceClient) -> None:
    await prices.driver.control("POST", "faults", {"path": PATH, "status": 429, "count": 1, "retryAfter": 9})
    answer = await prices.page()
    assert (answer.status, answer.headers["Retry-After"]) == (429, "9")
    assert answer.body["Error"]["Code"] == "TooManyRequests"
    assert (await prices.page()).status == 200


async def test_a_fault_resets_truncates_or_delays_a_page(prices: PriceClient) -> None:
    for fault, error in (("reset", aiohttp.ClientConnectionError), ("truncate", aiohttp.ClientPayloadError)):
        await prices.driver.control("POST", "faults", {"path": "/api/*", fault: True})
        with pytest.raises(error):
            await prices.page()
        await prices.driver.control("DELETE", "faults")
    await prices.driver.control("POST", "faults", {"path": PATH, "delaySeconds": 0.2, "count": 1})
    began = time.monotonic()
    assert (await prices.page()).status == 200
    assert time.monotonic() - began >= 0.2


async def test_faults_of_other_paths_leave_prices_alone(prices: PriceClient) -> None:
    await prices.driver.control("POST", "faults", {"path": "/jobs*", "status": 500})
    assert (await prices.page()).status == 200


async def test_requests_and_rows_are_counted_without_those_that_a_fault_answers(prices: PriceClient) -> None:
    await prices.page()
    await prices.page(_top=1)
    await prices.driver.control("POST", "faults", {"path": PATH, "status": 503, "count": 1})
    await prices.page()
    counters = await prices.driver.control("GET", "counters")
    assert counters["routes"] == {f"GET {PATH}": {"requests": 2, "items": 100}}


async def test_pages_have_the_date_of_the_emulators_clock(prices: PriceClient) -> None:
    await prices.driver.advance(3600)
    assert (await prices.page()).headers["Date"] == "Mon, 05 Jan 2026 09:00:00 GMT"


@pytest.mark.parametrize("size", [0, 1001, "5"])
async def test_a_wrong_page_size_is_refused(prices: PriceClient, size: Any) -> None:
    assert (await prices.driver.try_control("POST", "settings", {"pricePageSize": size})).status == 400


def _without(row: Row, *names: str) -> Row:
    return {name: value for name, value in row.items() if name not in names}
