"""A deployment's own prices: which entry counts, discounts, and what is refused."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from shared.domain.prices.price_file import price_entries
from shared.domain.prices.price_history import PriceHistory, PriceInterval
from shared.domain.prices.price_keys import MeterKey, Price, PriceKey
from shared.domain.prices.price_table import PriceTable

NOW, START = datetime(2026, 11, 29, 12, tzinfo=UTC), datetime(2025, 4, 1, tzinfo=UTC)
KEY = PriceKey("standard_d4s_v5", "westeurope", "linux", "none", "dedicated")
PLACE = ("westeurope", "standard_d4s_v5")
LINUX, WINDOWS = MeterKey("linux", "dedicated"), MeterKey("windows", "dedicated")
ENTRY = {
    "vmSize": "Standard_D4s_v5", "region": "westeurope", "os": "linux", "priority": "dedicated", "currency": "EUR",
    "hourly": 0.151, "from": "2026-01-01",
}  # fmt: skip
DISCOUNT = {"vmSize": "Standard_D*", "region": "*", "os": "*", "priority": "*", "discountPercent": 12.5,
            "from": "2026-06-01", "to": "2027-01-01"}  # fmt: skip


def table(*entries: Any) -> PriceTable:
    intervals = {
        LINUX: (PriceInterval(Decimal("0.2"), START, None, "m1"),),
        WINDOWS: (PriceInterval(Decimal("0.38"), START, None, "m4"),),
    }
    histories = {PLACE: PriceHistory(*PLACE, intervals, as_of=NOW)}
    return PriceTable("EUR", price_entries(json.dumps(entries), "EUR", has_retail=True), histories)


def hourly(found: object) -> str:
    return str(found.hourly) if isinstance(found, Price) else str(found)


def problem(*entries: Any, currency: str = "EUR", has_retail: bool = True) -> str:
    with pytest.raises(ValueError, match="price") as caught:
        price_entries(json.dumps(entries), currency, has_retail=has_retail)
    return str(caught.value)


def test_an_own_price_counts_before_the_retail_price_while_it_is_valid() -> None:
    ending = ENTRY | {"to": "2026-12-01"}
    found = table(ending).at(KEY, NOW)
    until = datetime(2026, 12, 1, tzinfo=UTC)
    assert found == Price(Decimal("0.151"), "EUR", datetime(2026, 1, 1, tzinfo=UTC), until, "file")
    moments = [datetime(2025, 12, 31, 23, 59, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC), until]
    assert [hourly(table(ending).at(KEY, moment)) for moment in moments] == ["0.2", "0.151", "0.2"]


ADDITIONAL = {
    "vmSize": "*", "region": "west*", "os": "*", "priority": "*", "currency": "EUR", "additionalHourly": 0.01,
    "from": "2026-10-01",
}  # fmt: skip


def test_additional_amounts_are_all_added_to_the_price_of_the_machine() -> None:
    address = ADDITIONAL | {"additionalHourly": 0.005, "to": "2026-12-01"}
    found = table(ADDITIONAL, address).at(KEY, NOW)
    assert isinstance(found, Price)
    assert (found.hourly, found.additional, found.origin) == (Decimal("0.215"), Decimal("0.015"), "retail")
    assert (found.valid_from, found.valid_to) == (
        datetime(2026, 10, 1, tzinfo=UTC), datetime(2026, 12, 1, tzinfo=UTC),
    )  # fmt: skip
    moments = [datetime(2026, 9, 30, tzinfo=UTC), datetime(2026, 12, 1, tzinfo=UTC)]
    assert [hourly(table(ADDITIONAL, address).at(KEY, moment)) for moment in moments] == ["0.2", "0.21"]


def test_additional_amounts_are_no_price_and_no_discount_applies_to_them() -> None:
    assert hourly(table(ADDITIONAL, ENTRY).at(KEY, NOW)) == "0.161"
    assert hourly(table(ADDITIONAL, DISCOUNT).at(KEY, NOW)) == "0.185"
    unknown = KEY._replace(vm_size="standard_x9_v1")
    assert hourly(table(ADDITIONAL).at(unknown, NOW)) == "notReadYet"


def test_additional_amounts_of_another_currency_or_beside_a_price_are_refused() -> None:
    assert "its currency isn't EUR" in problem(ADDITIONAL | {"currency": "USD"})
    assert "its additionalHourly isn't from 0 to" in problem(ADDITIONAL | {"additionalHourly": -1})
    assert "it needs either hourly, discountPercent or additionalHourly" in problem(ENTRY | {"additionalHourly": 1})


def test_the_first_entry_that_applies_counts() -> None:
    dearer = ENTRY | {"hourly": 9, "vmSize": "*"}
    assert hourly(table(ENTRY, dearer).at(KEY, NOW)) == "0.151"
    assert hourly(table(dearer, ENTRY).at(KEY, NOW)) == "9"


@pytest.mark.parametrize("changes", [
    {"vmSize": "Standard_D8s_v5"}, {"vmSize": "standard_d4"}, {"region": "eastus"}, {"os": "windows"},
    {"priority": "spot"}, {"from": "2026-11-30"}, {"to": "2026-11-29"},
])  # fmt: skip
def test_an_entry_for_something_else_leaves_the_retail_price(changes: dict[str, Any]) -> None:
    assert hourly(table(ENTRY | changes).at(KEY, NOW)) == "0.2"


def test_a_discount_takes_its_percents_off_the_retail_price_exactly() -> None:
    found = table(DISCOUNT).at(KEY, NOW)
    assert found == Price(
        Decimal("0.175"), "EUR", datetime(2026, 6, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC), "file", "m1"
    )
    assert table(DISCOUNT).at(KEY._replace(priority="spot"), NOW) == "notKnownThen"


def test_hybrid_benefit_has_the_price_of_linux_and_windows_its_own() -> None:
    own = KEY._replace(os="windows", license="hybridBenefit")
    included = KEY._replace(os="windows", license="included")
    assert [hourly(table().at(key, NOW)) for key in (own, included)] == ["0.2", "0.38"]
    assert [hourly(table(ENTRY).at(key, NOW)) for key in (own, included)] == ["0.151", "0.38"]


def test_what_is_unknown_of_a_node_is_the_reason_why_it_has_no_price() -> None:
    unknown = {
        "sizeUnknown": KEY._replace(vm_size="mix"), "osUnknown": KEY._replace(os=None, license=None),
        "regionUnknown": KEY._replace(region=None),
    }  # fmt: skip
    anything = ENTRY | {"vmSize": "*", "region": "w*", "os": "*"}
    assert {name: table(anything).at(key, NOW) for name, key in unknown.items()} == {name: name for name in unknown}
    assert table().at(KEY._replace(vm_size="standard_x_v1"), NOW) == "notReadYet"


def test_all_wrong_entries_are_named_with_the_reason() -> None:
    wrong = [
        7, ENTRY | {"hourly": -1}, ENTRY | {"currency": "USD"}, ENTRY | {"discountPercent": 1},
        DISCOUNT | {"discountPercent": 101}, ENTRY | {"vmSize": "[a-z]"}, ENTRY | {"to": "2026-01-01"},
        ENTRY | {"hourly": "NaN"}, ENTRY | {"price": 1}, DISCOUNT | {"currency": "EUR"}, ENTRY,
    ]  # fmt: skip
    found = problem(*wrong)
    assert [number for number in range(1, 12) if f"Entry {number} of the prices" in found] == list(range(1, 11))
    for words in (
        "its hourly isn't from 0 to", "its currency isn't EUR",
        "it needs either hourly, discountPercent or additionalHourly",
        "its discountPercent isn't from 0 to 100", "its vmSize is no text of", "its to isn't after its from",
        "a discount has no currency",
    ):  # fmt: skip
        assert words in found
    assert "a discount needs retail prices" in problem(DISCOUNT, has_retail=False)


def test_a_text_that_is_no_list_is_refused() -> None:
    with pytest.raises(ValueError, match="no list in JSON"):
        price_entries("{}", "EUR", has_retail=True)


_ANYWHERE, _NOWHERE = ENTRY | {"region": "*"}, KEY._replace(region=None)


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ([_ANYWHERE], "0.151"),
        ([_ANYWHERE, ENTRY | {"hourly": 9}], "0.151"),
        ([ENTRY | {"hourly": 9}, _ANYWHERE], "regionUnknown"),
        ([ENTRY | {"hourly": 9, "os": "windows"}, _ANYWHERE], "0.151"),
        ([_ANYWHERE, ADDITIONAL | {"region": "*"}], "0.161"),
        ([_ANYWHERE, ADDITIONAL], "regionUnknown"),
        ([ENTRY], "regionUnknown"),
        ([DISCOUNT], "regionUnknown"),
        ([DISCOUNT, _ANYWHERE], "regionUnknown"),
        ([], "regionUnknown"),
    ],
)
def test_an_own_price_for_all_regions_counts_where_the_region_is_not_known(entries: list[Any], expected: str) -> None:
    assert hourly(table(*entries).at(_NOWHERE, NOW)) == expected


@pytest.mark.parametrize(
    ("key", "reason"),
    [(_NOWHERE._replace(os=None), "osUnknown"), (_NOWHERE._replace(vm_size=""), "sizeUnknown")],
)
def test_an_own_price_needs_the_size_and_the_system_of_nodes(key: PriceKey, reason: str) -> None:
    assert table(_ANYWHERE | {"vmSize": "*", "os": "*"}).at(key, NOW) == reason
