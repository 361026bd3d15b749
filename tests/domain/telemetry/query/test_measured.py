"""Minutes and hours together show all measurements, wherever hours end and minutes begin."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from shared.domain.core.stamps import from_milliseconds
from shared.domain.telemetry.catalog.series import Series
from shared.domain.telemetry.query.ranges import Range, StoredRollups
from shared.domain.telemetry.rollups.rollups import Rollup, Rollups, hours_of, merged

SERIES = (Series("a"), Series("b"))
BEGIN = 29_766_960  # minutes: a day's begin
CELLS = st.dictionaries(
    st.tuples(st.sampled_from(SERIES), st.integers(BEGIN, BEGIN + 400)),
    st.tuples(st.integers(0, 1000), st.booleans()),
    max_size=30,
)


def part(cells: dict[tuple[Series, int], tuple[int, bool]], *, rolled: bool) -> Rollups:
    return merged(
        {series: {minute: Rollup(1, value, value, value, value, minute)}}
        for (series, minute), (value, is_rolled) in cells.items()
        if is_rolled is rolled
    )


def wanted(first: int, last: int, step: int) -> Range:
    return Range(from_milliseconds(first * 60_000), from_milliseconds(last * 60_000), step)


@given(CELLS)
def test_steps_of_hours_are_the_same_before_and_after_any_part_of_a_roll_up(
    cells: dict[tuple[Series, int], tuple[int, bool]],
) -> None:
    fine, coarse = part(cells, rolled=False), part(cells, rolled=True)
    whole = wanted(BEGIN, BEGIN + 420, 60)
    found = whole.steps_of(StoredRollups(fine, hours_of(coarse)))
    assert found == whole.steps_of(StoredRollups(merged((fine, coarse)), {}))


@given(CELLS, st.integers(BEGIN, BEGIN + 400), st.integers(1, 300), st.sampled_from([1, 5, 7, 90]))
def test_hourly_parts_are_named_and_all_others_keep_their_minutes(
    cells: dict[tuple[Series, int], tuple[int, bool]], first: int, length: int, step: int
) -> None:
    fine, coarse = part(cells, rolled=False), part(cells, rolled=True)
    asked = wanted(first, first + length, step)
    measured = StoredRollups(fine, hours_of(coarse))
    found, parts = asked.steps_of(measured), asked.hourly_parts(measured)
    hourly = {minute // 60 for minutes in coarse.values() for minute in minutes}
    expected: dict[Series, dict[int, int]] = {series: {} for series in SERIES}
    for (series, minute), (value, _) in cells.items():
        hour = minute // 60
        is_shown = first // 60 <= hour <= (first + length - 1) // 60 if hour in hourly else 0 <= minute - first < length
        if is_shown:
            at = (hour * 60 if hour in hourly else minute) // step * step
            expected[series][at] = expected[series].get(at, 0) + value
    sums = {series: {at: one.sum for at, one in found.get(series, {}).items()} for series in SERIES}
    assert sums == expected
    covered = {
        hour for since, until in parts for hour in hourly if since <= from_milliseconds(hour * 3_600_000) < until
    }
    assert covered == {hour for hour in hourly if first // 60 <= hour <= (first + length - 1) // 60}
    assert all(end < begin for (_, end), (begin, _) in pairwise(parts))
