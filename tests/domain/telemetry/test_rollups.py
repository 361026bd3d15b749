from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.telemetry.rollups import MINUTE, Rollup, Rollups, hours, merged
from shared.domain.telemetry.series import Rule, Series
from shared.domain.telemetry.summaries import Reading, gauge_rollup, growth
from tests.domain.telemetry.nodes import BEGIN, SECOND, at, flat, intake, only, step

RULE = Rule("x", "1")
SERIES = st.sampled_from([Series("a"), Series("a", (("k", "v"),)), Series("b")])
NUMBERS = st.integers(-(10**12), 10**12)
ROLLUPS = st.builds(
    lambda values, last_at: gauge_rollup(values, last_at, RULE),
    st.lists(NUMBERS, min_size=1, max_size=4),
    st.integers(0, 5),
)
PARTS = st.dictionaries(SERIES, st.dictionaries(st.integers(0, 200), ROLLUPS, min_size=1, max_size=4), max_size=3)


@given(st.lists(PARTS, max_size=5))
def test_rollups_merge_in_any_order_and_grouping(parts: list[Rollups]) -> None:
    whole = merged(parts)
    assert merged([merged(parts[:2]), merged(parts[2:])]) == whole
    assert merged(reversed(parts)) == whole


def test_the_last_value_of_both_is_the_later_one() -> None:
    early, late = gauge_rollup([9, 8], 5, RULE), gauge_rollup([2, 3], 6, RULE)
    assert early.merged(late) == late.merged(early) == Rollup(4, 2, 9, 22, 3, 6)


def test_an_hour_has_sixty_minutes_since_1970() -> None:
    one = gauge_rollup([1], 5, RULE)
    minutes = {Series("a"): dict.fromkeys((0, 59, 60, 120, 179), one)}
    assert {hour: rollup.count for hour, rollup in hours(minutes)[Series("a")].items()} == {0: 2, 1: 1, 2: 2}


@given(PARTS, PARTS)
def test_hours_of_minutes_are_those_of_all_minutes_together(first: Rollups, second: Rollups) -> None:
    assert hours(merged([first, second])) == merged([hours(first), hours(second)])
    assert sum(one.count for one in flat(hours(first)).values()) == sum(one.count for one in flat(first).values())


@given(st.lists(NUMBERS, min_size=1, max_size=8))
def test_a_gauge_is_what_its_values_say(values: list[int]) -> None:
    assert gauge_rollup(values, 7, RULE) == Rollup(len(values), min(values), max(values), sum(values), values[-1], 7)


def test_a_rule_that_turns_values_round_keeps_the_smallest_below_the_largest() -> None:
    rollup = gauge_rollup([0, 100], 1, Rule("x", "1", factor=-0.01, offset=1))
    assert (rollup.min, rollup.max, rollup.sum, rollup.last) == (0, 1, 1, 0)


READINGS = st.lists(
    st.tuples(st.integers(1, 200), st.one_of(st.integers(0, 1000), st.just(None))), min_size=1, max_size=20
)


def _readings(steps: list[tuple[int, int | None]]) -> list[tuple[int, int]]:
    """Times in seconds and readings of a counter that grows; a None begins it anew."""
    found, time, value = [], 0, 0
    for seconds, grown in steps:
        time += seconds
        value = 3 if grown is None else value + grown
        found.append((time, value))
    return found


@given(READINGS, st.lists(st.integers(0, 20), max_size=4))
def test_growth_is_the_same_however_readings_are_split_into_steps(
    steps: list[tuple[int, int | None]], cuts: list[int]
) -> None:
    readings = _readings(steps)
    lines = [at(second, f"net,interface=e bytes_sent={value}i") for second, value in readings]
    edges = [0, *sorted(cuts), len(lines)]
    split, state = [], None
    for begin, end in pairwise(edges):
        reader = intake(state=state)
        split.append(reader.take(step(lines[begin:end])))
        state = type(reader.state).unpack(reader.state.pack())
    found = flat(merged(part for one in split for part in one.rollups.values()))
    grown = [(later[1] - earlier[1]) if later[1] >= earlier[1] else later[1] for earlier, later in pairwise(readings)]
    assert sum(rollup.sum for rollup in found.values()) == sum(grown)
    assert sum(rollup.count for rollup in found.values()) == len(grown)
    rates = [step / (later[0] - earlier[0]) for step, (earlier, later) in zip(grown, pairwise(readings), strict=True)]
    if rates:
        assert max(rollup.max for rollup in found.values()) == pytest.approx(max(rates))
        assert min(rollup.min for rollup in found.values()) == pytest.approx(min(rates))
    for (_, minute), rollup in found.items():
        assert minute == rollup.last_at // MINUTE


def test_a_counter_that_begins_anew_has_grown_by_what_it_shows() -> None:
    times = [second * SECOND for second in (0, 10, 20, 30)]
    found, newest, late = growth(times, [100, 150, 20, 50], RULE, None)
    assert found == [(0, Rollup(3, 2, 5, 100, 3, 30 * SECOND))]
    assert (newest, late) == (Reading(30 * SECOND, 50), 0)


def test_late_and_repeated_readings_are_counted_and_tell_nothing() -> None:
    before = Reading(10 * SECOND, 100)
    times = [second * SECOND for second in (5, 10, 20, 20, 30)]
    found, newest, late = growth(times, [7, 7, 150, 7, 160], RULE, before)
    assert found == [(0, Rollup(2, 1, 5, 60, 1, 30 * SECOND))]
    assert (newest, late) == (Reading(30 * SECOND, 160), 3)
    assert growth([1], [5], RULE, before) == ([], before, 1)


def test_records_out_of_order_within_a_step_are_put_in_order() -> None:
    lines = [at(second, f"net,interface=e bytes_sent={value}i") for second, value in ((20, 40), (10, 10), (30, 70))]
    _, rollup = only(merged(intake().take(step(lines)).rollups.values()))
    assert (rollup.sum, rollup.last, rollup.last_at) == (60, 3, BEGIN + 30 * SECOND)


def test_minutes_begin_with_whole_minutes() -> None:
    found = flat(merged(intake().take(step([at(59.999, "mem used=1"), at(60, "mem used=2")])).rollups.values()))
    assert {minute: rollup.sum for (_, minute), rollup in found.items()} == {
        BEGIN // MINUTE: 1, BEGIN // MINUTE + 1: 2,
    }  # fmt: skip
