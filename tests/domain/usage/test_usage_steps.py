"""Ranges of node seconds: within what ledgers keep, up to the end of today."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from shared.domain.usage.usage_steps import usage_range, usage_steps, usage_total

_NOW = datetime(2026, 11, 3, 10, 30, tzinfo=UTC)
_TOMORROW = datetime(2026, 11, 4, tzinfo=UTC)
_LATEST = datetime(9999, 12, 31, 23, 59, tzinfo=timezone(timedelta(hours=-14)))  # of no year in UTC


@pytest.mark.parametrize("since", [_NOW + timedelta(days=1), _NOW + timedelta(days=400), _LATEST])
def test_a_range_in_the_future_has_no_step_and_ends_with_today(since: datetime) -> None:
    wanted = usage_range(since, None, None, _NOW)
    steps = usage_steps(wanted, {})
    total = usage_total(wanted, steps)
    assert (steps, total.since, total.until) == ([], _TOMORROW, _TOMORROW)


def test_a_range_of_all_times_has_the_days_that_are_kept() -> None:
    wanted = usage_range(datetime(1, 1, 1, tzinfo=UTC), _LATEST, timedelta(days=1), _NOW)
    assert [step.since.day for step in usage_steps(wanted, {})] == [30, 31, 1, 2, 3]
