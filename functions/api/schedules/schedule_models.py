"""The JSON of job schedules and its conversion from service results. Times are ISO 8601 in UTC."""

from datetime import UTC, datetime

from functions.api.jobs.job_models import TaskCountsAnswer, VerdictAnswer, counts_answer, verdict_answer
from functions.http.answers import Answer
from shared.domain.reports.reports import JobReport
from shared.domain.reports.schedule_reports import RunTotals, ScheduleReport
from shared.domain.schedules.job_specifications import JobSpecification
from shared.domain.schedules.missed_runs import MissedRuns
from shared.domain.schedules.schedules import Recurrence

_RECENT = 20


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


def schedule_line(report: ScheduleReport) -> ScheduleLine:
    facts, recent = report.schedule.facts, report.recent_job
    return ScheduleLine(
        id=facts.id,
        account=report.account.id,
        display_name=facts.display_name,
        state=facts.state,
        previous_state=facts.previous_state,
        creation_time=facts.creation_time.astimezone(UTC),
        state_transition_time=facts.state_transition_time.astimezone(UTC),
        previous_state_transition_time=_time(facts.previous_state_transition_time),
        last_modified=facts.last_modified.astimezone(UTC),
        end_time=_time(facts.end_time),
        deleted=report.schedule.deleted,
        deleted_time=_time(report.schedule.deleted_at),
        schedule=_recurrence(facts.recurrence),
        recent_job=_recent(facts.recent_job, recent) if facts.recent_job else None,
        last_run_time=recent.job.facts.creation_time.astimezone(UTC) if recent else None,
        next_run_time=None if report.schedule.deleted else _time(facts.next_run_time),
        runs=_runs(report.totals),
        missed_runs=_missed(report.missed),
        totals=_totals(report.totals),
        verdict=verdict_answer(report.verdict),
    )


def schedule_answer(report: ScheduleReport) -> ScheduleAnswer:
    line = schedule_line(report)
    return ScheduleAnswer(
        **{name: getattr(line, name) for name in line.__struct_fields__},
        job_specification=report.schedule.specification,
        job_specification_problem=report.schedule.unspecified,
        omitted_properties=list(report.schedule.omitted),
        recent_jobs=[_run(job) for job in report.jobs[:_RECENT]],
    )


def _recent(job_id: str, report: JobReport | None) -> RecentJobAnswer:
    if report is None or report.job.deleted:
        return RecentJobAnswer(id=job_id, state=None, deleted=report is not None)
    return RecentJobAnswer(id=job_id, state=report.job.facts.state, deleted=False)


def _recurrence(rules: Recurrence) -> RecurrenceAnswer:
    return RecurrenceAnswer(
        do_not_run_until=_time(rules.do_not_run_until),
        do_not_run_after=_time(rules.do_not_run_after),
        start_window=rules.start_window,
        recurrence_interval=rules.interval,
    )


def _runs(totals: RunTotals) -> RunsAnswer:
    return RunsAnswer(total=totals.made, active=totals.active, completed=totals.completed, deleted=totals.deleted)


def _missed(missed: MissedRuns) -> MissedRunsAnswer:
    return MissedRunsAnswer(
        count=missed.count, since=_time(missed.since), until=_time(missed.until), basis=missed.basis
    )


def _totals(totals: RunTotals) -> TotalsAnswer:
    return TotalsAnswer(
        active_jobs=totals.active,
        unread_jobs=totals.unread,
        unknown_jobs=totals.unknown,
        task_counts=counts_answer(totals.counts),
        as_of=_time(totals.as_of),
        exact=totals.is_exact,
    )


def _run(report: JobReport) -> RunAnswer:
    facts, picture = report.job.facts, report.job.picture
    return RunAnswer(
        id=facts.id,
        state=facts.state,
        creation_time=facts.creation_time.astimezone(UTC),
        end_time=_time(facts.end_time),
        deleted=report.job.deleted,
        task_counts=counts_answer(picture.counts) if picture else None,
    )


def _time(moment: datetime | None) -> datetime | None:
    return moment.astimezone(UTC) if moment else None
