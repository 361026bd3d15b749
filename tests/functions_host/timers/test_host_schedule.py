import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from local.functions_host.timers.schedule import CronSchedule, IntervalSchedule, parse_schedule
from local.functions_host.timers.timer_status import NEVER, TimerStatus, initial_status

NOON = datetime(2026, 11, 21, 12, 0, 0, tzinfo=UTC)
moments = st.integers(0, 7 * 365 * 86400).map(
    lambda seconds: datetime(2024, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
)


def some(low: int, high: int) -> st.SearchStrategy[str]:
    numbers = st.lists(st.integers(low, high), min_size=1, max_size=3).map(lambda found: ",".join(map(str, found)))
    steps = st.integers(1, high).map(lambda step: f"*/{step}")
    ranges = st.tuples(st.integers(low, high), st.integers(low, high)).map(lambda two: f"{min(two)}-{max(two)}")
    return st.one_of(st.just("*"), numbers, steps, ranges)


times_of_day = st.tuples(some(0, 59), some(0, 59), some(0, 23)).map(" ".join)
expressions = st.tuples(times_of_day, some(1, 28), some(1, 12)).map(lambda parts: " ".join((*parts, "*")))


def fits(cron: CronSchedule, at: datetime) -> bool:
    fields = (cron.seconds, cron.minutes, cron.hours, cron.days, cron.months, cron.weekdays)
    values = (at.second, at.minute, at.hour, at.day, at.month, at.isoweekday() % 7)
    return all(value in field for value, field in zip(values, fields, strict=True))


@given(expressions, moments)
def test_the_next_time_is_later_and_fits_every_field(text: str, moment: datetime) -> None:
    cron = parse_schedule(text)
    assert isinstance(cron, CronSchedule)
    due = cron.next_after(moment)
    assert due > moment
    assert fits(cron, due)
    assert cron.next_after(due - timedelta(seconds=1)) == due


@given(some(0, 59), some(0, 59), moments)
@settings(max_examples=settings().max_examples * 3 // 10)
def test_no_earlier_second_would_have_fitted(second: str, minute: str, moment: datetime) -> None:
    cron = parse_schedule(f"{second} {minute} * * * *")
    assert isinstance(cron, CronSchedule)
    at = moment.replace(microsecond=0) + timedelta(seconds=1)
    while not fits(cron, at):
        at += timedelta(seconds=1)
    assert cron.next_after(moment) == at


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0 * * * * *", datetime(2026, 11, 21, 12, 1, tzinfo=UTC)),
        ("*/5 * * * *", datetime(2026, 11, 21, 12, 5, tzinfo=UTC)),
        ("0 30 9 * * Mon-Fri", datetime(2026, 11, 23, 9, 30, tzinfo=UTC)),
        ("0 0 0 1 Jan *", datetime(2027, 1, 1, tzinfo=UTC)),
        ("0 0 0 29 2 *", datetime(2028, 2, 29, tzinfo=UTC)),
        ("10/20 * * * * *", datetime(2026, 11, 21, 12, 0, 10, tzinfo=UTC)),
        ("00:05:00", datetime(2026, 11, 21, 12, 5, tzinfo=UTC)),
        ("1.00:00:00", datetime(2026, 11, 22, 12, 0, tzinfo=UTC)),
    ],
)
def test_known_schedules_are_due_when_azure_says(text: str, expected: datetime) -> None:
    assert parse_schedule(text).next_after(NOON) == expected


@pytest.mark.parametrize(
    "text",
    [
        *("", "* * *", "60 * * * * *", "0 0 24 * * *", "x * * * * *", "*/0 * * * * *", "0 0 0 31 2 *", "5-1 * * * * *"),
        *("0 0 0 * * 7", "-1 * * * * *", "00:00:00", "1:2:3:4", "0 0 0 * * * *", "0 ? * * * *", "\u0661 * * * * *"),
    ],
)
def test_an_invalid_schedule_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_schedule(text)


def test_only_timers_of_a_minute_or_more_are_remembered() -> None:
    assert parse_schedule("0 * * * * *").monitored
    assert not parse_schedule("*/30 * * * * *").monitored
    assert IntervalSchedule(timedelta(minutes=1)).monitored
    assert not IntervalSchedule(timedelta(seconds=59)).monitored


HOURLY = parse_schedule("0 0 * * * *")


def test_a_timer_never_seen_is_due_next() -> None:
    assert initial_status(None, HOURLY, NOON) == TimerStatus(NEVER, NOON + timedelta(hours=1), NOON)


def test_a_run_that_was_missed_leaves_its_due_time_in_the_past() -> None:
    last = NOON - timedelta(hours=3)
    remembered = TimerStatus(last, last + timedelta(hours=1), last)
    assert initial_status(remembered, HOURLY, NOON) == remembered


def test_a_schedule_that_changed_is_not_past_due() -> None:
    last = NOON - timedelta(hours=3)
    remembered = TimerStatus(last, last + timedelta(minutes=5), last)
    assert initial_status(remembered, HOURLY, NOON).next == NOON + timedelta(hours=1)


def test_a_status_from_the_future_is_forgotten() -> None:
    later = NOON + timedelta(days=9)
    remembered = TimerStatus(later, HOURLY.next_after(later), later)
    assert initial_status(remembered, HOURLY, NOON).next == NOON + timedelta(hours=1)


def test_a_status_survives_storage() -> None:
    status = TimerStatus(NEVER, NOON, NOON + timedelta(microseconds=5))
    rendered = status.render()
    assert rendered["Last"] == "0001-01-01T00:00:00Z"
    assert TimerStatus.parse(json.dumps(rendered).encode()) == status
