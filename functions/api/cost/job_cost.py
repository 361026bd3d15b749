"""GET accounts/{account}/jobs/{job}/cost: what a job cost so far, what a task costs, and a forecast to its end."""

from datetime import date, datetime
from decimal import Decimal

from functions.api.cost.account_cost import (
    CostStepAnswer,
    CostSumAnswer,
    SharingParameter,
    cost_steps,
    cost_sum,
    rounded,
)
from functions.api.endpoints import JOB
from functions.http.answers import Answer, utc
from functions.http.handling import Query, RouteRequest, Routes
from shared.domain.cost.job_costs import JobForecast, TaskCost
from shared.services.cost.cost_queries import JobCostReport

_ERA = date(1970, 1, 1).toordinal()


class JobCostQuery(Query):
    """How the cost of time that no task held is shared."""

    sharing: SharingParameter = "proportional"


class TaskCostAnswer(Answer):
    """What a completed task held in money: on average, and for run times that half and 95 % don't exceed."""

    mean: Decimal
    p50: Decimal
    p95: Decimal


class JobForecastAnswer(Answer):
    """What the job's tasks will have held in money: each task left like the mean, the median, the 95th percentile."""

    amount: Decimal
    low: Decimal
    high: Decimal
    tasks_left: int


class JobCostAnswer(Answer):
    """A job's costs from the day `since` on, in total and by day (UTC), estimated as in `cost` of the account.

    `task` is null before ten tasks completed, and `forecast` also where none is left.
    """

    account: str
    job: str
    currency: str
    as_of: datetime | None
    since: date
    cost: CostSumAnswer
    steps: list[CostStepAnswer]
    task: TaskCostAnswer | None
    forecast: JobForecastAnswer | None


def add_job_cost(routes: Routes) -> None:
    @routes.route("GET", f"{JOB}/cost", query=JobCostQuery, returns=JobCostAnswer, cacheable=True)
    async def get_job_cost(call: RouteRequest[JobCostQuery, None]) -> JobCostAnswer:
        """Returns what a job cost so far, what of it was wasted, and what it will have cost at its end."""
        services = await call.services()
        return _answer(await services.costs.of_job(call.path["account"], call.path["job"], call.query.sharing))


def _answer(found: JobCostReport) -> JobCostAnswer:
    return JobCostAnswer(
        account=found.report.account.id,
        job=found.report.job.facts.id,
        currency=found.currency,
        as_of=utc(found.as_of),
        since=date.fromordinal(_ERA + found.wanted.days.start),
        cost=cost_sum(found.cost.total),
        steps=cost_steps(found.cost, found.wanted),
        task=_task(found.task) if found.task else None,
        forecast=_forecast(found.forecast) if found.forecast else None,
    )


def _task(found: TaskCost) -> TaskCostAnswer:
    return TaskCostAnswer(mean=rounded(found.mean), p50=rounded(found.p50), p95=rounded(found.p95))


def _forecast(found: JobForecast) -> JobForecastAnswer:
    amounts = {"amount": rounded(found.amount), "low": rounded(found.low), "high": rounded(found.high)}
    return JobForecastAnswer(**amounts, tasks_left=found.tasks_left)
