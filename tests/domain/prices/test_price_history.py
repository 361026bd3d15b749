"""Prices over time: the past keeps its price, a new one begins when it was effective, and nothing counts twice."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import pairwise

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.prices.price_history import RETENTION, PriceHistory, PriceInterval
from shared.domain.prices.price_keys import METERS, MeterKey, NoPriceReason
from shared.domain.prices.retail_items import RetailItem
from tests.domain.prices.odd_pages import row

START, DAY, METER = datetime(2026, 1, 1, tzinfo=UTC), timedelta(days=1), MeterKey("linux", "dedicated")
EMPTY = PriceHistory("westeurope", "standard_d4s_v5")
type Chosen = RetailItem | NoPriceReason


def listed(price: str, day: float = 0, end: float | None = None) -> RetailItem:
    """Returns a row of the list that is effective from a day on, up to another one."""
    item = msgspec.convert(row(Decimal(price)), RetailItem)
    ends = None if end is None else START + end * DAY
    return msgspec.structs.replace(item, starts=START + day * DAY, ends=ends)


def read(history: PriceHistory, day: float, chosen: Chosen) -> PriceHistory:
    return history.after({meter: chosen if meter == METER else "noMeter" for meter in METERS}, START + day * DAY)


def after(*readings: tuple[float, Chosen]) -> PriceHistory:
    history = EMPTY
    for day, chosen in readings:
        history = read(history, day, chosen)
    return history


def price(history: PriceHistory, day: float) -> str:
    found = history.at(METER, START + day * DAY)
    return str(found.hourly) if isinstance(found, PriceInterval) else found


def prices(history: PriceHistory, *days: float) -> list[str]:
    return [price(history, day) for day in days]


def test_before_the_first_reading_and_before_the_first_price_there_is_none() -> None:
    assert price(EMPTY, 1) == "notReadYet"
    assert prices(after((5, listed("0.2"))), -1, 0, 4, 5, 400) == ["notKnownThen", "0.2", "0.2", "0.2", "0.2"]


def test_a_new_price_begins_when_it_was_effective() -> None:
    history = after((1, listed("0.2")), (2, listed("0.3", 1.5)))
    assert prices(history, 1, 1.4, 1.5, 2, 9) == ["0.2", "0.2", "0.3", "0.3", "0.3"]


def test_a_price_that_is_listed_late_changes_nothing_before_the_reading_that_confirmed_the_last_one() -> None:
    history = after((1, listed("0.2")), (3, listed("0.2")), (4, listed("0.3", 0.5)))
    assert prices(history, 0.6, 2.9, 3, 4) == ["0.2", "0.2", "0.3", "0.3"]


def test_a_price_that_is_listed_anew_goes_on() -> None:
    history = after((1, listed("0.2")), (2, listed("0.2", 1.5)))
    assert history.intervals[METER] == after((1, listed("0.2"))).intervals[METER]


def test_a_price_that_vanishes_is_known_up_to_the_last_reading_with_it_and_goes_on_where_it_comes_back() -> None:
    gone = after((1, listed("0.2")), (2, "severalMeters"))
    assert prices(gone, 0.5, 1, 2) == ["0.2", "severalMeters", "severalMeters"]
    assert prices(read(gone, 3, listed("0.2")), 0.5, 1, 2, 3) == ["0.2"] * 4
    assert prices(read(gone, 3, listed("0.2", 2.5)), 0.5, 1, 2.4, 2.5) == ["0.2", "notKnownThen", "notKnownThen", "0.2"]
    assert prices(read(gone, 3, listed("0.3")), 0.5, 1, 3) == ["0.2", "0.3", "0.3"]


def test_an_announced_end_ends_a_price_and_may_be_taken_back() -> None:
    ending = after((1, listed("0.2", end=10)))
    assert prices(ending, 9, 10) == ["0.2", "notKnownThen"]
    assert prices(read(ending, 2, listed("0.2")), 9, 10) == ["0.2", "0.2"]
    assert prices(read(ending, 2, listed("0.3", 1.5)), 1, 1.5, 9, 10) == ["0.2", "0.3", "0.3", "0.3"]
    assert prices(read(ending, 2, "ended"), 0.9, 1.5) == ["0.2", "ended"]


def test_a_reading_that_is_older_than_the_last_one_is_left_out() -> None:
    history = after((2, listed("0.2")))
    assert read(history, 2, listed("0.3", 1)) is history
    assert read(history, 1, listed("0.3", 0.5)) is history


def test_prices_that_ended_13_months_ago_are_forgotten_and_the_present_one_stays() -> None:
    history = after((1, listed("0.2")), (2, listed("0.3", 1.5)), (3, listed("0.3", 1.5)))
    late = read(history, 1.4 + RETENTION / DAY, listed("0.3", 1.5))
    assert prices(late, 1, 1.5) == ["0.2", "0.3"]
    assert prices(read(late, 1.6 + RETENTION / DAY, listed("0.3", 1.5)), 1, 1.5) == ["notKnownThen", "0.3"]


chosen = st.one_of(
    st.builds(
        listed,
        st.sampled_from(["0.1", "0.2", "0.3"]),
        st.integers(-5, 30).map(lambda half: half / 2),
        st.none() | st.integers(1, 60).map(lambda half: half / 2),
    ).filter(lambda item: item.ends is None or item.ends > item.starts),
    st.sampled_from(["severalMeters", "notListed", "ended"]),
)
readings = st.lists(st.tuples(st.integers(0, 60).map(lambda half: half / 4), chosen), max_size=8)


@given(readings)
def test_no_reading_changes_a_price_that_was_known_for_a_time_before_the_last_reading(
    some: Sequence[tuple[float, Chosen]],
) -> None:
    history, moments = EMPTY, [quarter / 8 for quarter in range(-20, 140)]
    for day, one in some:
        if isinstance(one, RetailItem) and one.starts > START + day * DAY:
            continue  # never chosen: it begins later
        later = read(history, day, one)
        confirmed = history.as_of or START - 1000 * DAY
        for moment in (moment for moment in moments if START + moment * DAY < confirmed):
            if isinstance(history.at(METER, START + moment * DAY), PriceInterval):
                assert price(later, moment) == price(history, moment)
        if isinstance(one, RetailItem) and later is not history and (one.ends is None or one.ends > START + day * DAY):
            assert price(later, day) == str(one.hourly)
        history = later


@given(readings)
def test_no_moment_has_two_prices(some: Sequence[tuple[float, Chosen]]) -> None:
    intervals = after(*some).intervals.get(METER, ())
    for one, following in pairwise(intervals):
        assert one.valid_to is not None
        assert one.valid_from < one.valid_to <= following.valid_from
