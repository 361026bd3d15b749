"""What the price list holds: each oddity exactly where docs/emulator.md says, and the price that is right beside it."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from local.batch_emulator.prices.oddities import ODDITIES
from tests.emulator.support.driver import Driver
from tests.emulator.support.price_client import PriceClient, Row, chosen_price, of_node

_PAGE = (Path(__file__).parents[3] / "docs/emulator.md").read_text(encoding="utf-8")
_LINE = re.compile(r"^\| `(\w+)` \| (Standard_\w+) \| (\w+) \| .* \| (the regular one|none) \|$", re.MULTILINE)
DOCUMENTED = {name: (size, region, price) for name, size, region, price in _LINE.findall(_PAGE)}
NOW, LATER, _FIRST_START = "2026-01-05T08:00:00Z", "2026-01-05T09:00:00Z", "2025-04-01T00:00:00Z"
PLACE = ("Standard_D2s_v5", "westeurope")
CHANGE = {"armSkuName": PLACE[0], "armRegionName": PLACE[1], "factor": 1.5}
_SHOWN: Mapping[tuple[str, ...], Callable[[Row], bool]] = {
    ("cloudServices",): lambda row: row["productName"].endswith(("Cloud Services", "CloudServices")),
    ("dedicatedHost",): lambda row: row["productName"].endswith("Dedicated Host"),
    ("expired",): lambda row: row["meterName"].endswith("Expired") and row["skuName"].endswith("Expired"),
    ("ended",): lambda row: "effectiveEndDate" in row and row["effectiveEndDate"] < NOW,
    ("earlier",): lambda row: row["effectiveStartDate"] < _FIRST_START,
    ("future",): lambda row: row["effectiveStartDate"] > NOW,
    ("zero", "onlyZero"): lambda row: row["retailPrice"] == 0,
    ("tier",): lambda row: row["tierMinimumUnits"] > 0,
    ("secondaryMeter", "onlySecondary"): lambda row: not row["isPrimaryMeterRegion"],
    ("negative",): lambda row: row["retailPrice"] < 0,
}


@pytest.fixture
async def prices(stepped: Driver) -> PriceClient:
    await stepped.control("POST", "settings", {"pricePageSize": 1000})
    return PriceClient(stepped)


async def _machines(prices: PriceClient, **query: Any) -> list[Row]:
    return await prices.rows(_filter="serviceName eq 'Virtual Machines'", **query)


async def _right(prices: PriceClient, query: str = "") -> list[Row]:
    rows: list[Row] = (await prices.driver.control("GET", f"prices{query}"))["prices"]
    return rows


def _place(row: Row) -> tuple[str, str]:
    return row["armSkuName"], row["armRegionName"]


def _chosen(rows: Sequence[Row], node: Row, now: str) -> float | None:
    of_size = of_node(rows, *_place(node))
    return chosen_price(of_size, windows=node["os"] == "windows", priority=node["priority"], now=now)


def test_the_documented_oddities_are_those_of_the_emulator_and_none_is_in_westeurope() -> None:
    assert {name: place for name, (*place, _) in DOCUMENTED.items()} == {
        each.name: [each.arm_sku, each.region] for each in ODDITIES
    }
    assert "westeurope" not in {region for _, region, _ in DOCUMENTED.values()}


@pytest.mark.parametrize("names", _SHOWN)
async def test_an_oddity_is_where_the_docs_say_and_nowhere_else(prices: PriceClient, names: tuple[str, ...]) -> None:
    found = {_place(row) for row in await _machines(prices) if _SHOWN[names](row)}
    assert found == {DOCUMENTED[name][:2] for name in names}


async def test_two_meters_with_equal_claims_are_only_where_the_docs_say(prices: PriceClient) -> None:
    meters: dict[tuple[Any, ...], set[tuple[str, float]]] = defaultdict(set)
    for row in await _machines(prices):
        if row["isPrimaryMeterRegion"]:
            names = (row["productName"], row["skuName"], row["type"], row.get("reservationTerm"))
            meters[*_place(row), *names, row["effectiveStartDate"]].add((row["meterId"], row["retailPrice"]))
    several = {key[:2]: found for key, found in meters.items() if len({meter for meter, _ in found}) > 1}
    assert several.keys() == {DOCUMENTED["twoMeters"][:2]}
    assert len({price for found in several.values() for _, price in found}) == 2


async def test_places_without_an_oddity_have_the_nine_regular_rows(prices: PriceClient) -> None:
    rows = await _machines(prices)
    numbers = Counter(_place(row) for row in rows)
    odd = {(size, region) for size, region, _ in DOCUMENTED.values()}
    assert len(numbers) == 36
    assert {number for place, number in numbers.items() if place not in odd} == {9}
    plain = of_node(rows, "Standard_D2s_v5", "westeurope")
    series, sku = "Virtual Machines Dsv5 Series", "D2s v5"
    names = [(name, sku + end) for name in (series, f"{series} Windows") for end in ("", " Spot", " Low Priority")]
    expected: list[tuple[Any, ...]] = [(*each, "Consumption", None) for each in names]
    expected += [(series, sku, "Reservation", term) for term in ("1 Year", "3 Years")]
    expected += [(f"{series} Windows", sku, "DevTestConsumption", None)]
    found = [(row["productName"], row["skuName"], row["type"], row.get("reservationTerm")) for row in plain]
    assert sorted(found, key=str) == sorted(expected, key=str)


async def test_kinds_of_rows_differ_from_the_regular_price_as_documented(prices: PriceClient) -> None:
    rows = of_node(await _machines(prices), "Standard_D2s_v5", "westeurope")
    kinds = {
        (row["type"], row["productName"][-7:], row["skuName"][6:], row.get("reservationTerm")): row for row in rows
    }
    linux, windows = (kinds["Consumption", end, "", None] for end in (" Series", "Windows"))
    price = linux["retailPrice"]
    assert 0 < kinds["Consumption", " Series", " Spot", None]["retailPrice"] < price
    assert 0 < kinds["Consumption", " Series", " Low Priority", None]["retailPrice"] < price
    assert windows["retailPrice"] > price
    assert kinds["DevTestConsumption", "Windows", "", None]["retailPrice"] == price
    for term, years in (("1 Year", 1), ("3 Years", 3)):
        reserved = kinds["Reservation", " Series", "", term]
        assert reserved["unitOfMeasure"] == "1 Hour"
        assert 0.3 * price < reserved["retailPrice"] / (years * 8760) < price
    assert [plan["term"] for plan in linux["savingsPlan"]] == ["1 Year", "3 Years"]
    assert all(0 < plan["retailPrice"] == plan["unitPrice"] < price for plan in linux["savingsPlan"])
    assert {name[2] for name, row in kinds.items() if "savingsPlan" in row} == {""}


@pytest.mark.parametrize("currency", ["USD", "EUR"])
async def test_the_documented_rules_choose_the_right_price_or_none(prices: PriceClient, currency: str) -> None:
    rows, right = await prices.rows(currencyCode=currency), await _right(prices, f"?currencyCode={currency}")
    assert len(right) == 12 * 3 * 2 * 3
    for each in right:
        assert _chosen(rows, each, NOW) == each["retailPrice"], each


async def test_prices_are_missing_exactly_where_the_docs_say(prices: PriceClient) -> None:
    missing = [each for each in await _right(prices) if each["retailPrice"] is None]
    assert {(*_place(each), each["os"], each["priority"]) for each in missing} == {
        (size, region, "linux", "Regular") for size, region, price in DOCUMENTED.values() if price == "none"
    }


async def test_an_oddity_changes_no_regular_price_beside_it(prices: PriceClient) -> None:
    """Prices of a size differ between regions by the same factor, whether or not one has an oddity."""
    right = {(*_place(each), each["os"], each["priority"]): each["retailPrice"] for each in await _right(prices)}
    for size, region, price in DOCUMENTED.values():
        if price != "none":
            here, there = (right[size, name, "linux", "Regular"] for name in (region, "westeurope"))
            assert there == pytest.approx(here * 1.15, abs=2e-6)


async def test_a_secondary_meter_is_hidden_from_those_who_want_primary_ones(prices: PriceClient) -> None:
    size, region, _ = DOCUMENTED["onlySecondary"]
    condition = f"armSkuName eq '{size}' and armRegionName eq '{region}'"
    every = await prices.rows(_filter=condition)
    primary = await prices.rows(_filter=condition, meterRegion="'primary'")
    assert len(every) == len(primary) + 1
    assert chosen_price(every, windows=False, priority="Regular", now=NOW) is not None
    assert chosen_price(primary, windows=False, priority="Regular", now=NOW) is None


async def test_a_size_that_is_not_in_the_list_has_no_row(prices: PriceClient) -> None:
    assert await prices.rows(_filter="armSkuName eq 'Standard_D3_v2'") == []


async def test_other_services_have_prices_by_the_hour_and_by_the_month(prices: PriceClient) -> None:
    rows = [row for row in await prices.rows() if row["serviceName"] != "Virtual Machines"]
    assert Counter((row["serviceName"], row["unitOfMeasure"]) for row in rows) == {
        ("Virtual Network", "1 Hour"): 3, ("Storage", "1/Month"): 3,
    }  # fmt: skip


async def test_a_change_adds_rows_that_apply_from_its_moment_on(prices: PriceClient) -> None:
    before, first = await prices.rows(), await _right(prices)
    change = {**CHANGE, "effectiveStartDate": LATER}
    assert await prices.driver.control("POST", "prices", change) == {"rows": 6}
    after = await prices.rows()
    added = [row for row in after if row not in before]
    assert [row for row in after if row in before] == before
    assert {(*_place(row), row["type"], row["effectiveStartDate"]) for row in added} == {(*PLACE, "Consumption", LATER)}
    assert len(added) == 6
    assert await _right(prices) == first
    await prices.driver.advance(3600)
    for old, new in zip(first, await _right(prices), strict=True):
        factor = 1.5 if _place(new) == PLACE else 1
        assert new["retailPrice"] == (old["retailPrice"] and pytest.approx(old["retailPrice"] * factor, abs=2e-6))


async def test_rules_choose_the_price_of_the_moment_after_changes_also_beside_an_oddity(prices: PriceClient) -> None:
    places = [(size, region) for size, region, _ in DOCUMENTED.values()]
    for size, region in places:
        for factor, start in ((2, "2025-10-01"), (3, LATER), (0.5, "2025-12-01")):
            body = {"armSkuName": size, "armRegionName": region, "factor": factor, "effectiveStartDate": start}
            await prices.driver.control("POST", "prices", body)
    for now in (NOW, LATER):
        rows, right = await prices.rows(), await _right(prices)
        for each in right:
            assert _chosen(rows, each, now) == each["retailPrice"], each
        await prices.driver.advance(3600)


async def test_a_change_without_a_moment_applies_at_once_and_one_of_the_same_moment_replaces_it(
    prices: PriceClient,
) -> None:
    for factor in (2, 4):
        await prices.driver.advance(0.25)
        await prices.driver.control("POST", "prices", {**CHANGE, "factor": factor})
    rows = [row for row in await prices.rows() if row["effectiveStartDate"] == NOW]
    assert len(rows) == 6
    (price,) = {each["retailPrice"] for each in await _right(prices) if _is_plain(each)}
    await prices.driver.control("POST", "reset")
    (first,) = {each["retailPrice"] for each in await _right(prices) if _is_plain(each)}
    assert price == pytest.approx(first * 4)


@pytest.mark.parametrize(
    "wrong",
    [
        {"factor": 0},
        {"factor": -1},
        {"factor": "2"},
        {"factor": True},
        {"factor": 1001},
        {"effectiveStartDate": "soon"},
        {"effectiveStartDate": "2025-04-01"},
        {"armSkuName": "standard_d2s_v5"},
        {"armRegionName": "westus"},
        {"retailPrice": 5},
    ],
)
async def test_a_wrong_change_is_refused_in_words_and_changes_nothing(
    prices: PriceClient, wrong: dict[str, Any]
) -> None:
    before = await prices.rows()
    answer = await prices.driver.try_control("POST", "prices", {**CHANGE, **wrong})
    assert answer.status == 400
    assert answer.body["error"]
    assert await prices.rows() == before


async def test_right_prices_of_another_currency_or_parameter_are_refused(prices: PriceClient) -> None:
    for query in ("?currencyCode=GBP", "?size=x"):
        assert (await prices.driver.try_control("GET", f"prices{query}")).status == 400


def _is_plain(row: Row) -> bool:
    return (*_place(row), row["os"], row["priority"]) == (*PLACE, "linux", "Regular")
