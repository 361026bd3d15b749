import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise, permutations
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import astuple

from shared.domain.telemetry.catalog.field_mappings import mapping_of
from shared.domain.telemetry.catalog.series import Rule, Series
from shared.domain.telemetry.decode.decoding import Decoder, Step
from shared.domain.telemetry.records.metrics import Metric
from shared.domain.telemetry.rollups.folding import CounterCache, Fold, RecordGroup
from shared.domain.telemetry.rollups.intake_counts import DroppedCounts
from shared.domain.telemetry.rollups.rollups import MINUTE, Rollup, Rollups, hours_of, merged
from shared.domain.telemetry.rollups.summaries import CounterValue, gauge_rollup, growth
from shared.domain.telemetry.sessions.blob_state import State
from tests.domain.telemetry.support.nodes import BEGIN, SECOND, at, flat, intake, only, step

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
    assert {hour: rollup.count for hour, rollup in hours_of(minutes)[Series("a")].items()} == {0: 2, 1: 1, 2: 2}


@given(PARTS, PARTS)
def test_hours_of_minutes_are_those_of_all_minutes_together(first: Rollups, second: Rollups) -> None:
    assert hours_of(merged([first, second])) == merged([hours_of(first), hours_of(second)])
    assert sum(one.count for one in flat(hours_of(first)).values()) == sum(one.count for one in flat(first).values())


@given(st.lists(NUMBERS, min_size=1, max_size=8))
def test_a_gauge_sums_up_its_values(values: list[int]) -> None:
    assert gauge_rollup(values, 7, RULE) == Rollup(len(values), min(values), max(values), sum(values), values[-1], 7)


def test_a_rule_that_turns_values_round_keeps_the_smallest_below_the_largest() -> None:
    rollup = gauge_rollup([0, 100], 1, Rule("x", "1", factor=-0.01, offset=1))
    assert (rollup.min, rollup.max, rollup.sum, rollup.last) == (0, 1, 1, 0)


READING = st.tuples(st.integers(1, 200), st.one_of(st.integers(0, 1000), st.just(None)))
READINGS = st.lists(READING, min_size=1, max_size=20)


def _readings(steps: Iterable[tuple[int, int | None]], value: int = 0) -> list[tuple[int, int]]:
    """Returns times in seconds and readings of a growing counter; None resets it, each time below all before."""
    found, time = list[tuple[int, int]](), 0
    for seconds, grown in steps:
        time += seconds
        value = 30 - len(found) if grown is None else value + grown
        found.append((time, value))
    return found


@given(READINGS, st.lists(st.integers(0, 20), max_size=4))
def test_growth_is_the_same_for_any_split_into_steps(steps: list[tuple[int, int | None]], cuts: list[int]) -> None:
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


def _net(second: int, value: int, layout: int) -> Metric:
    """Returns a reading in one of eight layouts: with or without a tag that is no attribute, and two other fields."""
    rack, error, packets = layout & 1, layout & 2, layout & 4
    fields = ["err_in=0i"] * bool(error) + [f"bytes_sent={value}i"] + [f"packets_sent={2 * value}i"] * bool(packets)
    return at(second, f"net,interface=e{',rack=1' * rack} {','.join(fields)}")


def _unit(metrics: list[Metric]) -> list[Step]:
    """Returns a batch as an agent writes it, with its records bundled where possible."""
    records = [{"name": one.name, "tags": one.tags, "fields": one.fields, "timestamp": one.time} for one in metrics]
    return list(Decoder(together=True).steps(json.dumps({"metrics": records}).encode() + b"\n", 0))


class _Growth(NamedTuple):
    rollups: dict[tuple[Series, int], Rollup]
    readings: dict[str, CounterValue]
    late: int

    @property
    def sent(self) -> list[Rollup]:
        return [one for (series, _), one in self.rollups.items() if series.name == "system.network.io"]

    @property
    def growth(self) -> float:
        return sum(one.sum for one in self.sent)


def _growth_of(metrics: list[Metric], cuts: Iterable[int]) -> _Growth:
    """Returns the result of records that are read up to each cut, and to the end."""
    reader, parts = intake(), []
    for begin, end in pairwise(sorted({0, *(cut for cut in cuts if cut < len(metrics)), len(metrics)})):
        parts += [reader.take(one) for one in _unit(metrics[begin:end])]
        reader = intake(state=State.unpack(reader.state.pack()))
    found = flat(merged(rollups for part in parts for rollups in part.rollups.values()))
    return _Growth(found, reader.state.memories[0].readings, sum(part.dropped.late for part in parts))


@given(st.lists(st.tuples(READING, st.integers(0, 7)), min_size=1, max_size=20), st.lists(st.integers(0, 20)))
def test_other_fields_and_numbers_of_records_read_at_once_change_no_growth(
    steps: list[tuple[tuple[int, int | None], int]], cuts: list[int]
) -> None:
    readings = _readings((grown for grown, _ in steps), 10**6)
    metrics = [_net(0, 10**6, 6)]  # a node that had been there for long, with all fields
    for reading, ((_, grown), layout) in zip(readings, steps, strict=True):
        metrics.append(_net(*reading, layout | 6 if grown is None else layout))  # a reset shows in all fields
    outcomes = [_growth_of(metrics, some) for some in ([1], [1, *cuts], range(len(metrics)))]
    for found, newest, late in outcomes:
        assert (newest, late) == (outcomes[-1].readings, 0)
        assert found.keys() == outcomes[-1].rollups.keys()
        for key, one in found.items():
            assert astuple(one) == pytest.approx(astuple(outcomes[-1].rollups[key]))


SET = st.sampled_from([0] * 8 + [-2, -7, -12, -90, 30, 3600])
STEPS = st.lists(st.tuples(READING, SET, SET, st.integers(0, 7)), min_size=1, max_size=25)
"""A reading: the seconds by which the clock is set before it, the error of its own stamp, and its layout."""
LONG = 10**12  # bytes of a node that had been there for long


def _stamped(readings: list[tuple[int, int]], clocks: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    set_by = accumulate(by for by, _ in clocks)
    return [
        (second + clock + wrong, value)
        for (second, value), clock, (_, wrong) in zip(readings, set_by, clocks, strict=True)
    ]


@given(STEPS, st.lists(st.integers(0, 25), max_size=5))
def test_clocks_that_are_set_make_no_growth_and_cuts_change_nothing(
    steps: list[tuple[tuple[int, int | None], int, int, int]], cuts: list[int]
) -> None:
    readings = _readings((one for one, *_ in steps), LONG)
    true = sum(later - earlier if later >= earlier else later for (_, earlier), (_, later) in pairwise(readings))
    metrics = [_net(*one, 0) for one in _stamped(readings, [(by, wrong) for _, by, wrong, _ in steps])]
    outcome = [_growth_of(metrics, some) for some in ((), cuts, range(len(metrics)))]
    assert outcome[0] == outcome[1] == outcome[2]
    assert outcome[0].growth <= true
    assert sum(one.count for one in outcome[0].sent) + outcome[0].late + 1 == len(metrics)


@given(STEPS, st.lists(st.integers(0, 25), max_size=5))
def test_clocks_that_are_set_make_no_growth_regardless_of_other_fields(
    steps: list[tuple[tuple[int, int | None], int, int, int]], cuts: list[int]
) -> None:
    readings = _readings(((seconds, grown or 0) for (seconds, grown), *_ in steps), LONG)
    stamped = _stamped(readings, [(by, wrong) for _, by, wrong, _ in steps])
    outcome = _growth_of([_net(*one, layout) for one, (*_, layout) in zip(stamped, steps, strict=True)], cuts)
    assert outcome.growth <= readings[-1][1] - readings[0][1]


@pytest.mark.parametrize("layouts", [(0,), (0, 1)])
@pytest.mark.parametrize(
    ("seconds", "lost"),
    [
        ([*range(0, 300, 5), *range(288, 900, 5)], 0),
        ([*range(0, 300, 5), *range(293, 900, 5)], 0),
        ([*range(0, 300, 5), 242, *range(305, 900, 5)], 0),
        ([*range(0, 300, 5), 3500, *range(305, 3600, 5)], 0),
        ([*range(0, 300, 5), 3500, *range(305, 900, 5)], 119_000),
    ],
    ids=["set back", "set back by less than kinds alternate", "one behind", "one ahead", "one ahead of the end"],
)
def test_a_counter_keeps_its_growth_though_its_clock_was_set(
    layouts: tuple[int, ...], seconds: list[int], lost: int
) -> None:
    metrics = [
        _net(second, LONG + 1000 * number, layouts[number % len(layouts)]) for number, second in enumerate(seconds)
    ]
    true = 1000 * (len(seconds) - 1)
    for cuts in ((), range(0, len(seconds), 60)):
        outcome = _growth_of(metrics, cuts)
        assert true - lost - 1000 * len(layouts) < outcome.growth <= true - lost
        assert sum(one.count for one in outcome.sent) + outcome.late + 1 == len(seconds)


def test_a_counter_that_begins_anew_when_a_clock_was_set_grows_by_no_more_than_it_did() -> None:
    seconds = [*range(0, 300, 5), *range(288, 600, 5)]
    values = [1000 * number + LONG * (number < 100) for number in range(len(seconds))]
    outcome = _growth_of([_net(*one, number % 2) for number, one in enumerate(zip(seconds, values, strict=True))], ())
    assert outcome.growth <= 99 * 1000 + values[-1]
    assert outcome.growth > 0.9 * (99 * 1000 + values[-1])
    assert sum(one.count for one in outcome.sent) + outcome.late + 1 == len(seconds)


def test_a_counter_that_begins_anew_between_kinds_of_records_has_grown_by_its_value() -> None:
    readings = [(0, LONG, 0), (5, LONG + 7, 0), (10, 3, 2), (15, 50, 2)]
    assert [_growth_of([_net(*one) for one in readings], cuts).growth for cuts in ([1], range(4))] == [57, 57]


def test_a_counter_whose_records_come_with_other_fields_by_turns_loses_no_growth() -> None:
    lines = [
        _net(second, value, layout) for second, value, layout in ((0, 100, 0), (5, 200, 2), (10, 10, 2), (15, 50, 0))
    ]
    outcome = intake().take(step(lines))
    grown = {series.name: rollup.sum for (series, _), rollup in flat(outcome.rollups[0]).items()}
    assert (grown["system.network.io"], outcome.dropped.late) == (150, 0)


def test_a_counter_among_fields_in_ever_other_orders_loses_no_growth_where_it_begins_anew() -> None:
    readings = [100, 200, 10, 300, 310]
    orders = permutations(["bytes_sent={}i", "packets_sent=6i", "err_in=0i"])
    lines = [at(5 * number, f"net,interface=eth0 {','.join(fields).format(value)}")
             for number, (value, fields) in enumerate(zip(readings, orders, strict=False))]  # fmt: skip
    outcome = intake().take(step(lines))
    grown = {series.name: rollup.sum for (series, _), rollup in flat(outcome.rollups[0]).items()}
    assert (grown["system.network.io"], outcome.dropped.late) == (410, 0)


def test_a_counter_that_begins_anew_has_grown_by_its_value() -> None:
    times = [second * SECOND for second in (0, 10, 20, 30)]
    found, newest, late = growth(times, [100, 150, 20, 50], RULE, None)
    assert found == [(0, Rollup(3, 2, 5, 100, 3, 30 * SECOND))]
    assert (newest, late) == (CounterValue(30 * SECOND, 50), 0)


def test_late_and_repeated_readings_are_counted_and_ignored() -> None:
    before = CounterValue(10 * SECOND, 100)
    times = [second * SECOND for second in (5, 10, 20, 20, 30)]
    found, newest, late = growth(times, [7, 7, 150, 7, 160], RULE, before)
    assert found == [(0, Rollup(2, 1, 5, 60, 1, 30 * SECOND))]
    assert (newest, late) == (CounterValue(30 * SECOND, 160), 3)
    assert growth([1], [5], RULE, before) == ([], before, 1)


def test_readings_out_of_order_cost_no_growth_behind_the_first() -> None:
    lines = [
        at(second, f"net,interface=e bytes_sent={value}i") for second, value in ((0, 5), (20, 40), (10, 10), (30, 70))
    ]
    outcome = intake().take(step(lines))
    _, rollup = only(merged(outcome.rollups.values()))
    assert (rollup.count, rollup.sum, rollup.last, rollup.last_at) == (2, 65, 3, BEGIN + 30 * SECOND)
    assert outcome.dropped.late == 1


def test_gauges_out_of_order_within_a_step_are_put_in_order() -> None:
    lines = [at(second, f"mem used={value}i") for second, value in ((20, 40), (10, 10), (30, 70), (0, 5))]
    outcome = intake().take(step(lines))
    _, rollup = only(merged(outcome.rollups.values()))
    assert rollup == Rollup(4, 5, 70, 125, 70, BEGIN + 30 * SECOND)
    assert outcome.dropped.late == 0


class _Unlisted(dict[int, Rollup]):
    def __iter__(self) -> Iterator[int]:
        raise AssertionError("it would take long to look through all minutes")


def test_a_minute_is_added_without_a_look_at_all_others() -> None:
    metrics = [at(second, "mem used=1") for second in (0, 60)]
    plan, known = mapping_of(metrics[0]), _Unlisted()
    fold = Fold(CounterCache(), {plan.columns[0].series: known}, DroppedCounts())
    for one in metrics:
        fold.add([RecordGroup(plan, [one.time or 0], [1])])
    assert (fold.cells, list(known.keys())) == (2, [BEGIN // MINUTE, BEGIN // MINUTE + 1])


def test_minutes_begin_with_whole_minutes() -> None:
    found = flat(merged(intake().take(step([at(59.999, "mem used=1"), at(60, "mem used=2")])).rollups.values()))
    assert {minute: rollup.sum for (_, minute), rollup in found.items()} == {
        BEGIN // MINUTE: 1, BEGIN // MINUTE + 1: 2,
    }  # fmt: skip
