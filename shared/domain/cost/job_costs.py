"""What a job cost so far, what a task of it costs, and what it will have cost at its end."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from shared.domain.cost.allocation import OUTCOMES
from shared.domain.cost.cost_groups import CostGroup, CostSum
from shared.domain.cost.priced_days import PricedDay, Sharing
from shared.domain.tasks.histograms import Histogram
from shared.domain.tasks.tasks import TaskCounts

_MIN_TASKS = 10


@dataclass(frozen=True, slots=True)
class TaskCost:
    """What completed tasks held cost: on average, and for tasks that run as long as half and 95 % of them at most."""

    mean: Decimal
    p50: Decimal
    p95: Decimal


@dataclass(frozen=True, slots=True)
class JobForecast:
    """What a job's tasks will have held in money once all completed.

    Each task left costs as the mean; `low` and `high` as the median and the 95th percentile, in their order.
    """

    amount: Decimal
    low: Decimal
    high: Decimal
    tasks_left: int


def job_cost(days: Iterable[PricedDay], job_key: str, sharing: Sharing) -> CostGroup:
    """Returns a job's costs in days, with its share of time that no task held."""
    found = CostGroup()
    for day in days:
        if job_key in day.usage.jobs:
            for line in day.job_lines(sharing, only=job_key):
                if line.job == job_key:
                    found.steps[day.since].add(line)
    return found


def held_amount(found: CostSum) -> Decimal:
    """Returns the money for what tasks held, without a job's share of other time."""
    return sum((found.amounts[name] for name in OUTCOMES if name in found.amounts), Decimal(0))


def task_cost(found: CostSum, counts: TaskCounts, runs: Histogram) -> TaskCost | None:
    """Returns the cost of a task; None before ten tasks completed, and where any time has no price.

    Runs that go on count for no completed task. Quantiles are those of run times, at the mean price of a run's time.
    """
    held = held_amount(found) - found.amounts.get("running", Decimal(0))
    if counts.completed < _MIN_TASKS or runs.count < _MIN_TASKS or not held or found.unpriced or not runs.sum:
        return None
    mean = held / counts.completed
    p50, p95 = (mean * Decimal(runs.quantile(percent)) * runs.count / runs.sum for percent in (50, 95))
    return TaskCost(mean, p50, p95)


def job_forecast(found: CostSum, counts: TaskCounts, task: TaskCost) -> JobForecast:
    """Returns the forecast of a job with tasks left; those that run count as not begun, but not below what is known."""
    held, left = held_amount(found), counts.total - counts.completed
    amount, *band = (max(held, task.mean * counts.completed + each * left) for each in (task.mean, task.p50, task.p95))
    return JobForecast(amount, min(band), max(band), left)
