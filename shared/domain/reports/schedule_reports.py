"""What a job schedule's jobs come to: how many runs, and their tasks by state. From what is known of jobs, no more."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from shared.domain.accounts.accounts import Account
from shared.domain.core.keys import key_of
from shared.domain.jobs.jobs import COMPLETED
from shared.domain.jobs.verdicts import Verdict
from shared.domain.reports.reports import JobReport
from shared.domain.schedules.missed_runs import MissedRuns, missed_runs
from shared.domain.schedules.schedules import Schedule, job_number
from shared.domain.tasks.tasks import TaskCounts


@dataclass(frozen=True, slots=True)
class RunTotals:
    """Of the jobs that a schedule has made: `made` by its own number (None: unknown), the others of those known here.

    `unknown` are those that aren't (None: unknown, too), and may have tasks. `deleted` were deleted later; `counts` are
    the tasks of those that weren't, `unread` how many of these have no counts yet. `as_of` is the oldest as of among
    jobs whose tasks may still change, None where there are none; `is_exact` is true where each job that was made is
    known, and the counts of each are exact.
    """

    made: int | None
    unknown: int | None
    active: int
    completed: int
    deleted: int
    unread: int
    counts: TaskCounts
    as_of: datetime | None
    is_exact: bool


def by_schedule(reports: Iterable[JobReport]) -> dict[str, list[JobReport]]:
    """Jobs that schedules made, by the schedule's key."""
    found: dict[str, list[JobReport]] = defaultdict(list)
    for report in reports:
        if report.job.facts.schedule_id is not None:
            found[key_of(report.job.facts.schedule_id)].append(report)
    return found


def own_jobs(schedule: Schedule, jobs: Iterable[JobReport]) -> tuple[JobReport, ...]:
    """Of the jobs under a schedule's id those that it made, latest first, and not another that had that id before."""
    own = [report for report in jobs if report.job.facts.creation_time >= schedule.facts.creation_time]
    return tuple(sorted(own, key=lambda report: (report.job.facts.creation_time, report.job.key), reverse=True))


def times_made(jobs: Iterable[JobReport]) -> dict[int, datetime]:
    """When a schedule's jobs were made, by number."""
    numbered = ((job_number(report.job.facts.id), report.job.facts.creation_time) for report in jobs)
    return {number: made for number, made in numbered if number is not None}


def totals_of(schedule: Schedule, jobs: Sequence[JobReport]) -> RunTotals:
    """The totals of a schedule's own jobs."""
    there = [report for report in jobs if not report.job.deleted]
    completed = sum(report.job.facts.state == COMPLETED for report in there)
    moving = [report.verdict.as_of for report in there if report.job.is_live and report.verdict.as_of]
    pictures = [report.job.picture for report in there]
    made = schedule.facts.jobs_made
    unknown = None if made is None else made - sum(number <= made for number in times_made(jobs))
    return RunTotals(
        made=made,
        unknown=unknown,
        active=len(there) - completed,
        completed=completed,
        deleted=len(jobs) - len(there),
        unread=pictures.count(None),
        counts=sum((picture.counts for picture in pictures if picture), TaskCounts()),
        as_of=min(moving, default=None),
        is_exact=unknown == 0 and all(report.verdict.level == "exact" for report in there),
    )


@dataclass(frozen=True, slots=True)
class ScheduleReport:
    """A job schedule with the jobs it made, latest first, and what can be said of its runs."""

    account: Account
    schedule: Schedule
    verdict: Verdict
    jobs: tuple[JobReport, ...]
    totals: RunTotals
    missed: MissedRuns

    @property
    def recent_job(self) -> JobReport | None:
        """The job that the service calls the recent one, where it is known here."""
        recent = self.schedule.facts.recent_job
        return next((report for report in self.jobs if recent and report.job.key == key_of(recent)), None)


def report_of(account: Account, schedule: Schedule, verdict: Verdict, jobs: Iterable[JobReport]) -> ScheduleReport:
    """A schedule with the jobs under its id."""
    own = own_jobs(schedule, jobs)
    missed = missed_runs(schedule, times_made(own), verdict.as_of or schedule.seen_at)
    return ScheduleReport(account, schedule, verdict, own, totals_of(schedule, own), missed)
