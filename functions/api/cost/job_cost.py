"""GET accounts/{account}/jobs/{job}/cost: what a job cost so far, what a task costs, and a forecast to its end."""

from datetime import date, datetime
from decimal import Decimal
from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from functions.api.cost.account_cost import (
    CostStepAnswer,
    CostSumAnswer,
    SharingParameter,
    cost_steps,
    cost_sum,
    dates_of,
    rounded,
)
from functions.api.endpoints import JOB
from functions.http.answers import Answer, utc
from functions.http.handling import Query, RouteRequest, Routes
from functions.http.parameters import given
from shared.domain.cost.busy_nodes import Outcome
from shared.domain.cost.dear_tasks import DearTask
from shared.domain.cost.job_costs import JobForecast, TaskCost
from shared.services.cost.cost_queries import JobCostReport
from shared.services.cost.dearest_tasks import MAX_UNASKED

_ERA = date(1970, 1, 1).toordinal()


_Dearest = Annotated[
    bool,
    Meta(
        description=f"Whether to look for the dearest tasks; by default only in jobs of at most {MAX_UNASKED:,} tasks."
    ),
]


class JobCostQuery(Query):
    """How the cost of time that no task held is shared, and whether to look for the dearest tasks."""

    sharing: SharingParameter = "proportional"
    dearest: _Dearest | UnsetType = UNSET


class TaskCostAnswer(Answer):
    """What a completed task held in money, as of the last roll-up.

    It is that on average, and for run times that half and 95 % of tasks don't exceed.
    """

    mean: Decimal
    p50: Decimal
    p95: Decimal


class JobForecastAnswer(Answer):
    """What the job's tasks will have held in money: each task left like the mean.

    `low` and `high` are the least and the most of that and of each task left like the median or the 95th percentile.
    `tasksLeft` hadn't completed as of the last roll-up.
    """

    amount: Decimal
    low: Decimal
    high: Decimal
    tasks_left: int


class DearTaskAnswer(Answer):
    """A task by the money for what its latest run held: for how long, how many slots, and where."""

    task: str
    pool: str | None
    node: str | None
    outcome: Outcome
    slots: int
    seconds: float
    amount: Decimal


class JobCostAnswer(Answer):
    """A job's costs from the day `since` on, in total and by day (UTC), estimated as in `cost` of the account.

    `missingDays` of its life have no stored usage. `task` is null before ten tasks completed, with missing days before
    today, and with time without a price; `forecast` also where no task will run, and on a day on which an earlier
    job with the same id ran. Both hold as of the last roll-up; `asOf` is earlier
    where nodes of a pool couldn't be listed. `dearestTasks` are ten at most, dearest first; null where they
    weren't looked for.
    """

    account: str
    job: str
    currency: str
    as_of: datetime | None
    since: date
    cost: CostSumAnswer
    steps: list[CostStepAnswer]
    missing_days: list[date]
    task: TaskCostAnswer | None
    forecast: JobForecastAnswer | None
    dearest_tasks: list[DearTaskAnswer] | None


def add_job_cost(routes: Routes) -> None:
    @routes.route("GET", f"{JOB}/cost", query=JobCostQuery, returns=JobCostAnswer, cacheable=True)
    async def get_job_cost(call: RouteRequest[JobCostQuery, None]) -> JobCostAnswer:
        """Returns what a job cost so far, what of it was wasted, and what it will have cost at its end."""
        services = await call.services()
        account, job, query = call.path["account"], call.path["job"], call.query
        return _answer(await services.costs.of_job(account, job, query.sharing, dearest=given(query.dearest)))


def _answer(found: JobCostReport) -> JobCostAnswer:
    return JobCostAnswer(
        account=found.report.account.id,
        job=found.report.job.facts.id,
        currency=found.currency,
        as_of=utc(found.as_of),
        since=date.fromordinal(_ERA + found.wanted.days.start),
        cost=cost_sum(found.cost.total, is_known=found.as_of is not None),
        steps=cost_steps(found.cost, found.wanted),
        missing_days=dates_of(found.missing),
        task=_task(found.task) if found.task else None,
        forecast=_forecast(found.forecast) if found.forecast else None,
        dearest_tasks=None if found.dearest is None else list(map(_dear, found.dearest)),
    )


def _dear(found: DearTask) -> DearTaskAnswer:
    return DearTaskAnswer(
        task=found.task,
        pool=found.pool or None,
        node=found.node or None,
        outcome=found.outcome,
        slots=found.slots,
        seconds=found.time / 1000,
        amount=rounded(found.amount),
    )


def _task(found: TaskCost) -> TaskCostAnswer:
    return TaskCostAnswer(mean=rounded(found.mean), p50=rounded(found.p50), p95=rounded(found.p95))


def _forecast(found: JobForecast) -> JobForecastAnswer:
    amounts = {"amount": rounded(found.amount), "low": rounded(found.low), "high": rounded(found.high)}
    return JobForecastAnswer(**amounts, tasks_left=found.tasks_left)
