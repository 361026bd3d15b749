"""Costs of today, yesterday and the month, and the forecast to its end."""

from datetime import date, timedelta
from decimal import Decimal

import pytest

from shared.domain.cost.cost_summary import cost_summary, days_of_summary

_TODAY = date(2026, 3, 29)


def _days(*amounts: str) -> dict[date, Decimal]:
    """Returns amounts of consecutive days, the last one today."""
    first = _TODAY - timedelta(days=len(amounts) - 1)
    return {first + timedelta(days=at): Decimal(amount) for at, amount in enumerate(amounts)}


def test_a_month_ends_with_the_mean_cheapest_and_dearest_of_the_last_seven_full_days() -> None:
    found = cost_summary(_days("100", "1", "2", "3", "4", "5", "6", "7", "0.5"), _TODAY)
    assert (found.today, found.yesterday, found.month) == (Decimal("0.5"), Decimal(7), Decimal("128.5"))
    assert found.forecast is not None
    assert (found.forecast.amount, found.forecast.days) == (Decimal(128 + 3 * 4), 7)
    assert (found.forecast.low, found.forecast.high) == (Decimal(128 + 3), Decimal(128 + 3 * 7))


def test_a_day_that_already_cost_more_than_usual_counts_as_it_is() -> None:
    forecast = cost_summary(_days("1", "1", "1", "1", "10"), _TODAY).forecast
    assert forecast is not None
    assert forecast.amount == forecast.low == forecast.high == Decimal(4 + 10 + 2)


@pytest.mark.parametrize("amounts", [(), ("5",), ("1", "2", "3"), ("1", "2", "3", "4")])
def test_two_full_days_are_too_few_for_a_forecast(amounts: tuple[str, ...]) -> None:
    assert cost_summary(_days(*amounts), _TODAY).forecast is None


def test_a_day_after_one_without_known_costs_may_have_been_watched_in_part_and_is_no_basis() -> None:
    amounts = _days("0.1", "3", "3", "3", "3", "1")
    forecast = cost_summary(amounts, _TODAY).forecast
    assert forecast is not None
    assert (forecast.daily, forecast.days, forecast.low) == (Decimal(3), 4, forecast.high)
    del amounts[_TODAY - timedelta(days=2)]
    assert cost_summary(amounts, _TODAY).forecast is None
    begun = cost_summary(_days("0.1", *["3"] * 6, "1"), _TODAY).forecast  # seven days ago, late in the evening
    assert begun is not None
    assert (begun.daily, begun.days) == (Decimal(3), 6)


def test_days_of_the_month_before_are_a_basis_and_no_cost_of_this_month() -> None:
    today = date(2026, 4, 2)
    amounts = {today - timedelta(days=at): Decimal(2) for at in range(6)}
    found = cost_summary(amounts, today)
    assert found.month == Decimal(4)
    assert found.forecast is not None
    assert found.forecast.amount == Decimal(60)
    assert days_of_summary(today) == (date(2026, 3, 25), date(2026, 4, 3))


def test_unknown_days_are_unknown_and_not_nothing() -> None:
    found = cost_summary({_TODAY - timedelta(days=2): Decimal(3)}, _TODAY)
    assert (found.today, found.yesterday, found.month) == (None, None, Decimal(3))
    first = date(2026, 4, 1)
    found = cost_summary({first - timedelta(days=at): Decimal(2) for at in range(1, 5)}, first)
    assert (found.today, found.yesterday, found.month) == (None, Decimal(2), None)
    assert found.forecast is not None
    assert found.forecast.amount == Decimal(60)
    assert cost_summary({}, first).month is None
