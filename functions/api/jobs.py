"""GET accounts/{account}/jobs, GET accounts/{account}/jobs/{job}."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from functions.answers import unreadable_answers
from functions.api.models import JobAnswer, job_answer
from functions.csv_table import csv_reply
from functions.http import Call, Page, Query, Reply, Routes
from shared.domain.keys import key_of
from shared.domain.reports import JobReport

Key = Annotated[str, Meta(max_length=500)]
PageSize = Annotated[int, Meta(ge=1, le=1000, description="Entries a page, 1 to 1000.")]
Format = Annotated[Literal["json", "csv"], Meta(description="csv: a table, with the next page in the header Link.")]
JobState = Literal["active", "disabling", "disabled", "enabling", "terminating", "completed", "deleting"]


class JobsQuery(Query):
    """Filters of the job list; deleted jobs are left out unless asked for."""

    state: JobState | UnsetType = UNSET
    pool_id: str | UnsetType = UNSET
    schedule: str | UnsetType = UNSET
    prefix: Key = ""
    include_deleted: bool = False
    format: Format = "json"
    maxpagesize: PageSize = 100
    continuation: Key = ""

    def wants(self, report: JobReport) -> bool:
        """True for a job that every filter lets through; ids are compared as Batch does, without case."""
        facts = report.job.facts
        return (
            (self.include_deleted or not report.job.deleted)
            and (self.state is UNSET or facts.state == self.state)
            and (self.pool_id is UNSET or key_of(facts.pool_id or "") == key_of(self.pool_id))
            and (self.schedule is UNSET or key_of(facts.schedule_id or "") == key_of(self.schedule))
            and report.job.key.startswith(key_of(self.prefix))
            and report.job.key > self.continuation
        )


_TABLES = ("accounts", "jobs")  # each poll ends by writing one; how far a long read is may be told a second late


def add_jobs(routes: Routes) -> None:
    @routes.route(
        "GET", "accounts/{account}/jobs", query=JobsQuery, returns=Page[JobAnswer], repeats=True, made_of=_TABLES
    )
    async def list_jobs(call: Call[JobsQuery, None]) -> Page[JobAnswer] | Reply:
        """Jobs of an account with the counts of their tasks and the verdict on them, by id."""
        services = await call.services()
        listed = await services.queries.listed_jobs(call.path["account"])
        found = [report for report in listed.reports if call.query.wants(report)]
        page = found[: call.query.maxpagesize]
        more = len(found) > len(page)
        answer = Page(
            value=[job_answer(report) for report in page],
            next_link=call.next_link(page[-1].job.key) if more else None,
            unreadable=unreadable_answers(listed.unreadable),
        )
        return csv_reply(answer, JobAnswer) if call.query.format == "csv" else answer

    @routes.route("GET", "accounts/{account}/jobs/{job}", returns=JobAnswer, repeats=True, made_of=_TABLES)
    async def get_job(call: Call[Query, None]) -> JobAnswer:
        """One job."""
        services = await call.services()
        return job_answer(await services.queries.job(call.path["account"], call.path["job"]))
