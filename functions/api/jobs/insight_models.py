"""The JSON of job statistics and failure groups and its conversion from the domain. Durations are in seconds."""

from datetime import UTC, datetime

from functions.http.answers import Answer
from shared.domain.core.stamps import from_milliseconds
from shared.domain.jobs.forecasts import JobForecast
from shared.domain.reports.reports import FailuresReport
from shared.domain.tasks.failure_advice import advice_on
from shared.domain.tasks.failures import FailureGroup, Failures
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


class NodeFailuresAnswer(Answer):
    """The number of a group's failed tasks that ran on one node."""

    pool_id: str
    node_id: str
    count: int


class FailureGroupAnswer(Answer):
    """Tasks that failed for one cause; `id` is the value of the task list's `failureGroup` parameter.

    `nodes` are the nodes with the most of them, `otherNodes` counts the tasks that ran elsewhere or never, `tasks` are
    examples.
    """

    id: str
    category: str | None
    code: str | None
    exit_code: int | None
    count: int
    first_time: datetime | None
    last_time: datetime | None
    nodes: list[NodeFailuresAnswer]
    other_nodes: int
    tasks: list[str]
    advice: str | None


class FailuresAnswer(Answer):
    """Failed tasks by cause, most frequent first; `ungrouped` counts those in no group."""

    as_of: datetime | None
    failed: int | None
    groups: list[FailureGroupAnswer]
    ungrouped: int


def insight_answer(forecast: JobForecast) -> InsightAnswer:
    insight, estimate = forecast.insight, forecast.estimate
    return InsightAnswer(
        throughput=ThroughputAnswer(
            per_minute=PerMinuteAnswer(
                last_5_minutes=forecast.per_minute[5],
                last_15_minutes=forecast.per_minute[15],
                last_hour=forecast.per_minute[60],
            ),
            as_of=forecast.as_of.astimezone(UTC),
        ),
        estimate=EstimateAnswer(
            completion_time=estimate.completion.astimezone(UTC) if estimate.completion else None,
            basis=estimate.basis,
            remaining=estimate.remaining,
            reason=estimate.reason,
        ),
        queue_wait=_durations(insight.waits),
        run_time=_durations(insight.runs),
        retries=insight.retries,
        retried_tasks=insight.retried_tasks,
        requeues=insight.requeues,
        requeued_tasks=insight.requeued_tasks,
        slots=SlotsAnswer(
            running=insight.running_slots, preparing=insight.preparing_slots, active=insight.active_slots
        ),
    )


def failures_answer(report: FailuresReport) -> FailuresAnswer:
    failures = report.failures or Failures(ungrouped=report.failed or 0)
    return FailuresAnswer(
        as_of=report.as_of.astimezone(UTC) if report.as_of else None,
        failed=report.failed,
        groups=[_group(group) for group in failures.groups],
        ungrouped=failures.ungrouped,
    )


def _durations(histogram: Histogram) -> DurationsAnswer | None:
    if not histogram.buckets:
        return None
    p50, p90, p99 = (histogram.quantile(percent) / _SECOND for percent in (50, 90, 99))
    return DurationsAnswer(
        tasks=histogram.count,
        mean=histogram.mean / _SECOND,
        p50=p50,
        p90=p90,
        p99=p99,
        relative_error=RELATIVE_ERROR,
    )


def _group(group: FailureGroup) -> FailureGroupAnswer:
    category, code = group.failure
    return FailureGroupAnswer(
        id=group.id,
        category=category or None,
        code=code or None,
        exit_code=group.exit_code,
        count=group.count,
        first_time=_stamp(group.first),
        last_time=_stamp(group.last),
        nodes=[NodeFailuresAnswer(pool_id=pool, node_id=node, count=count) for (pool, node), count in group.nodes],
        other_nodes=group.elsewhere,
        tasks=list(group.examples),
        advice=advice_on(group.failure, group.exit_code),
    )


def _stamp(milliseconds: int) -> datetime | None:
    return from_milliseconds(milliseconds) if milliseconds else None
