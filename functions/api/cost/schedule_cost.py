"""GET accounts/{account}/jobschedules/{schedule}/cost: what each run of a job schedule cost, to compare them."""

from datetime import datetime
from typing import Annotated

from msgspec import Meta

from functions.api.cost.account_cost import CostSumAnswer, SharingParameter, cost_sum
from functions.api.endpoints import ACCOUNT
from functions.api.jobs.job_models import TaskCountsAnswer
from functions.http.answers import Answer, utc
from functions.http.csv_table import csv_reply
from functions.http.handling import Page, Query, RouteRequest, RouteResponse, Routes
from functions.http.parameters import Format
from shared.domain.cost.run_costs import RunCost
from shared.services.cost.schedule_costs import ScheduleCostReport

_Runs = Annotated[int, Meta(ge=1, le=100, description="How many of the latest runs, 1 to 100.")]


class ScheduleCostQuery(Query):
    """How many runs, and how the cost of time that no task held is shared among the jobs with tasks on such nodes."""

    runs: _Runs = 20
    sharing: SharingParameter = "proportional"
    format: Format = "json"


class RunCostAnswer(Answer):
    """A run, which is a job, and its costs so far; null where none of its days has stored usage.

    `missingDays` is how many of its days have none.
    """

    job: str
    state: str
    creation_time: datetime
    end_time: datetime | None
    deleted: bool
    task_counts: TaskCountsAnswer | None
    cost: CostSumAnswer | None
    missing_days: int


class ScheduleCostAnswer(Answer):
    """The costs of a job schedule's latest runs, latest first, estimated as in `cost` of the account."""

    account: str
    schedule: str
    currency: str
    as_of: datetime | None
    value: list[RunCostAnswer]


def add_schedule_cost(routes: Routes) -> None:
    @routes.route(
        "GET",
        f"{ACCOUNT}/jobschedules/{{schedule}}/cost",
        query=ScheduleCostQuery,
        returns=ScheduleCostAnswer,
        cacheable=True,
    )
    async def get_schedule_cost(call: RouteRequest[ScheduleCostQuery, None]) -> ScheduleCostAnswer | RouteResponse:
        """Returns what each of a job schedule's latest runs cost, and what of it was wasted."""
        services, query = await call.services(), call.query
        account, schedule = call.path["account"], call.path["schedule"]
        found = await services.schedule_costs.of_schedule(account, schedule, query.sharing, runs=query.runs)
        if query.format == "csv":
            return csv_reply(Page(value=list(map(_run, found.runs))), RunCostAnswer)
        return _answer(found)


def _answer(found: ScheduleCostReport) -> ScheduleCostAnswer:
    return ScheduleCostAnswer(
        account=found.report.account.id,
        schedule=found.report.schedule.facts.id,
        currency=found.currency,
        as_of=utc(found.as_of),
        value=list(map(_run, found.runs)),
    )


def _run(run: RunCost) -> RunCostAnswer:
    job = run.job
    return RunCostAnswer.of(
        job.facts,
        job=job.facts.id,
        deleted=job.deleted,
        task_counts=TaskCountsAnswer.of(job.snapshot.counts) if job.snapshot else None,
        cost=cost_sum(run.cost) if run.cost else None,
        missing_days=run.missing,
    )
