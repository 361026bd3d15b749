"""Prometheus series of job schedules: runs created and missed, tasks, and the age of this data.

A schedule has series while it may still change; an unknown value has no sample.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from functions.api.metrics.series import Family, Samples, timestamp
from shared.domain.reports.schedule_reports import ScheduleReport

SCHEDULE_STATE_FAMILIES = (Family("azbatch_schedules", "Job schedules by state.", ("state",)),)
SCHEDULE_FAMILIES = (
    Family("azbatch_schedule_runs", "Jobs that a schedule has created."),
    Family("azbatch_schedule_missed_runs", "Missed runs of a schedule."),
    Family("azbatch_schedule_active_jobs", "Jobs of a schedule that haven't completed."),
    Family("azbatch_schedule_running_tasks", "Running tasks of a schedule's jobs."),
    Family("azbatch_schedule_next_run_timestamp_seconds", "Time of the next run."),
    Family("azbatch_schedule_last_run_timestamp_seconds", "Time at which the latest job was created."),
    Family("azbatch_schedule_as_of_timestamp_seconds", "Unix time of a schedule's values."),
)


def state_samples(reports: Sequence[ScheduleReport]) -> Iterator[Samples]:
    """Yields the numbers of each account's schedules by state, without deleted ones."""
    accounts = {report.account.id: Counter[str]() for report in reports}
    for report in reports:
        if not report.schedule.deleted:
            accounts[report.account.id][report.schedule.facts.state] += 1
    for account, numbers in accounts.items():
        yield Samples((account,), {"azbatch_schedules": dict(sorted(numbers.items()))})


def schedule_samples(report: ScheduleReport) -> Samples:
    """Returns the samples of a job schedule; none once it can't change any more."""
    facts, totals, recent = report.schedule.facts, report.totals, report.recent_job
    labels = (report.account.id, facts.id)
    last_run = recent.job.facts.creation_time if recent else None
    if not report.schedule.is_live:
        return Samples(labels, {})
    return Samples(
        labels,
        {
            "azbatch_schedule_runs": totals.made,
            "azbatch_schedule_missed_runs": report.missed.count,
            "azbatch_schedule_active_jobs": totals.active,
            "azbatch_schedule_running_tasks": totals.counts.running,
            "azbatch_schedule_next_run_timestamp_seconds": timestamp(facts.next_run_time),
            "azbatch_schedule_last_run_timestamp_seconds": timestamp(last_run),
            "azbatch_schedule_as_of_timestamp_seconds": timestamp(report.verdict.as_of),
        },
    )
