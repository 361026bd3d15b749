"""What a job cost so far, what a task of it costs, and what it will have cost at its end."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from shared.domain.cost.allocation import OUTCOMES, amount
from shared.domain.cost.cost_groups import CostGroup, CostSum
from shared.domain.cost.priced_days import PricedDay, Sharing
from shared.domain.cost.runs.job_days import has_runs_of
from shared.domain.cost.usage_days import JobDay, PoolDay, UsageDay
from shared.domain.jobs.jobs import ENDING, Job
from shared.domain.prices.price_keys import Price
from shared.domain.tasks.histograms import Histogram
from shared.domain.tasks.job_statistics import MINUTE, JobStatistics
from shared.domain.tasks.tasks import TaskCounts

_MIN_TASKS = 10
_COMPLETED = frozenset(("succeeded", "failed"))
_NO_RUNS = JobDay("")
_NOTHING = Decimal(0)


@dataclass(frozen=True, slots=True)
class TaskCost:
    """What a completed task held cost: on average, and for run times that half and 95 % of them have at most."""

    mean: Decimal
    p50: Decimal
    p95: Decimal


@dataclass(frozen=True, slots=True)
class JobForecast:
    """What a job's tasks will have held in money once all completed.

    Each of the tasks left as of the last roll-up costs as the mean; `low` and `high` are the least and the most of that
    and of what it is if each costs as the median or the 95th percentile.
    """

    amount: Decimal
    low: Decimal
    high: Decimal
    tasks_left: int


@dataclass(frozen=True, slots=True)
class EndedRuns:
    """The money for ended runs of a job as of its last roll-up, and how many of them completed a task.

    `is_priced` is false where any has no price. With `has_earlier` the days also have costs of an earlier job with the
    same id.
    """

    amount: Decimal
    tasks: int
    is_priced: bool
    has_earlier: bool


class Later(NamedTuple):
    """How many of a job's tasks completed since a time, at least and at most, as minutes are known."""

    at_least: int
    at_most: int

    @classmethod
    def than(cls, as_of: int, statistics: JobStatistics) -> "Later":
        """Returns those since `as_of`, in milliseconds since 1970."""
        minute, ends = as_of // MINUTE, statistics.completions
        return cls(*(sum(number for at, number in ends if at >= first) for first in (minute + 1, minute)))


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
    return sum((found.amounts[name] for name in OUTCOMES if name in found.amounts), _NOTHING)


def ended_runs(days: Iterable[PricedDay], job_key: str, created: int) -> EndedRuns:
    """Returns what the ended runs of a job cost, given its days in order and the second (since 1970) of its creation.

    A run counts on the day of its end, at the price of then.
    """
    money, tasks, is_priced, has_earlier = _NOTHING, 0, True, False
    pools = dict[str, PoolDay]()
    for day in days:
        pools |= day.usage.pools
        job = day.usage.jobs.get(job_key, _NO_RUNS)
        is_own = has_runs_of(job, created, day.usage.day)
        has_earlier |= job.has_earlier or not is_own
        for key, one in job.ends.items() if is_own else ():
            pool = pools.get(key.pool)
            price = pool and day.prices.at(pool.price_key(key.kind), day.since)
            tasks += one.runs if key.outcome in _COMPLETED else 0
            if pool and isinstance(price, Price):
                money += amount(one.units, slots_per_node=pool.slots_per_node, hourly=price.hourly)
            else:
                is_priced = False
    return EndedRuns(money, tasks, is_priced=is_priced, has_earlier=has_earlier)


def ended_as_of(days: Iterable[UsageDay]) -> int:
    """Returns as of when the ended runs of jobs on some days are known, in milliseconds since 1970.

    The nodes of a pool may be known as of before. Where days don't say the time, it is that of the nodes.
    """
    return max((day.as_of if day.runs_as_of is None else day.runs_as_of for day in days), default=0)


def task_cost(found: CostSum, ended: EndedRuns, counts: TaskCounts, runs: Histogram) -> TaskCost | None:
    """Returns the cost of a task; None before ten tasks completed, and where any time has no price.

    `ended` runs are those of the last roll-up, with those that were retried. `counts` and `runs` are of now: they only
    say which part of completed tasks ever ran, and how run times are distributed.
    """
    if ended.tasks < _MIN_TASKS or runs.count < _MIN_TASKS or not ended.amount or not runs.sum or not counts.completed:
        return None
    if found.unpriced or not ended.is_priced:
        return None
    of_run = ended.amount / ended.tasks
    p50, p95 = (of_run * Decimal(runs.quantile(percent)) * runs.count / runs.sum for percent in (50, 95))
    return TaskCost(of_run * min(runs.count, counts.completed) / counts.completed, p50, p95)


def job_forecast(found: CostSum, ended: EndedRuns, counts: TaskCounts, task: TaskCost, later: Later) -> JobForecast:
    """Returns the forecast of a job with tasks left as of the last roll-up, after which `later` ones completed.

    Tasks that ran then count as not begun, but not below what is known. Those that were deleted since they completed
    have cost what they cost; those whose ends no roll-up saw count like the others.
    """
    known = round(ended.amount / task.mean)
    done = min(max(known, counts.completed - later.at_most), counts.completed - later.at_least)
    held, left, so_far = held_amount(found), counts.total - done, task.mean * max(known, done)
    amounts = [max(held, so_far + each * left) for each in (task.mean, task.p50, task.p95)]
    return JobForecast(amounts[0], min(amounts), max(amounts), left)


def expected_costs(cost: CostSum, ended: EndedRuns, job: Job, as_of: int) -> tuple[TaskCost | None, JobForecast | None]:
    """Returns what a task of a job costs, and the job at its end, as far as that is known and tasks will still run.

    `ended` runs are those as of `as_of`, in milliseconds since 1970.
    """
    snapshot = job.snapshot
    statistics = snapshot.statistics.unpack() if snapshot and snapshot.statistics else None
    if snapshot is None or statistics is None:
        return None, None
    counts, task = snapshot.counts, task_cost(cost, ended, snapshot.counts, statistics.runs)
    is_ending = not job.is_live or job.facts.state in ENDING
    if task is None or ended.has_earlier or is_ending or counts.completed == counts.total:
        return task, None
    return task, job_forecast(cost, ended, counts, task, Later.than(as_of, statistics))
