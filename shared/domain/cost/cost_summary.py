"""An account's costs of today, yesterday and this month, and a forecast to the month's end, from costs of days."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal

from shared.domain.cost.cost_ranges import full_days

_BASIS, _MIN_BASIS = 7, 3  # full days before today
_NOTHING = Decimal(0)


@dataclass(frozen=True, slots=True)
class CostForecast:
    """The month's costs at its end: what is known, and each day left as the mean, cheapest and dearest of `days` days.

    Days are the latest full ones with known costs, `daily` is their mean.
    """

    amount: Decimal
    low: Decimal
    high: Decimal
    days: int
    daily: Decimal


@dataclass(frozen=True, slots=True)
class CostSummary:
    """Costs of days (UTC); None where those of no day are known, and for a forecast from fewer than three full days."""

    today: Decimal | None
    yesterday: Decimal | None
    month: Decimal | None
    forecast: CostForecast | None


def days_of_summary(today: date) -> tuple[date, date]:
    """Returns the first day whose costs a summary needs, and the day after today."""
    return min(today.replace(day=1), today - timedelta(days=_BASIS + 1)), today + timedelta(days=1)


def cost_summary(amounts: Mapping[date, Decimal], today: date) -> CostSummary:
    """Returns the summary of costs by day; days without known costs are left out of `amounts`."""
    known = [amount for day, amount in amounts.items() if _is_same_month(day, today)]
    month = sum(known, _NOTHING)
    return CostSummary(
        amounts.get(today),
        amounts.get(today - timedelta(days=1)),
        month if known else None,
        _forecast(amounts, month, today),
    )


def _forecast(amounts: Mapping[date, Decimal], month: Decimal, today: date) -> CostForecast | None:
    """Today counts as the other days left, as it isn't over: its costs so far are a lower bound."""
    by_day, end = {day.toordinal(): amount for day, amount in amounts.items()}, today.toordinal()
    full = [by_day[day] for day in full_days(by_day, range(end - _BASIS, end))]
    if len(full) < _MIN_BASIS:
        return None
    so_far, left = amounts.get(today, _NOTHING), _days_left(today)
    past = month - so_far
    mean = sum(full, _NOTHING) / len(full)
    amount, low, high = (past + max(so_far, each) + each * (left - 1) for each in (mean, min(full), max(full)))
    return CostForecast(amount, low, high, len(full), mean)


def _days_left(today: date) -> int:
    """Returns the days of the month that aren't over, today included."""
    following = (today.replace(day=1) + timedelta(days=32)).replace(day=1)
    return (following - today).days


def _is_same_month(day: date, other: date) -> bool:
    return (day.year, day.month) == (other.year, other.month)
