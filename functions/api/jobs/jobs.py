"""GET accounts/{account}/jobs, GET accounts/{account}/jobs/{job}."""

from collections.abc import Callable
from operator import attrgetter
from typing import Annotated, Literal

from msgspec import Meta

from functions.api.endpoints import ACCOUNT, JOB
from functions.api.jobs.job_models import JobAnswer, TaskCountsAnswer, job_answer
from functions.http.csv_table import csv_reply
from functions.http.handling import Page, Query, RouteRequest, RouteResponse, Routes
from functions.http.lists import ListSection, Order, Value, is_among, listed, page_by_key
from functions.http.parameters import Format, Ids, Key, PageSize
from shared.domain.core.keys import key_of
from shared.domain.core.stamps import to_milliseconds
from shared.domain.reports.reports import JobReport

JobState = Literal["active", "disabling", "disabled", "enabling", "terminating", "completed", "deleting"]


JobsOrderBy = Annotated[
    Literal[
        "id", "id desc",
        "state", "state desc",
        "poolId", "poolId desc",
        "priority", "priority desc",
        "creationTime", "creationTime desc",
        "stateTransitionTime", "stateTransitionTime desc",
        "startTime", "startTime desc",
        "endTime", "endTime desc",
        "taskCounts.active", "taskCounts.active desc",
        "taskCounts.preparing", "taskCounts.preparing desc",
        "taskCounts.running", "taskCounts.running desc",
        "taskCounts.completed", "taskCounts.completed desc",
        "taskCounts.succeeded", "taskCounts.succeeded desc",
        "taskCounts.failed", "taskCounts.failed desc",
        "taskCounts.total", "taskCounts.total desc",
    ],
    Meta(description="Jobs without the value come last in both directions, equal values in the order of ids."),
]  # fmt: skip


class JobsQuery(Query):
    """Filters of the job list; deleted jobs are excluded by default."""

    state: tuple[JobState, ...] = ()
    pool_id: Ids = ()
    schedule: Ids = ()
    prefix: Key = ""
    include_deleted: bool = False
    orderby: JobsOrderBy = "id"
    format: Format = "json"
    maxpagesize: PageSize = 100
    continuation: Key = ""

    def wants(self, report: JobReport) -> bool:
        """Returns whether a job passes all filters; ids are compared without case, as in Batch."""
        facts = report.job.facts
        return (
            (self.include_deleted or not report.job.deleted)
            and (not self.state or facts.state in self.state)
            and is_among(self.pool_id, facts.pool_id)
            and is_among(self.schedule, facts.schedule_id)
            and report.job.key.startswith(key_of(self.prefix))
        )

    def page(self, found: list[JobReport]) -> ListSection[JobReport]:
        """Returns the requested page of matches, which are given in key order. Raises BadRequestError."""
        if self.orderby == "id":
            return page_by_key(found, _KEY, after=self.continuation, size=self.maxpagesize)
        kind, value = _COLUMNS[self.orderby.removesuffix(" desc")]
        order = Order(self.orderby, kind, value, _KEY)
        return order.page(found, continuation=self.continuation, size=self.maxpagesize)


def _time(name: str) -> tuple[type[int], Callable[[JobReport], Value]]:
    of_facts = attrgetter(f"job.facts.{name}")
    return int, lambda report: to_milliseconds(moment) if (moment := of_facts(report)) else None


def _count(name: str) -> tuple[type[int], Callable[[JobReport], Value]]:
    of_counts = attrgetter(f"job.snapshot.counts.{name}")
    return int, lambda report: of_counts(report) if report.job.snapshot else None


_KEY = attrgetter("job.key")
_COLUMNS: dict[str, tuple[type[int | str], Callable[[JobReport], Value]]] = {
    "id": (str, _KEY),
    "state": (str, attrgetter("job.facts.state")),
    "poolId": (str, lambda report: key_of(report.job.facts.pool_id or "") or None),
    "priority": (int, attrgetter("job.facts.priority")),
    "creationTime": _time("creation_time"),
    "stateTransitionTime": _time("state_transition_time"),
    "startTime": _time("start_time"),
    "endTime": _time("end_time"),
    **{f"taskCounts.{name}": _count(name) for name in TaskCountsAnswer.__struct_fields__},
}
_TABLES = ("accounts", "jobs")  # each poll ends by writing one of them; the progress of a long read may be a second old


def add_jobs(routes: Routes) -> None:
    @routes.route(
        "GET", f"{ACCOUNT}/jobs", query=JobsQuery, returns=Page[JobAnswer], cacheable=True, depends_on_tables=_TABLES
    )
    async def list_jobs(call: RouteRequest[JobsQuery, None]) -> Page[JobAnswer] | RouteResponse:
        """Lists an account's jobs with their task counts and verdicts, by id or in another order."""
        services = await call.services()
        jobs = await services.queries.listed_jobs(call.path["account"])
        section = call.query.page([report for report in jobs.reports if call.query.wants(report)])
        page = listed(call, section, job_answer, jobs.unreadable)
        return csv_reply(page, JobAnswer) if call.query.format == "csv" else page

    @routes.route("GET", JOB, returns=JobAnswer, cacheable=True, depends_on_tables=_TABLES)
    async def get_job(call: RouteRequest[Query, None]) -> JobAnswer:
        """Returns one job with its task counts and verdict."""
        services = await call.services()
        return job_answer(await services.queries.job_with_forecast(call.path["account"], call.path["job"]))
