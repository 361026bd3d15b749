"""Prometheus series of a job: task counts, their confidence, and statistics. No series is per task.

A job has series from its first read until its deletion, or until some hours after its completion. Completed jobs no
longer change, and Prometheus keeps past samples.
"""

from datetime import datetime, timedelta

from prometheus_client.metrics_core import HistogramMetricFamily

from functions.api.metrics.series import Durations, Family, Samples, Value, timestamp
from shared.domain.jobs.forecasts import JobForecast
from shared.domain.jobs.jobs import Job
from shared.domain.reports.reports import JobReport
from shared.domain.tasks.tasks import STATES

SHOWN_AFTER_COMPLETION = timedelta(hours=6)
JOB_FAMILIES = (
    Family("azbatch_job_tasks", "Tasks of a job by state.", ("state",)),
    Family("azbatch_job_completed_tasks", "Completed tasks of a job by result.", ("result",)),
    Family("azbatch_job_failed_tasks", "Failed tasks of a job by category.", ("category",)),
    Family("azbatch_job_waiting_tasks", "Waiting tasks of a job by the cause for which they wait.", ("cause",)),
    Family("azbatch_job_as_of_timestamp_seconds", "Unix time of a job's task counts."),
    Family("azbatch_job_exact", "1 if a job's counts were exact as of that time."),
    Family("azbatch_job_task_read_seconds", "Seconds that the last read of a job's task list waited for pages."),
    Family("azbatch_job_task_read_requests", "Requests to Batch of the last read of a job's task list."),
    Family("azbatch_job_task_read_pages", "Pages of the last read of a job's task list."),
    Family(
        "azbatch_job_estimated_completion_timestamp_seconds",
        "Estimated time at which all tasks of a job will have completed.",
    ),
    Family("azbatch_job_task_retries", "Retries of a job's tasks."),
    Family("azbatch_job_task_requeues", "Requeues of a job's tasks that a user asked for."),
    Family("azbatch_job_slots", "Task slots required by a job's tasks, by their state.", ("state",)),
    Family("azbatch_job_measured_runs", "Runs of a job's tasks that the node agent measured."),
    Family(
        "azbatch_job_efficiency_ratio",
        "Used share of what the task slots of a job's measured runs offer, over their time.",
        ("resource",),
    ),
    Family(
        "azbatch_task_queue_wait_seconds",
        "From creation to start, by whole milliseconds, of tasks that completed without a retry or requeue that Batch"
        " counts.",
        kind=HistogramMetricFamily,
    ),
    Family(
        "azbatch_task_run_seconds",
        "From start to end, in whole milliseconds, of the latest run of tasks that completed.",
        kind=HistogramMetricFamily,
    ),
)


def job_samples(report: JobReport, now: datetime) -> Samples | None:
    """Returns the samples of a job, or None for a job without series."""
    snapshot = report.job.snapshot
    if snapshot is None or not _is_shown(report.job, now):
        return None
    counts, read = snapshot.counts, snapshot.read
    values: dict[str, Value] = {
        "azbatch_job_tasks": {state: getattr(counts, state) for state in STATES},
        "azbatch_job_completed_tasks": {"success": counts.succeeded, "failure": counts.failed},
        "azbatch_job_as_of_timestamp_seconds": timestamp(report.verdict.as_of or snapshot.as_of),
        "azbatch_job_exact": report.verdict.level == "exact",
    }
    if snapshot.failed_tasks is not None:
        values["azbatch_job_failed_tasks"] = {name: float(failed) for name, failed in snapshot.failed_tasks.items()}
    if report.waiting:
        values["azbatch_job_waiting_tasks"] = {report.waiting.cause: float(counts.active)}
    if read:
        values["azbatch_job_task_read_seconds"] = read.seconds
        values["azbatch_job_task_read_requests"] = read.requests
        values["azbatch_job_task_read_pages"] = read.pages
    if found := report.job.efficiency:
        shares = {"cpu": found.cpu, "memory": found.memory, "gpu": found.gpu}
        values["azbatch_job_measured_runs"] = found.runs
        values["azbatch_job_efficiency_ratio"] = {name: share for name, share in shares.items() if share is not None}
    if forecast := report.forecast:
        values |= _statistics_values(forecast)
    return Samples((report.account.id, report.job.facts.id), values)


def _is_shown(job: Job, now: datetime) -> bool:
    return job.is_live or (not job.deleted and now < job.facts.state_transition_time + SHOWN_AFTER_COMPLETION)


def _statistics_values(forecast: JobForecast) -> dict[str, Value]:
    found = forecast.statistics
    return {
        "azbatch_job_estimated_completion_timestamp_seconds": timestamp(forecast.estimate.completion),
        "azbatch_job_task_retries": found.retries,
        "azbatch_job_task_requeues": found.requeues,
        "azbatch_job_slots": {
            "running": found.running_slots,
            "preparing": found.preparing_slots,
            "active": found.active_slots,
        },
        "azbatch_task_queue_wait_seconds": Durations.of(found.waits),
        "azbatch_task_run_seconds": Durations.of(found.runs),
    }
