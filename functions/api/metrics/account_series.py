"""Prometheus series of a watched account: jobs by state, and the outcome of its last rounds.

A value that no round has recorded, such as a date before the first round, has no sample.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime

from prometheus_client.metrics_core import CounterMetricFamily

from functions.api.metrics.series import Family, Samples, Value, timestamp
from shared.domain.polling.pool_rounds import PoolRound
from shared.domain.polling.rounds import WHOLE, Round
from shared.domain.polling.schedule_rounds import ScheduleRound
from shared.domain.reports.pool_tasks import PoolTasks
from shared.domain.reports.reports import AccountReport

ACCOUNT_FAMILIES = (
    Family("azbatch_jobs", "Jobs by state.", ("state",)),
    Family("azbatch_account_tasks_started_total", "Tasks that started.", kind=CounterMetricFamily),
    Family("azbatch_account_tasks_completed_total", "Tasks that completed.", kind=CounterMetricFamily),
    Family("azbatch_account_tasks_failed_total", "Tasks that completed and failed.", kind=CounterMetricFamily),
    Family("azbatch_account_task_retries_total", "Retries of tasks.", kind=CounterMetricFamily),
    Family(
        "azbatch_account_waiting_task_seconds_total",
        "Time that tasks waited, by cause.",
        ("cause",),
        kind=CounterMetricFamily,
    ),
    Family(
        "azbatch_unreadable_jobs",
        "Stored jobs whose rows can't be decoded; they are missing from all series but counters.",
    ),
    Family("azbatch_collector_last_success_timestamp_seconds", "Date of the last complete job list."),
    Family("azbatch_collector_enabled", "1 if monitoring of the account is switched on."),
    Family("azbatch_collector_up", "1 if the last round of the account succeeded."),
    Family("azbatch_collector_interval_seconds", "The time between two rounds of the account."),
    Family("azbatch_collector_duration_seconds", "Duration of the last round."),
    Family("azbatch_collector_calls", "Requests to Batch in the last round."),
    Family("azbatch_collector_polled_jobs", "Jobs that the last round polled."),
    Family("azbatch_collector_failed_jobs", "Jobs whose last poll failed."),
    Family("azbatch_collector_queued_jobs", "Jobs that rounds left to the queue."),
    Family("azbatch_collector_failed_rounds", "Consecutive rounds that failed."),
    Family("azbatch_collector_backoff_until_timestamp_seconds", "End of the back-off that Batch asked for."),
)
POOL_ROUND_FAMILIES = (
    Family("azbatch_collector_pools_up", "1 if the last round over the account's pools succeeded."),
    Family("azbatch_collector_pools_calls", "Requests to Batch in the last round over pools."),
)
SCHEDULE_ROUND_FAMILIES = (
    Family("azbatch_collector_schedules_up", "1 if the last poll of the account's job schedules succeeded."),
    Family("azbatch_collector_schedules_calls", "Requests to Batch in the last poll of job schedules."),
)


def account_samples(report: AccountReport, now: datetime) -> Samples:
    """Returns the samples of an account as of `now`."""
    last = report.last_round
    values: dict[str, Value] = {
        "azbatch_jobs": dict(sorted(report.jobs.items())),
        "azbatch_unreadable_jobs": report.unreadable_jobs,
        "azbatch_collector_enabled": report.watch.monitoring.enabled,
        "azbatch_collector_up": bool(last and last.succeeded),
        "azbatch_collector_interval_seconds": report.watch.interval.total_seconds(),
    }
    if last:
        values |= counter_values("account", report.tasks.all) | _round_values(last, now)
    return Samples((report.account.id,), values)


def counter_values(subject: str, tasks: PoolTasks) -> dict[str, Value]:
    """Returns the values of the counters of an account or pool."""
    counters = tasks.counters
    return {
        f"azbatch_{subject}_waiting_task_seconds_total": {
            cause: number / 1000 for cause, number in sorted(tasks.waited.items())
        },
        f"azbatch_{subject}_tasks_started_total": counters.started,
        f"azbatch_{subject}_tasks_completed_total": counters.completed,
        f"azbatch_{subject}_tasks_failed_total": counters.failed,
        f"azbatch_{subject}_task_retries_total": counters.retried,
    }


def _round_values(last: Round, now: datetime) -> dict[str, Value]:
    return {
        "azbatch_collector_last_success_timestamp_seconds": timestamp(last.jobs_as_of),
        "azbatch_collector_duration_seconds": (last.finished_at - last.started_at).total_seconds(),
        "azbatch_collector_calls": last.batch_calls,
        "azbatch_collector_polled_jobs": last.jobs_polled,
        "azbatch_collector_failed_jobs": len(last.failures),
        "azbatch_collector_queued_jobs": sum(key != WHOLE and last.is_queued(key, now) for key in last.queued),
        "azbatch_collector_failed_rounds": last.failed_rounds,
        "azbatch_collector_backoff_until_timestamp_seconds": timestamp(last.backoff_until),
    }


def round_samples(subject: str, rounds: Mapping[str, PoolRound | ScheduleRound | None]) -> Iterable[Samples]:
    """Yields the samples of the last rounds over pools or schedules, by account; none before the first round."""
    for account, last in rounds.items():
        if last:
            up, calls = f"azbatch_collector_{subject}_up", f"azbatch_collector_{subject}_calls"
            yield Samples((account,), {up: not last.problem, calls: last.batch_calls})
