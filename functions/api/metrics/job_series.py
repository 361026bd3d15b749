"""Prometheus series of a job: task counts, their confidence, and statistics. No series is per task.

A job has series from its first read until its deletion, or until some hours after its completion. Completed jobs no
longer change, and Prometheus keeps past samples.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from functions.api.metrics.series import Durations, Gauge, MetricHistogram
from shared.domain.jobs.forecasts import JobForecast
from shared.domain.jobs.jobs import Job
from shared.domain.jobs.snapshots import TaskRead
from shared.domain.reports.reports import JobReport
from shared.domain.tasks.tasks import STATES, TaskCounts

SHOWN_AFTER_COMPLETION = timedelta(hours=6)
_LABELS = ("account", "job")

type _Sample = tuple[tuple[str, ...], float]


@dataclass(frozen=True, slots=True)
class _Insight:
    """The part of a job's forecast that the series need, about a tenth of its size, as there may be many jobs."""

    waits: Durations
    runs: Durations
    completion: datetime | None
    retries: int
    requeues: int
    slots: tuple[tuple[str, int], ...]

    @classmethod
    def of(cls, forecast: JobForecast) -> "_Insight":
        told = forecast.insight
        return cls(
            Durations.of(told.waits),
            Durations.of(told.runs),
            forecast.estimate.completion,
            told.retries,
            told.requeues,
            (("running", told.running_slots), ("preparing", told.preparing_slots), ("active", told.active_slots)),
        )


@dataclass(frozen=True, slots=True)
class SeenJob:
    """The values of one job's series; `labels` are the ids of its account and of the job."""

    labels: tuple[str, str]
    counts: TaskCounts
    as_of: datetime
    exact: bool
    insight: _Insight | None
    read: TaskRead | None

    @classmethod
    def of(cls, report: JobReport, now: datetime) -> "SeenJob | None":
        """Returns the values, or None for a job without series."""
        picture = report.job.picture
        if picture is None or not _is_shown(report.job, now):
            return None
        return cls(
            (report.account.id, report.job.facts.id),
            picture.counts,
            report.verdict.as_of or picture.as_of,
            report.verdict.level == "exact",
            _Insight.of(report.forecast) if report.forecast else None,
            picture.read,
        )


def _is_shown(job: Job, now: datetime) -> bool:
    return job.is_live or (not job.deleted and now < job.facts.state_transition_time + SHOWN_AFTER_COMPLETION)


def _tasks(job: SeenJob) -> Iterator[_Sample]:
    for state in STATES:
        yield (*job.labels, state), getattr(job.counts, state)


def _completed(job: SeenJob) -> Iterator[_Sample]:
    yield (*job.labels, "success"), job.counts.succeeded
    yield (*job.labels, "failure"), job.counts.failed


def _slots(job: SeenJob) -> Iterator[_Sample]:
    for state, number in job.insight.slots if job.insight else ():
        yield (*job.labels, state), number


def _completion(insight: _Insight) -> float | None:
    return insight.completion.timestamp() if insight.completion else None


def _insight_gauge(name: str, meaning: str, value: Callable[[_Insight], float | None]) -> Gauge[SeenJob]:
    """Returns a gauge with one sample per job whose statistics include the value."""

    def samples(job: SeenJob) -> Iterator[_Sample]:
        found = value(job.insight) if job.insight else None
        if found is not None:
            yield job.labels, found

    return Gauge(name, meaning, _LABELS, samples)


def _read_gauge(name: str, meaning: str, value: Callable[[TaskRead], float]) -> Gauge[SeenJob]:
    """Returns a gauge with one sample per job whose last task read was measured."""
    return Gauge(name, meaning, _LABELS, lambda job: [(job.labels, value(job.read))] if job.read else [])


def _spread(name: str, meaning: str, durations: Callable[[_Insight], Durations]) -> MetricHistogram[SeenJob]:
    return MetricHistogram(
        name, meaning, _LABELS, lambda job: [(job.labels, durations(job.insight))] if job.insight else []
    )


JOB_SERIES: tuple[Gauge[SeenJob] | MetricHistogram[SeenJob], ...] = (
    Gauge("azbatch_job_tasks", "Tasks of a job by state.", (*_LABELS, "state"), _tasks),
    Gauge("azbatch_job_completed_tasks", "Completed tasks of a job by result.", (*_LABELS, "result"), _completed),
    Gauge(
        "azbatch_job_as_of_timestamp_seconds",
        "As of when a job's counts are.",
        _LABELS,
        lambda job: [(job.labels, job.as_of.timestamp())],
    ),
    Gauge(
        "azbatch_job_exact",
        "1 if a job's counts were exact as of when they are.",
        _LABELS,
        lambda job: [(job.labels, job.exact)],
    ),
    _read_gauge(
        "azbatch_job_task_read_seconds",
        "Seconds that the last read of a job's task list waited for pages.",
        lambda read: read.seconds,
    ),
    _read_gauge(
        "azbatch_job_task_read_requests",
        "Requests to Batch of the last read of a job's task list.",
        lambda read: read.requests,
    ),
    _read_gauge("azbatch_job_task_read_pages", "Pages of the last read of a job's task list.", lambda read: read.pages),
    _insight_gauge(
        "azbatch_job_estimated_completion_timestamp_seconds",
        "When all tasks of a job will have completed if they go on as they did.",
        _completion,
    ),
    _insight_gauge("azbatch_job_task_retries", "Retries of a job's tasks.", lambda insight: insight.retries),
    _insight_gauge(
        "azbatch_job_task_requeues",
        "Requeues of a job's tasks that a user asked for.",
        lambda insight: insight.requeues,
    ),
    Gauge("azbatch_job_slots", "Slots that tasks in a state require.", (*_LABELS, "state"), _slots),
    _spread(
        "azbatch_task_queue_wait_seconds",
        "From creation to start, by whole milliseconds, of tasks that completed without a retry or requeue that Batch"
        " counts.",
        lambda insight: insight.waits,
    ),
    _spread(
        "azbatch_task_run_seconds",
        "From start to end, in whole milliseconds, of the latest run of tasks that completed.",
        lambda insight: insight.runs,
    ),
)
