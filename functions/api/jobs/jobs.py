"""GET accounts/{account}/jobs, GET accounts/{account}/jobs/{job}."""

from operator import attrgetter
from typing import Annotated, Literal

from msgspec import Meta

from functions.api.jobs.job_models import JobAnswer, job_answer
from functions.api.jobs.job_order import JobsOrderBy, order_of
from functions.http.answers import unreadable_answers
from functions.http.csv_table import csv_reply
from functions.http.handling import Page, Query, RouteRequest, RouteResponse, Routes
from functions.http.lists import ListSection, is_among, page_by_key
from shared.domain.core.keys import key_of
from shared.domain.reports.reports import JobReport

Key = Annotated[str, Meta(max_length=500)]
Ids = Annotated[
    tuple[Annotated[str, Meta(min_length=1, max_length=500)], ...],
    Meta(max_length=100, description="Ids with commas between them, in any case."),
]
PageSize = Annotated[int, Meta(ge=1, le=1000, description="Entries a page, 1 to 1000.")]
Format = Annotated[Literal["json", "csv"], Meta(description="csv: a table, with the next page in the header Link.")]
JobState = Literal["active", "disabling", "disabled", "enabling", "terminating", "completed", "deleting"]


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
        order = order_of(self.orderby)
        return order.page(found, continuation=self.continuation, size=self.maxpagesize)


_KEY = attrgetter("job.key")
_TABLES = ("accounts", "jobs")  # each poll ends by writing one of them; the progress of a long read may be a second old


def add_jobs(routes: Routes) -> None:
    @routes.route(
        "GET",
        "accounts/{account}/jobs",
        query=JobsQuery,
        returns=Page[JobAnswer],
        repeats=True,
        depends_on_tables=_TABLES,
    )
    async def list_jobs(call: RouteRequest[JobsQuery, None]) -> Page[JobAnswer] | RouteResponse:
        """Lists an account's jobs with their task counts and verdicts, by id or in another order."""
        services = await call.services()
        listed = await services.queries.listed_jobs(call.path["account"])
        cut = call.query.page([report for report in listed.reports if call.query.wants(report)])
        answer = Page(
            value=[job_answer(report) for report in cut.shown],
            next_link=call.next_link(cut.continuation),
            count=cut.count,
            unreadable=unreadable_answers(listed.unreadable),
        )
        return csv_reply(answer, JobAnswer) if call.query.format == "csv" else answer

    @routes.route("GET", "accounts/{account}/jobs/{job}", returns=JobAnswer, repeats=True, depends_on_tables=_TABLES)
    async def get_job(call: RouteRequest[Query, None]) -> JobAnswer:
        """Returns one job with its task counts and verdict."""
        services = await call.services()
        return job_answer(await services.queries.job_with_forecast(call.path["account"], call.path["job"]))
