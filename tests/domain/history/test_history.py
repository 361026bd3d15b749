"""History answers, against brute force over all samples, however they were stored; and which ranges are refused."""

from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.core.stamps import format_duration, from_milliseconds, to_milliseconds
from shared.domain.history.grains import MINUTES, QUARTERS, Grain, HistoryRetention
from shared.domain.history.points import Point, Series, points_of, series_of
from shared.domain.history.samples import Columns, rows_of
from shared.domain.jobs.job_samples import JobSample, job_sample_of
from shared.domain.tasks.tasks import TaskCounts
from shared.errors import HistoryRangeError

NOW = datetime(2026, 11, 21, 7, 30, 20, tzinfo=UTC)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
KEPT = HistoryRetention(minutes=7 * DAY, quarters=90 * DAY)
FOREVER = HistoryRetention(minutes=3650 * DAY, quarters=3650 * DAY)


def stored(rows: dict[str, Columns], grain: Grain, keys: tuple[str, str] | None) -> list[tuple[int, str]]:
    """Returns the samples that a store yields for the rows of a range."""
    first, last = keys or ("", "")
    return sorted(
        (int(row[1:]) * grain.slots + int(column[1:]), text)
        for row, columns in rows.items()
        if first <= row <= last
        for column, text in columns.items()
    )


def expected(samples: list[JobSample], end: int, tolerance: timedelta) -> Point[TaskCounts]:
    """Computes the expected point from all samples."""
    last = next((one for one in reversed(samples) if one.at <= end), None)
    if last is None or end - last.through > tolerance / timedelta(milliseconds=1):
        return Point(from_milliseconds(end))
    moments = [moment for moment in range(last.at, last.through + 1, 1000) if moment <= end]
    exact = [moment for moment in moments if last.exact_through is not None and moment <= last.exact_through]
    lag = timedelta() if last.doubted else tolerance
    if exact and exact[-1] >= end - lag / timedelta(milliseconds=1):
        return Point(from_milliseconds(end), from_milliseconds(exact[-1]), exact=True, numbers=last.numbers)
    return Point(from_milliseconds(end), from_milliseconds(moments[-1]), exact=False, numbers=last.numbers)


@st.composite
def histories(draw: st.DrawFn) -> list[JobSample]:
    """Draws samples in order; some begin immediately after another, some hold until the next or for hours."""
    begun, samples = to_milliseconds(NOW) - 86_400_000 * 2, list[JobSample]()
    seconds = st.integers(0, 120) | st.integers(0, 7_200) | st.sampled_from([0, 20, 60, 3_600, 86_400])
    for number in range(draw(st.integers(1, 25))):
        begun += draw(seconds) * 1000
        through = begun + draw(seconds) * 1000
        exact = draw(st.none() | st.integers(begun // 1000, through // 1000).map(lambda second: second * 1000))
        samples.append(JobSample(begun, through, exact, TaskCounts(number), draw(st.booleans())))
    return samples


def read(_slot: int, text: str) -> JobSample | None:
    return job_sample_of(text) if text != "nonsense" else None


@given(
    histories(),
    st.sampled_from([1, 2, 7, 15, 20, 30, 60, 1440]),
    st.integers(1, 4_000),
    st.integers(1, 3_000),
    st.integers(0, 5_000),
    st.randoms(use_true_random=False),
)
def test_the_points_are_those_of_a_search_through_all_samples(  # noqa: PLR0917 - drawn by hypothesis
    samples: list[JobSample], minutes: int, before: int, length: int, interval: int, random: object
) -> None:
    until = NOW - before * MINUTE + length * MINUTE
    series = Series(until - length * MINUTE, until, minutes * MINUTE, NOW)
    tolerance = series.tolerance(timedelta(seconds=interval))
    writes = [rows_of((one,), following, FOREVER) for one, following in pairwise(samples[:-1])]
    random.shuffle(writes)  # type: ignore[attr-defined]
    rows: dict[str, Columns] = {}
    for write in writes:
        for row, columns in write.items():
            rows[row] = rows.get(row, {}) | columns
    found = stored(rows, series.grain, series.rows(tolerance))
    recent = samples[-2:][::-1]
    points = list(points_of(series, found, recent, tolerance, read))
    assert points == [expected(samples, end, tolerance) for end in series.ends()]
    assert all(series.since < point.time <= min(series.until, NOW) for point in points)


def test_a_sample_that_cannot_be_read_is_a_gap_and_no_older_one_stands_in_for_it() -> None:
    series = Series(NOW - 3 * MINUTE, NOW, MINUTE, NOW)
    sample = JobSample(series.ends()[0] - 1, series.ends()[-1], None, TaskCounts(7))
    slot = MINUTES.slot(series.ends()[1])
    cells = [(slot - 1, sample.text()), (slot, "nonsense"), (slot + 1, sample.text())]
    counts = [point.numbers for point in points_of(series, cells, (), 3 * MINUTE, read)]
    assert counts == [TaskCounts(7), None, TaskCounts(7)]


def test_a_series_without_words_is_that_of_the_last_day() -> None:
    series = series_of(None, None, None, now=NOW, retention=KEPT)
    assert (series.since, series.until, series.step) == (NOW - DAY, NOW, 5 * MINUTE)
    ends = series.ends()
    assert from_milliseconds(ends[0]) == NOW.replace(second=0) - DAY + 5 * MINUTE
    assert from_milliseconds(ends[-1]) == NOW.replace(second=0)


@pytest.mark.parametrize(
    ("length", "step"),
    [(HOUR, MINUTE), (8 * HOUR, MINUTE), (9 * HOUR, 2 * MINUTE), (7 * DAY, 30 * MINUTE), (90 * DAY, 6 * HOUR)],
    ids=str,
)
def test_the_default_step_is_the_finest_that_gives_at_most_500_points(length: timedelta, step: timedelta) -> None:
    assert series_of(NOW - length, NOW, None, now=NOW, retention=KEPT).step == step


def test_a_short_range_of_long_ago_comes_in_quarters_of_an_hour() -> None:
    series = series_of(NOW - 30 * DAY, NOW - 30 * DAY + HOUR, None, now=NOW, retention=KEPT)
    assert (series.step, series.grain) == (15 * MINUTE, QUARTERS)


def test_a_series_has_no_points_in_the_future() -> None:
    series = series_of(NOW - HOUR, NOW + HOUR, MINUTE, now=NOW, retention=KEPT)
    assert from_milliseconds(series.ends()[-1]) == NOW.replace(second=0)
    assert not series_of(NOW + HOUR, NOW + 2 * HOUR, None, now=NOW, retention=KEPT).ends()


def test_a_range_from_the_first_to_the_last_year_has_an_answer() -> None:
    first, last = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
    series = series_of(first, last, None, now=NOW, retention=KEPT)
    assert series.rows(series.tolerance(MINUTE))
    assert 400 < len(series.ends()) <= 500
    assert len(list(points_of(series, [], [], DAY, read))) == len(series.ends())
    assert not series_of(None, first, None, now=NOW, retention=KEPT).ends()
    before, after = timezone(10 * HOUR), timezone(-10 * HOUR)
    assert series_of(first.replace(tzinfo=before), last.replace(tzinfo=after), None, now=NOW, retention=KEPT).ends()


@pytest.mark.parametrize(
    ("since", "until", "step", "target", "words"),
    [
        (NOW, NOW - HOUR, None, "from", "begins at 2026-11-21T07:30:20.000Z, after it ends at"),
        (NOW + HOUR, None, None, "from", "after it ends"),
        (None, None, timedelta(), "step", "a whole number of minutes"),
        (None, None, -MINUTE, "step", "a whole number of minutes"),
        (None, None, timedelta(seconds=90), "step", "a whole number of minutes"),
        (NOW - 8 * DAY, NOW - 7 * DAY, 5 * MINUTE, "step", "kept for 7 days"),
        (NOW - 6 * DAY, NOW, MINUTE, "step", "8,640 points"),
    ],
)
def test_an_invalid_range_has_its_error_message(
    *, since: datetime | None, until: datetime | None, step: timedelta | None, target: str, words: str
) -> None:
    with pytest.raises(HistoryRangeError, match=words) as caught:
        series_of(since, until, step, now=NOW, retention=KEPT)
    assert caught.value.target == target


def test_minutes_have_an_answer_for_every_minute_and_quarters_for_every_quarter() -> None:
    assert Series(NOW, NOW, 7 * MINUTE, NOW).grain is MINUTES
    assert Series(NOW, NOW, 45 * MINUTE, NOW).grain is QUARTERS


@pytest.mark.parametrize(
    ("minutes", "text"), [(1, "PT1M"), (60, "PT1H"), (90, "PT1H30M"), (1440, "P1D"), (1505, "P1DT1H5M"), (2880, "P2D")]
)
def test_a_step_is_written_as_by_people(minutes: int, text: str) -> None:
    assert format_duration(minutes * MINUTE) == text
