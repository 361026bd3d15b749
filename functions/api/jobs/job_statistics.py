"""The JSON of job statistics and its conversion from the domain. Durations are in seconds."""

from datetime import datetime

from functions.http.answers import Answer
from shared.domain.jobs.forecasts import JobForecast
from shared.domain.tasks.histograms import RELATIVE_ERROR, Histogram

_SECOND = 1000  # milliseconds


class PerMinuteAnswer(Answer):
    """Completed tasks per minute, over the whole minutes before `asOf` in which the job existed.

    Null if some of those completions are unknown.
    """

    last_5_minutes: float | None
    last_15_minutes: float | None
    last_hour: float | None


class ThroughputAnswer(Answer):
    """The task completion rate, as of the verdict's time."""

    per_minute: PerMinuteAnswer
    as_of: datetime


class EstimateAnswer(Answer):
    """The estimated completion time of all tasks and its basis, or the reason why no estimate is possible."""

    completion_time: datetime | None
    basis: str | None
    remaining: int
    reason: str | None


class DurationsAnswer(Answer):
    """Durations of tasks in seconds: the mean (of whole milliseconds) and quantiles, accurate to `relativeError`."""

    tasks: int
    mean: float
    p50: float
    p90: float
    p99: float
    relative_error: float


class SlotsAnswer(Answer):
    """Task slots required by tasks in these states."""

    running: int
    preparing: int
    active: int


class InsightAnswer(Answer):
    """A job's completion rate, and the queue wait and run time of the latest run of completed tasks.

    `queueWait` excludes tasks that were retried or requeued. Batch doesn't count a requeue after a preempted or lost
    node, so the wait of such a task includes its earlier run.
    """

    throughput: ThroughputAnswer
    estimate: EstimateAnswer
    queue_wait: DurationsAnswer | None
    run_time: DurationsAnswer | None
    retries: int
    retried_tasks: int
    requeues: int
    requeued_tasks: int
    slots: SlotsAnswer


def statistics_answer(forecast: JobForecast) -> InsightAnswer:
    found = forecast.statistics
    last = forecast.per_minute
    rate = PerMinuteAnswer(last_5_minutes=last[5], last_15_minutes=last[15], last_hour=last[60])
    return InsightAnswer.of(
        found,
        throughput=ThroughputAnswer.of(forecast, per_minute=rate),
        estimate=EstimateAnswer.of(forecast.estimate, completion_time=forecast.estimate.completion),
        queue_wait=_durations(found.waits),
        run_time=_durations(found.runs),
        slots=SlotsAnswer(running=found.running_slots, preparing=found.preparing_slots, active=found.active_slots),
    )


def _durations(histogram: Histogram) -> DurationsAnswer | None:
    if not histogram.buckets:
        return None
    p50, p90, p99 = (histogram.quantile(percent) / _SECOND for percent in (50, 90, 99))
    mean = histogram.mean / _SECOND
    return DurationsAnswer(tasks=histogram.count, mean=mean, p50=p50, p90=p90, p99=p99, relative_error=RELATIVE_ERROR)
