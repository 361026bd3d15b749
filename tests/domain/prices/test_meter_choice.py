"""The choice among rows of the retail list: one price or none, and never a wrong one."""

import json
from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.prices.meter_choice import chosen_item
from shared.domain.prices.price_keys import METERS, NO_PRICE, MeterKey
from shared.domain.prices.retail_items import RetailItem, retail_page
from tests.domain.prices.odd_pages import CASES, LINUX, NOW, USUAL, OddPageCase, row
from tests.emulator.support.price_client import chosen_price

_NOW = datetime.fromisoformat(NOW)
PRIORITIES = {"dedicated": "Regular", "spot": "Spot"}


def body(*rows: Any) -> bytes:
    return json.dumps({"BillingCurrency": "USD", "Items": rows, "NextPageLink": None, "Count": len(rows)}).encode()


def outcome(*rows: Any, meter: MeterKey = LINUX, currency: str = "USD") -> str:
    """Returns the chosen price as text, or the reason why there is none."""
    found = chosen_item(retail_page(body(*rows)), "standard_d4s_v5", "westeurope", meter, currency=currency, now=_NOW)
    return str(found.hourly) if isinstance(found, RetailItem) else found


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_page_has_the_one_price_or_a_named_reason(case: OddPageCase) -> None:
    found = outcome(*case.rows, meter=case.meter, **case.options)
    if case.expected in NO_PRICE:
        assert found == case.expected
    else:
        assert Decimal(found) == Decimal(case.expected)


@pytest.mark.parametrize("case", [case for case in CASES if not case.differs], ids=lambda case: case.name)
def test_a_second_opinion_on_well_formed_rows_agrees(case: OddPageCase) -> None:
    rows = [{"isPrimaryMeterRegion": False, **one} for one in case.rows]
    other = chosen_price(rows, windows=case.meter.os == "windows", priority=PRIORITIES[case.meter.priority], now=NOW)
    found = outcome(*case.rows, meter=case.meter, **case.options)
    assert (None if found in NO_PRICE else float(found)) == other


def test_there_are_at_least_sixty_pages_and_most_have_a_second_opinion() -> None:
    assert len(CASES) >= 60
    assert len({case.name for case in CASES}) == len(CASES)
    assert sum(not case.differs for case in CASES) >= 45


def test_each_reason_of_the_choice_has_a_page() -> None:
    reasons = {case.expected for case in CASES if case.expected in NO_PRICE}
    assert reasons == {
        "notListed", "unreadable", "noMeter", "otherCurrency", "otherUnit", "ended", "noPositivePrice", "notBegun",
        "severalMeters",
    }  # fmt: skip


def test_amounts_keep_all_of_their_digits() -> None:
    text = body(row("HERE")).replace(b'"HERE"', b"0.12345678901234567890")
    (item,) = retail_page(text).items
    assert str(item.hourly) == "0.12345678901234567890"


def test_a_body_that_is_no_page_is_refused() -> None:
    for nonsense in (b"", b"<html>", b"[]", b'{"Items": 7}', body()[:-9], b'{"Items": [{"retailPrice": NaN}]}'):
        with pytest.raises(ValueError, match=r".+"):
            retail_page(nonsense)


ODD_VALUES: st.SearchStrategy[Any] = st.sampled_from([
    None, "", 0, -1, 1, 0.2, 730.0, "NaN", True, False, [], {}, "USD", "EUR", "1 Hour", "Consumption", "Reservation",
    "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z", "D4s v5", "D4s v5 Spot", "D4s v5 Low Priority", "m1", "m9",
])  # fmt: skip


@given(st.lists(st.tuples(st.sampled_from(sorted(row())), ODD_VALUES), max_size=3), st.sampled_from(METERS))
def test_an_odd_row_never_makes_a_price_that_no_row_has(changes: list[tuple[str, Any]], meter: MeterKey) -> None:
    odd = {**row(0.7), "meterId": "odd", **dict(changes)}
    alone, usual, both = (outcome(*rows, meter=meter) for rows in ((odd,), USUAL, (*USUAL, odd)))
    assert both in {usual, alone, "severalMeters"}


@given(st.permutations(USUAL), st.sampled_from(METERS))
def test_the_order_of_rows_never_matters(rows: list[Any], meter: MeterKey) -> None:
    assert outcome(*rows, meter=meter) == outcome(*USUAL, meter=meter)
