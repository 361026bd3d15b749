from datetime import UTC, datetime, timedelta

import pytest

from shared.domain.cost.cost_ranges import CostRange, cost_range
from shared.errors import HistoryRangeError

_NOW = datetime(2026, 11, 30, 5, 30, tzinfo=UTC)
_DAY, _HOUR = timedelta(days=1), timedelta(hours=1)


def _day(day: int, hour: int = 0) -> datetime:
    return datetime(2026, 11, day, hour, tzinfo=UTC)


def test_without_parameters_the_range_is_the_last_thirty_days_with_today() -> None:
    found = cost_range(None, None, None, _NOW)
    assert (found.since, found.until, found.step) == (_day(1), datetime(2026, 12, 1, tzinfo=UTC), _DAY)


def test_days_that_are_not_stored_are_missing() -> None:
    assert CostRange(range(5, 9)).missing_from({4, 6, 8, 9}) == [5, 7]


def test_hours_are_those_of_seven_days_at_most() -> None:
    found = cost_range(None, None, _HOUR, _NOW)
    assert found.hourly
    assert found.until - found.since == 7 * _DAY
    with pytest.raises(HistoryRangeError, match="The range has 9 days, and with this step it may have 7: "):
        cost_range(_day(22), None, _HOUR, _NOW)


def test_steps_of_several_days_begin_with_the_range_and_end_with_it() -> None:
    found = cost_range(_day(10, 5), None, 7 * _DAY, _NOW)
    starts = sorted({found.step_of(_day(day, 13)) for day in range(10, 31)})
    assert starts == [_day(10), _day(17), _day(24)]
    assert [found.end_of(start) for start in starts] == [_day(17), _day(24), datetime(2026, 12, 1, tzinfo=UTC)]


def test_the_last_step_is_cut_at_the_end_of_the_range() -> None:
    found = CostRange(range(100, 110), 7 * _DAY)
    assert found.end_of(found.since + 7 * _DAY) == found.until


@pytest.mark.parametrize("step", [timedelta(0), timedelta(minutes=30), 2 * _HOUR, _DAY + _HOUR, -_DAY])
def test_other_steps_are_refused_with_examples(step: timedelta) -> None:
    with pytest.raises(HistoryRangeError, match="such as PT1H, P1D or P7D"):
        cost_range(None, None, step, _NOW)


def test_a_range_that_ends_before_it_begins_is_refused() -> None:
    with pytest.raises(HistoryRangeError, match="begins after it ends"):
        cost_range(_day(20), _day(20), None, _NOW)
    with pytest.raises(HistoryRangeError, match="begins after it ends"):
        cost_range(_day(20, 13), _day(20, 5), None, _NOW)


def test_a_range_ends_with_today_and_one_that_begins_tomorrow_is_refused() -> None:
    end = datetime(2026, 12, 31, tzinfo=UTC)
    assert cost_range(_day(1), end, None, _NOW).until == datetime(2026, 12, 1, tzinfo=UTC)
    assert cost_range(None, None, None, _day(30)).until == datetime(2026, 12, 1, tzinfo=UTC)
    with pytest.raises(HistoryRangeError, match="in the future"):
        cost_range(datetime(2026, 12, 1, tzinfo=UTC), end, None, _NOW)


def test_a_range_that_ends_before_1970_is_refused_and_one_that_begins_before_is_cut() -> None:
    with pytest.raises(HistoryRangeError, match="ends before 1970"):
        cost_range(datetime(1960, 1, 1, tzinfo=UTC), datetime(1960, 5, 31, tzinfo=UTC), None, _NOW)
    assert cost_range(None, datetime(1970, 1, 5, tzinfo=UTC), None, _NOW).days == range(4)


def test_a_step_longer_than_time_itself_ends_with_the_range() -> None:
    found = cost_range(None, None, timedelta(days=999_999_999), _NOW)
    assert found.end_of(found.step_of(_day(12))) == found.until
