"""Prometheus series of a watched account: jobs by state, and the outcome of its last round.

A value that no round has recorded, such as a date before the first round, has no sample.
"""

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import NamedTuple

from functions.api.metrics.series import Gauge
from shared.domain.polling.rounds import WHOLE, Round
from shared.domain.reports.reports import AccountReport

type _Sample = tuple[tuple[str, ...], float]


class SeenAccount(NamedTuple):
    """An account as of `now`."""

    report: AccountReport
    now: datetime


def _jobs(seen: SeenAccount) -> Iterator[_Sample]:
    for state, number in sorted(seen.report.jobs.items()):
        yield (seen.report.account.id, state), number


def _gauge(name: str, meaning: str, value: Callable[[SeenAccount], float | None]) -> Gauge[SeenAccount]:
    """Returns a gauge with one sample per account that has a value."""

    def samples(seen: SeenAccount) -> Iterator[_Sample]:
        found = value(seen)
        if found is not None:
            yield (seen.report.account.id,), found

    return Gauge(name, meaning, ("account",), samples)


def _of_round(name: str, meaning: str, value: Callable[[Round, datetime], float | None]) -> Gauge[SeenAccount]:
    """Returns a gauge of a value of the account's last round."""

    def of_last(seen: SeenAccount) -> float | None:
        last = seen.report.last_round
        return value(last, seen.now) if last else None

    return _gauge(name, meaning, of_last)


def _timestamp(moment: datetime | None) -> float | None:
    return moment.timestamp() if moment else None


def _queued(last: Round, now: datetime) -> int:
    return sum(key != WHOLE and last.is_queued(key, now) for key in last.queued)


ACCOUNT_SERIES = (
    Gauge("azbatch_jobs", "Jobs by state.", ("account", "state"), _jobs),
    _gauge(
        "azbatch_unreadable_jobs",
        "Stored jobs that can't be read, and are told nowhere else.",
        lambda seen: seen.report.unreadable_jobs,
    ),
    _of_round(
        "azbatch_collector_last_success_timestamp_seconds",
        "Date of the last complete job list.",
        lambda last, _: _timestamp(last.jobs_as_of),
    ),
    _gauge(
        "azbatch_collector_enabled",
        "1 if monitoring of the account is switched on.",
        lambda seen: seen.report.watch.monitoring.enabled,
    ),
    _gauge(
        "azbatch_collector_up",
        "1 if the last round of the account succeeded.",
        lambda seen: bool(seen.report.last_round and seen.report.last_round.succeeded),
    ),
    _gauge(
        "azbatch_collector_interval_seconds",
        "The time between two rounds of the account.",
        lambda seen: seen.report.watch.interval.total_seconds(),
    ),
    _of_round(
        "azbatch_collector_duration_seconds",
        "How long the last round took.",
        lambda last, _: (last.finished_at - last.started_at).total_seconds(),
    ),
    _of_round("azbatch_collector_calls", "Requests to Batch in the last round.", lambda last, _: last.batch_calls),
    _of_round("azbatch_collector_polled_jobs", "Jobs that the last round polled.", lambda last, _: last.jobs_polled),
    _of_round("azbatch_collector_failed_jobs", "Jobs whose last poll failed.", lambda last, _: len(last.failures)),
    _of_round("azbatch_collector_queued_jobs", "Jobs that rounds left to the queue.", _queued),
    _of_round("azbatch_collector_failed_rounds", "Rounds in a row that failed.", lambda last, _: last.failed_rounds),
    _of_round(
        "azbatch_collector_backoff_until_timestamp_seconds",
        "Until when Batch asked the last round to leave the account alone.",
        lambda last, _: _timestamp(last.backoff_until),
    ),
)
