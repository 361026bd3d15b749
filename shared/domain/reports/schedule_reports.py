"""Totals of a job schedule's jobs: the number of runs, and tasks by state, from known jobs alone."""

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
    """Totals of the jobs that a schedule created: `made` by its own count (None: unknown), the rest over known jobs.

    `unknown` counts created jobs that aren't known here and may have tasks (None: unknown, too). `deleted` jobs were
    deleted later. `counts` are the tasks of the others, and `unread` is how many of these have no counts. `as_of` is
    the oldest as of among jobs whose tasks may still change, None without any. `is_exact` means that all created jobs
    are known, each with exact counts.
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
    """Returns jobs that schedules created, by the schedule's key."""
    found: dict[str, list[JobReport]] = defaultdict(list)
    for report in reports:
        if report.job.facts.schedule_id is not None:
            found[key_of(report.job.facts.schedule_id)].append(report)
    return found


def own_jobs(schedule: Schedule, jobs: Iterable[JobReport], as_of: datetime) -> tuple[JobReport, ...]:
    """Returns the jobs that a schedule created, latest first, without those of another schedule with the same id.

    It had created its numbered jobs by `as_of`, when it was known to be as stored. So one of these that is younger was
    created by a schedule that has the id since.
    """
    made = schedule.facts.jobs_made or 0
    own = [
        report
        for report in jobs
        if report.job.facts.creation_time >= schedule.facts.creation_time
        and not (_is_younger(report, as_of) and (job_number(report.job.facts.id) or made + 1) <= made)
    ]
    return tuple(sorted(own, key=lambda report: (report.job.facts.creation_time, report.job.key), reverse=True))


def _is_younger(report: JobReport, as_of: datetime) -> bool:
    return report.job.facts.creation_time.replace(microsecond=0) > as_of  # dates of responses are whole seconds


def times_made(jobs: Iterable[JobReport]) -> dict[int, datetime]:
    """Returns the creation times of a schedule's jobs, by number."""
    numbered = ((job_number(report.job.facts.id), report.job.facts.creation_time) for report in jobs)
    return {number: made for number, made in numbered if number is not None}


def totals_of(schedule: Schedule, jobs: Sequence[JobReport]) -> RunTotals:
    """Returns the totals of a schedule's own jobs."""
    there = [report for report in jobs if not report.job.deleted]
    completed = sum(report.job.facts.state == COMPLETED for report in there)
    moving = [report.verdict.as_of for report in there if report.job.is_live and report.verdict.as_of]
    snapshots = [report.job.snapshot for report in there]
    made = schedule.facts.jobs_made
    unknown = None if made is None else made - sum(number <= made for number in times_made(jobs))
    return RunTotals(
        made=made,
        unknown=unknown,
        active=len(there) - completed,
        completed=completed,
        deleted=len(jobs) - len(there),
        unread=snapshots.count(None),
        counts=sum((snapshot.counts for snapshot in snapshots if snapshot), TaskCounts()),
        as_of=min(moving, default=None),
        is_exact=unknown == 0 and all(report.verdict.level == "exact" for report in there),
    )


@dataclass(frozen=True, slots=True)
class ScheduleReport:
    """A job schedule with the jobs it created, latest first, and statements about its runs."""

    account: Account
    schedule: Schedule
    verdict: Verdict
    jobs: tuple[JobReport, ...]
    totals: RunTotals
    missed: MissedRuns

    @property
    def recent_job(self) -> JobReport | None:
        """Returns the job that the service reports as the recent one, where it is known here."""
        recent = self.schedule.facts.recent_job
        return next((report for report in self.jobs if recent and report.job.key == key_of(recent)), None)


def report_of(account: Account, schedule: Schedule, verdict: Verdict, jobs: Iterable[JobReport]) -> ScheduleReport:
    """Returns the report of a schedule, given the jobs under its id."""
    as_of = verdict.as_of or schedule.seen_at
    own = own_jobs(schedule, jobs, as_of)
    missed = missed_runs(schedule, times_made(own), as_of)
    return ScheduleReport(account, schedule, verdict, own, totals_of(schedule, own), missed)
