"""Prometheus series of costs of today (UTC), of accounts, pools by cost class, and jobs that have series; of budgets.

An account has them from its first roll-up of the day on. What has no price is in no amount, but in node seconds.
Amounts become floats here, at the edge, as the text format has no others.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from decimal import Decimal

from functions.api.metrics.series import Family, Labels, Samples, Value, timestamp
from shared.domain.cost.cost_groups import CostSum
from shared.domain.cost.day_costs import DayCosts
from shared.services.cost.budget_queries import BudgetReport

_ESTIMATE = "at the prices that the API lists: an estimate, not the bill."
ACCOUNT_COST_FAMILIES = (
    Family(
        "azbatch_account_cost_today", f"Cost of an account's nodes of today (UTC) so far, {_ESTIMATE}", ("currency",)
    ),
    Family(
        "azbatch_account_wasted_cost_today",
        "The part of today's cost for failed, retried and interrupted runs, idle nodes and slots, failed start tasks"
        " and unusable nodes.",
        ("currency",),
    ),
    Family("azbatch_account_unpriced_node_seconds", "Seconds of nodes of today (UTC) without a known price."),
    Family("azbatch_account_cost_as_of_timestamp_seconds", "Unix time of today's costs, which are renewed hourly."),
)
POOL_COST_FAMILIES = (
    Family(
        "azbatch_pool_cost_today",
        f"Cost of a pool's nodes of today (UTC) so far by cost class, {_ESTIMATE}",
        ("class", "currency"),
    ),
    Family("azbatch_pool_unpriced_node_seconds", "Seconds of a pool's nodes of today (UTC) without a known price."),
)
JOB_COST_FAMILIES = (
    Family(
        "azbatch_job_cost_today",
        f"Cost of a job of today (UTC) so far, with its share of time that no task held, {_ESTIMATE}",
        ("currency",),
    ),
    Family("azbatch_job_wasted_cost_today", "The part of today's cost of a job that brought no result.", ("currency",)),
)
BUDGET_FAMILIES = (
    Family("azbatch_budget_amount", "A budget's amount for a month (UTC).", ("currency",)),
    Family("azbatch_budget_spent", f"Cost of this month (UTC) so far for a budget, {_ESTIMATE}", ("currency",)),
)


def account_cost_samples(costs: Mapping[str, DayCosts]) -> Iterator[Samples]:
    """Yields the samples of accounts."""
    for account, found in costs.items():
        yield Samples(
            (account,),
            _amounts("account", found.total, found.currency)
            | {
                "azbatch_account_unpriced_node_seconds": found.total.unpriced / 1000,
                "azbatch_account_cost_as_of_timestamp_seconds": timestamp(found.as_of),
            },
        )


def pool_cost_samples(costs: Mapping[str, DayCosts]) -> Iterator[Samples]:
    """Yields the samples of pools with nodes today, deleted ones too."""
    for account, found in costs.items():
        for pool, total in sorted(found.pools.items()):
            by_class: dict[Labels, float] = {
                (name, found.currency): float(amount) for name, amount in sorted(total.amounts.items())
            }
            yield Samples(
                (account, pool),
                {"azbatch_pool_cost_today": by_class, "azbatch_pool_unpriced_node_seconds": total.unpriced / 1000},
            )


def job_cost_samples(costs: Mapping[str, DayCosts], shown: Collection[tuple[str, ...]]) -> Iterator[Samples]:
    """Yields the samples of the `shown` jobs, pairs of account and job, that held slots today."""
    for account, found in costs.items():
        for job, total in sorted(found.jobs.items()):
            if (account, job) in shown:
                yield Samples((account, job), _amounts("job", total, found.currency))


def budget_samples(reports: Sequence[BudgetReport]) -> Iterator[Samples]:
    """Yields the samples of budgets; nothing is spent in another currency than the budget's."""
    for report in reports:
        for state in report.states:
            budget = state.budget
            values: dict[str, Value] = {
                "azbatch_budget_amount": _amount(budget.amount, budget.currency),
                "azbatch_budget_spent": _amount(state.spent, budget.currency),
            }
            yield Samples((report.account.id, budget.name), values)


def _amounts(subject: str, total: CostSum, currency: str) -> dict[str, Value]:
    return {
        f"azbatch_{subject}_cost_today": _amount(total.amount, currency),
        f"azbatch_{subject}_wasted_cost_today": _amount(total.wasted if total.amount is not None else None, currency),
    }


def _amount(amount: Decimal | None, currency: str) -> Value:
    return None if amount is None else {currency: float(amount)}
