"""Budgets: what was spent of a month, on which day it is exceeded, and that currencies are never compared."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest

from shared.domain.cost.budgets import Budget, BudgetScope, Spending, budget_state, spending
from shared.domain.cost.priced_days import PricedDay
from shared.domain.cost.usage_days import DAY, JobDay, JobUsageKey, NodeKind, PoolDay, UsageDay
from shared.domain.prices.price_history import PriceHistory, PriceInterval
from shared.domain.prices.price_keys import MeterKey
from shared.domain.prices.price_table import PriceTable

_HOUR = 3_600_000
_TODAY = date(2026, 6, 20)
_SET = datetime(2026, 5, 1, tzinfo=UTC)
_KIND, _UNKNOWN = NodeKind("standard_d2s_v5", True), NodeKind("standard_x9", True)
_HISTORY = PriceHistory(
    *("westeurope", "standard_d2s_v5"),
    {MeterKey("linux", "dedicated"): (PriceInterval(Decimal("0.1"), _SET, None, "m"),)},
    {},
    _SET,
)


def _budget(amount: str, scope: BudgetScope = "account", target: str = "", currency: str = "USD") -> Budget:
    return Budget("b", scope, target, Decimal(amount), currency, _SET)


def _spent(*amounts: str, until: date = _TODAY) -> Spending:
    """Returns costs of consecutive days, the last one `until`."""
    first = until - timedelta(days=len(amounts) - 1)
    return Spending({first + timedelta(days=at): Decimal(amount) for at, amount in enumerate(amounts)})


@pytest.mark.parametrize(
    ("amount", "status", "day"),
    [
        ("39", "exceeded", date(2026, 6, 19)),
        ("40", "exceeded", date(2026, 6, 20)),
        ("45", "willExceed", date(2026, 6, 20)),
        ("50", "willExceed", date(2026, 6, 21)),
        ("60", "willExceed", date(2026, 6, 22)),
        ("149", "willExceed", date(2026, 6, 30)),
        ("150", "within", None),
    ],
)
def test_a_budget_is_exceeded_on_the_day_whose_costs_pass_it(amount: str, status: str, day: date | None) -> None:
    found = budget_state(_budget(amount), _spent("10", "10", "10", "10", "5"), "USD", _TODAY)
    assert (found.status, found.exceeded_on, found.spent) == (status, day, Decimal(45))
    assert found.forecast is not None
    assert found.forecast.amount == 40 + 11 * 10
    assert found.share == pytest.approx(45 / float(amount))


def test_a_day_dearer_than_usual_may_be_the_one_that_will_not_come() -> None:
    found = budget_state(_budget("101"), _spent("1", "1", "1", "1", "90"), "USD", _TODAY)
    assert (found.status, found.exceeded_on) == ("willExceed", date(2026, 6, 28))


def test_without_a_forecast_a_budget_holds_until_it_is_exceeded() -> None:
    found = budget_state(_budget("20"), _spent("9", "9"), "USD", _TODAY)
    assert (found.status, found.forecast, found.exceeded_on) == ("within", None, None)


def test_another_currency_is_said_in_words_and_not_compared() -> None:
    found = budget_state(_budget("1", currency="EUR"), _spent("10", "10"), "USD", _TODAY)
    assert (found.status, found.spent, found.share, found.exceeded_on) == ("unknown", None, None, None)
    assert "The budget is in EUR and prices are in USD" in found.reason


def test_a_month_of_which_nothing_is_known_is_unknown_and_not_nothing() -> None:
    first = date(2026, 6, 1)
    found = budget_state(_budget("5"), _spent("9", "9", "9", until=date(2026, 5, 31)), "USD", first)
    assert (found.status, found.spent, found.reason) == ("unknown", None, "No usage of this month is known so far.")
    unpriced = Spending({}, {first: 7_000})
    found = budget_state(_budget("5"), unpriced, "USD", first)
    assert (found.reason, found.unpriced) == ("No price of its nodes is known.", 7_000)


def test_costs_of_the_account_of_a_pool_and_of_a_schedule_are_those_of_their_lines() -> None:
    pools = {
        "p1": PoolDay("P1", 1, "westeurope", "linux", "none", {_KIND: {"succeeded": 30 * _HOUR, "idle": 10 * _HOUR}}),
        "p2": PoolDay("P2", 1, "westeurope", "linux", "none", {_UNKNOWN: {"idle": _HOUR}}),
    }
    jobs = {
        "nightly=3ajob-1": JobDay("Nightly:job-1", {JobUsageKey("p1", _KIND, "succeeded"): 20 * _HOUR}),
        "alone": JobDay("alone", {JobUsageKey("p1", _KIND, "succeeded"): 10 * _HOUR}),
    }
    number = (_TODAY - date(1970, 1, 1)).days
    day = PricedDay(
        UsageDay(number, number * DAY, pools, jobs=jobs), PriceTable("USD", histories={_HISTORY.place: _HISTORY})
    )
    budgets = [
        _budget("9"),
        _budget("9", "pool", "P1"),
        _budget("9", "pool", "p2"),
        _budget("9", "schedule", "NIGHTLY"),
    ]
    budgets.append(_budget("9", "pool", "gone"))
    found = spending([day], {budget.subject for budget in budgets})
    account, first, second, nightly, gone = (found[budget.subject] for budget in budgets)
    assert account.amounts == first.amounts == {_TODAY: Decimal(4)}
    assert (account.unpriced[_TODAY], second.unpriced[_TODAY], second.amounts) == (_HOUR, _HOUR, {})
    assert nightly.amounts[_TODAY] == pytest.approx(Decimal(4) * 2 / 3)
    assert gone.amounts == {_TODAY: 0}
    assert [one.has_usage for one in (account, first, second, nightly, gone)] == [True, True, True, True, False]


@pytest.mark.parametrize(
    ("scope", "reason"),
    [
        ("pool", "No usage of a pool 'gone' has been stored since 2026-06-01. Check the id if the pool had nodes."),
        (
            "schedule",
            "No usage of a job schedule 'gone' has been stored since 2026-06-01. Check the id if its jobs ran.",
        ),
    ],
)
def test_a_budget_for_what_has_no_usage_is_within_and_says_so(scope: BudgetScope, reason: str) -> None:
    unused = _spent("0", "0")
    found = budget_state(_budget("9", scope, "gone"), unused, "USD", _TODAY)
    assert (found.status, found.spent, found.reason) == ("within", Decimal(0), reason)
    assert not budget_state(_budget("9", scope, "gone"), replace(unused, has_usage=True), "USD", _TODAY).reason
    assert not budget_state(_budget("9"), unused, "USD", _TODAY).reason
