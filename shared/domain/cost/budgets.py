"""Monthly budgets of an account, of one of its pools, or of a job schedule: what was spent, and whether it will do.

A budget has the currency in which it was set. Amounts of another one are never compared with it.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Literal

from shared.domain.core.keys import key_of
from shared.domain.cost.cost_groups import CostSum
from shared.domain.cost.cost_summary import CostForecast, cost_summary, days_of_summary
from shared.domain.cost.priced_days import NO_JOB, CostLine, PricedDay

type BudgetScope = Literal["account", "pool", "schedule"]
type BudgetStatus = Literal["within", "willExceed", "exceeded", "unknown"]
type BudgetSubject = tuple[BudgetScope, str]
"""What a budget is for: the kind, and the key of the pool or job schedule, empty for the account."""
MAX_BUDGETS = 100
"""The most that an account has."""
_TARGETS: Mapping[BudgetScope, tuple[str, str]] = {
    "pool": ("pool", "the pool had nodes"),
    "schedule": ("job schedule", "its jobs ran"),
}
_ONE_DAY = timedelta(days=1)
_NOTHING = Decimal(0)


@dataclass(frozen=True, slots=True)
class Budget:
    """An amount of money for a month (UTC); `target` is the id of the pool or job schedule, empty for the account."""

    name: str
    scope: BudgetScope
    target: str
    amount: Decimal
    currency: str
    changed_at: datetime

    @property
    def subject(self) -> BudgetSubject:
        return self.scope, key_of(self.target) if self.target else ""


@dataclass(frozen=True, slots=True)
class Spending:
    """The known costs of one subject by day, milliseconds of nodes without a price by day, and whether it had any."""

    amounts: Mapping[date, Decimal] = field(default_factory=dict)
    unpriced: Mapping[date, int] = field(default_factory=dict)
    has_usage: bool = False


@dataclass(frozen=True, slots=True)
class BudgetState:
    """How a budget does as of a day.

    `spent` is None where nothing of the month is known. `reason` says why, or that its pool or schedule had no usage.
    `exceeded_on` is the day (UTC) on which the month's costs exceeded the amount, or will as the forecast goes.
    `unpriced` are milliseconds of nodes of this month without a price, which aren't in `spent`.
    """

    budget: Budget
    status: BudgetStatus
    spent: Decimal | None = None
    forecast: CostForecast | None = None
    exceeded_on: date | None = None
    unpriced: int = 0
    reason: str = ""

    @property
    def share(self) -> float | None:
        """The spent part of the amount, 1 for all of it."""
        return None if self.spent is None else float(self.spent / self.budget.amount)


def spending(days: Iterable[PricedDay], subjects: Collection[BudgetSubject]) -> Mapping[BudgetSubject, Spending]:
    """Returns the costs of each subject by day; days need their jobs if a job schedule is among the subjects.

    A job schedule's costs are those of its jobs, with their proportional shares of time that no task held.
    """
    amounts = defaultdict[BudgetSubject, dict[date, Decimal]](dict)
    unpriced = defaultdict[BudgetSubject, Counter[date]](Counter)
    used = set[BudgetSubject]()
    of_schedules = any(scope == "schedule" for scope, _ in subjects)
    for day in days:
        at, sums = day.since.date(), {subject: CostSum() for subject in subjects}
        for subject, line in _lines(day, of_schedules=of_schedules):
            if subject in sums:
                sums[subject].add(line)
                used.add(subject)
        for subject, found in sums.items():
            unpriced[subject][at] = found.unpriced
            if found.amount is not None:
                amounts[subject][at] = found.amount
    return {subject: Spending(amounts[subject], unpriced[subject], subject in used) for subject in subjects}


def budget_state(budget: Budget, spent: Spending, currency: str, today: date) -> BudgetState:
    """Returns the state of a budget as of today (UTC); `currency` is that of the amounts that were spent."""
    if budget.currency != currency:
        return BudgetState(
            budget,
            "unknown",
            reason=f"The budget is in {budget.currency} and prices are in {currency}, so they aren't compared."
            " Set the budget anew.",
        )
    month = today.replace(day=1)
    unpriced = sum(time for day, time in spent.unpriced.items() if day >= month)
    found = cost_summary(spent.amounts, today)
    if found.month is None:
        why = "No price of its nodes is known." if unpriced else "No usage of this month is known so far."
        return BudgetState(budget, "unknown", unpriced=unpriced, reason=why)
    state = BudgetState(budget, "within", found.month, found.forecast, unpriced=unpriced)
    if found.month > budget.amount:
        return _exceeding(state, "exceeded", _day_exceeded(spent.amounts, month, budget.amount))
    if found.forecast and found.forecast.amount > budget.amount:
        so_far = spent.amounts.get(today, _NOTHING)
        left = budget.amount - (found.month - so_far) - max(so_far, found.forecast.daily)
        days = int(left // found.forecast.daily) + 1 if left >= 0 else 0
        return _exceeding(state, "willExceed", today + days * _ONE_DAY)
    if budget.target and not spent.has_usage:
        return replace(state, reason=_no_usage(budget, days_of_summary(today)[0]))
    return state


def _no_usage(budget: Budget, since: date) -> str:
    """Returns why a budget may be for something else than was meant: a pool or job schedule that isn't there."""
    noun, condition = _TARGETS[budget.scope]
    return f"No usage of a {noun} '{budget.target}' has been stored since {since}. Check the id if {condition}."


def _exceeding(state: BudgetState, status: BudgetStatus, day: date) -> BudgetState:
    return BudgetState(state.budget, status, state.spent, state.forecast, day, state.unpriced)


def _day_exceeded(amounts: Mapping[date, Decimal], month: date, budget: Decimal) -> date:
    """Returns the first day of the month with whose costs the sum exceeds the budget, as it does."""
    total, days = _NOTHING, sorted(day for day in amounts if day >= month)
    for day in days:
        total += amounts[day]
        if total > budget:
            return day
    return days[-1]


def _lines(day: PricedDay, *, of_schedules: bool) -> Iterator[tuple[BudgetSubject, CostLine]]:
    for line in day.pool_lines():
        yield ("account", ""), line
        yield ("pool", line.pool), line
    if of_schedules:
        keys = {key: key_of(job.job_id.rpartition(":")[0]) for key, job in day.usage.jobs.items() if ":" in job.job_id}
        for line in day.job_lines("proportional"):
            if line.job != NO_JOB and line.job in keys:
                yield ("schedule", keys[line.job]), line
