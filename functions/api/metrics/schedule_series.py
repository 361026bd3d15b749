"""Prometheus series of job schedules and their polls: runs created and missed, tasks, and the age of this data.

A schedule has series while it may still change; an unknown value has no sample.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from functions.api.metrics.series import Gauge
from shared.domain.polling.schedule_rounds import ScheduleRound
from shared.domain.reports.schedule_reports import ScheduleReport

type _Sample = tuple[tuple[str, ...], float]


class SeenScheduleRound(NamedTuple):
    """The last poll of an account's schedules, with the account's id."""

    account: str
    last: ScheduleRound


class SchedulesByState(NamedTuple):
    """The number of an account's schedules in each state."""

    account: str
    numbers: Counter[str]


def by_state(reports: Sequence[ScheduleReport]) -> list[SchedulesByState]:
    """Returns the schedules of all accounts by state, without deleted ones."""
    accounts = {report.account.id: Counter[str]() for report in reports}
    for report in reports:
        if not report.schedule.deleted:
            accounts[report.account.id][report.schedule.facts.state] += 1
    return [SchedulesByState(account, numbers) for account, numbers in accounts.items()]


def _states(seen: SchedulesByState) -> Iterator[_Sample]:
    for state, number in sorted(seen.numbers.items()):
        yield (seen.account, state), number


def _of_round(name: str, meaning: str, value: Callable[[ScheduleRound], float]) -> Gauge[SeenScheduleRound]:
    def samples(seen: SeenScheduleRound) -> Iterator[_Sample]:
        yield (seen.account,), value(seen.last)

    return Gauge(name, meaning, ("account",), samples)


def _gauge(name: str, meaning: str, value: Callable[[ScheduleReport], float | None]) -> Gauge[ScheduleReport]:
    """Returns a gauge with one sample per schedule that has a value."""

    def samples(report: ScheduleReport) -> Iterator[_Sample]:
        found = value(report) if report.schedule.is_live else None
        if found is not None:
            yield (report.account.id, report.schedule.facts.id), found

    return Gauge(name, meaning, ("account", "schedule"), samples)


def _next_run(report: ScheduleReport) -> float | None:
    moment = report.schedule.facts.next_run_time
    return moment.timestamp() if moment else None


def _last_run(report: ScheduleReport) -> float | None:
    return report.recent_job.job.facts.creation_time.timestamp() if report.recent_job else None


SCHEDULE_ROUND_SERIES = (
    _of_round(
        "azbatch_collector_schedules_up",
        "1 if the last look at the account's job schedules succeeded.",
        lambda last: not last.problem,
    ),
    _of_round(
        "azbatch_collector_schedules_calls",
        "Requests to Batch in the last look at job schedules.",
        lambda last: last.batch_calls,
    ),
)
SCHEDULE_STATE_SERIES = (Gauge("azbatch_schedules", "Job schedules by state.", ("account", "state"), _states),)
SCHEDULE_SERIES = (
    _gauge("azbatch_schedule_runs", "Jobs that a schedule has made.", lambda report: report.totals.made),
    _gauge("azbatch_schedule_missed_runs", "Runs that were lost.", lambda report: report.missed.count),
    _gauge("azbatch_schedule_active_jobs", "Its jobs that haven't completed.", lambda report: report.totals.active),
    _gauge(
        "azbatch_schedule_running_tasks",
        "Running tasks of its jobs.",
        lambda report: report.totals.counts.running,
    ),
    _gauge("azbatch_schedule_next_run_timestamp_seconds", "When the next run falls due.", _next_run),
    _gauge("azbatch_schedule_last_run_timestamp_seconds", "When the recent job was made.", _last_run),
    _gauge(
        "azbatch_schedule_as_of_timestamp_seconds",
        "As of when the schedule is.",
        lambda report: report.verdict.as_of.timestamp() if report.verdict.as_of else None,
    ),
)
