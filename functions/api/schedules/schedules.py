"""GET accounts/{account}/jobschedules, …/{schedule}: from storage, never from Batch."""

from datetime import datetime
from operator import attrgetter
from typing import Literal

from functions.api.endpoints import ACCOUNT
from functions.api.jobs.job_models import TaskCountsAnswer, VerdictAnswer
from functions.http.answers import Answer
from functions.http.csv_table import csv_reply
from functions.http.handling import Page, Query, RouteRequest, RouteResponse, Routes
from functions.http.lists import listed, page_by_key
from functions.http.parameters import Format, Key, PageSize
from shared.domain.core.keys import key_of
from shared.domain.reports.reports import JobReport
from shared.domain.reports.schedule_reports import RunTotals, ScheduleReport
from shared.domain.schedules.job_specifications import JobSpecification

_RECENT = 20
_KEY = attrgetter("schedule.key")
ScheduleState = Literal["active", "completed", "disabled", "terminating", "deleting"]


class SchedulesQuery(Query):
    """Filters of the list of job schedules; deleted ones are excluded by default."""

    state: tuple[ScheduleState, ...] = ()
    prefix: Key = ""
    include_deleted: bool = False
    format: Format = "json"
    maxpagesize: PageSize = 100
    continuation: Key = ""

    def wants(self, report: ScheduleReport) -> bool:
        """Returns whether a schedule passes all filters; ids are compared without case, as in Batch."""
        schedule = report.schedule
        return (
            (self.include_deleted or not schedule.deleted)
            and (not self.state or schedule.facts.state in self.state)
            and schedule.key.startswith(key_of(self.prefix))
        )


class RecurrenceAnswer(Answer):
    """When a schedule creates jobs; durations are ISO 8601, null if Batch sets no such bound."""

    do_not_run_until: datetime | None
    do_not_run_after: datetime | None
    start_window: str | None
    recurrence_interval: str | None


class RecentJobAnswer(Answer):
    """The latest job of a schedule; its state is null if the job is unknown here or was deleted."""

    id: str
    state: str | None
    deleted: bool


class RunsAnswer(Answer):
    """Jobs of a schedule: `total` from the number of its latest job (null if it has none), the others as known here.

    `deleted` are known deletions; jobs deleted before any poll saw them are only in `total`.
    """

    total: int | None
    active: int
    completed: int
    deleted: int


class MissedRunsAnswer(Answer):
    """Runs that fell due from `since` and were missed by `until`; `count` is null if it can't be determined.

    `basis` explains the count, or why there is none.
    """

    count: int | None
    since: datetime | None
    until: datetime | None
    basis: str


class TotalsAnswer(Answer):
    """Totals over a schedule's jobs by their own counts, without deleted jobs.

    `asOf` is the oldest date among jobs whose tasks may still change, null if there are none. `exact`: every job of the
    schedule is known and has exact counts. `unreadJobs` have no counts so far. `unknownJobs` are not known here,
    deleted or not, and excluded from these counts (null: `runs.total` is unknown).
    """

    active_jobs: int
    unread_jobs: int
    unknown_jobs: int | None
    task_counts: TaskCountsAnswer
    as_of: datetime | None
    exact: bool


class ScheduleLine(Answer):
    """A job schedule with its runs, its tasks and the verdict on the schedule's own facts.

    `deletedTime` is when a poll found it deleted, null while it exists.
    """

    id: str
    account: str
    display_name: str | None
    state: str
    previous_state: str | None
    creation_time: datetime
    state_transition_time: datetime
    previous_state_transition_time: datetime | None
    last_modified: datetime
    end_time: datetime | None
    deleted: bool
    deleted_time: datetime | None
    schedule: RecurrenceAnswer
    recent_job: RecentJobAnswer | None
    last_run_time: datetime | None
    next_run_time: datetime | None
    runs: RunsAnswer
    missed_runs: MissedRunsAnswer
    totals: TotalsAnswer
    verdict: VerdictAnswer


class RunAnswer(Answer):
    """A job that the schedule created."""

    id: str
    state: str
    creation_time: datetime
    end_time: datetime | None
    deleted: bool
    task_counts: TaskCountsAnswer | None


class ScheduleAnswer(ScheduleLine):
    """A job schedule with its latest jobs and its job specification; null before that was read.

    `omittedProperties` names the hidden properties of the specification; `jobSpecificationProblem` explains a missing
    one.
    """

    job_specification: JobSpecification | None
    job_specification_problem: str | None
    omitted_properties: list[str]
    recent_jobs: list[RunAnswer]


def add_schedules(routes: Routes) -> None:
    @routes.route("GET", f"{ACCOUNT}/jobschedules", query=SchedulesQuery, returns=Page[ScheduleLine], cacheable=True)
    async def list_job_schedules(call: RouteRequest[SchedulesQuery, None]) -> Page[ScheduleLine] | RouteResponse:
        """Lists an account's job schedules by id, with their runs, missed runs and tasks."""
        services, query = await call.services(), call.query
        schedules = await services.schedules.listed_schedules(call.path["account"])
        found = [report for report in schedules.reports if query.wants(report)]
        section = page_by_key(found, _KEY, after=query.continuation, size=query.maxpagesize)
        page = listed(call, section, schedule_line, schedules.unreadable)
        return csv_reply(page, ScheduleLine) if query.format == "csv" else page

    @routes.route("GET", f"{ACCOUNT}/jobschedules/{{schedule}}", returns=ScheduleAnswer, cacheable=True)
    async def get_job_schedule(call: RouteRequest[Query, None]) -> ScheduleAnswer:
        """Returns one job schedule with its job specification and its latest jobs."""
        services = await call.services()
        return schedule_answer(await services.schedules.schedule(call.path["account"], call.path["schedule"]))


def schedule_line(report: ScheduleReport) -> ScheduleLine:
    schedule, facts, recent = report.schedule, report.schedule.facts, report.recent_job
    return ScheduleLine.of(
        facts,
        account=report.account.id,
        deleted=schedule.deleted,
        deleted_time=schedule.deleted_at,
        schedule=RecurrenceAnswer.of(facts.recurrence, recurrence_interval=facts.recurrence.interval),
        recent_job=_recent(facts.recent_job, recent) if facts.recent_job else None,
        last_run_time=recent.job.facts.creation_time if recent else None,
        next_run_time=None if schedule.deleted else facts.next_run_time,
        runs=RunsAnswer.of(report.totals, total=report.totals.made),
        missed_runs=MissedRunsAnswer.of(report.missed),
        totals=_totals(report.totals),
        verdict=VerdictAnswer.of(report.verdict),
    )


def schedule_answer(report: ScheduleReport) -> ScheduleAnswer:
    return ScheduleAnswer.of(
        schedule_line(report),
        job_specification=report.schedule.specification,
        job_specification_problem=report.schedule.unspecified,
        omitted_properties=list(report.schedule.omitted),
        recent_jobs=list(map(_run, report.jobs[:_RECENT])),
    )


def _recent(job_id: str, report: JobReport | None) -> RecentJobAnswer:
    state = report.job.facts.state if report and not report.job.deleted else None
    return RecentJobAnswer(id=job_id, state=state, deleted=report is not None and report.job.deleted)


def _totals(totals: RunTotals) -> TotalsAnswer:
    return TotalsAnswer.of(
        totals,
        active_jobs=totals.active,
        unread_jobs=totals.unread,
        unknown_jobs=totals.unknown,
        task_counts=TaskCountsAnswer.of(totals.counts),
        exact=totals.is_exact,
    )


def _run(report: JobReport) -> RunAnswer:
    snapshot = report.job.snapshot
    counts = TaskCountsAnswer.of(snapshot.counts) if snapshot else None
    return RunAnswer.of(report.job.facts, deleted=report.job.deleted, task_counts=counts)
