"""The total of the CPUs: the mean of exactly the reporting cores, in each mode."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.telemetry.catalog.series import Series
from shared.domain.telemetry.query.cpu_total import with_cpu_total
from shared.domain.telemetry.query.series_selectors import selector_of
from shared.domain.telemetry.rollups.rollups import Rollup, Rollups, merged

USAGE, TIME = "system.cpu.utilization", "system.cpu.time"
IDLE, MEMORY = Series(USAGE, (("cpu.mode", "idle"),)), Series("system.memory.limit")
MINUTE = 60_000_000_000


def core(number: int, mode: str = "idle", name: str = USAGE) -> Series:
    return Series(name, (("cpu.logical_number", str(number)), ("cpu.mode", mode)))


def rollup_of(values: list[float], at: int = 0) -> Rollup:
    return Rollup(len(values), min(values), max(values), sum(values), values[-1], at)


@given(st.lists(st.lists(st.floats(0, 1), min_size=3, max_size=3), min_size=1, max_size=8))
def test_the_total_of_cores_with_equal_counts_is_their_mean(cores: list[list[float]]) -> None:
    rollups: Rollups = {core(number): {7: rollup_of(values)} for number, values in enumerate(cores)}
    whole = with_cpu_total(rollups)[IDLE][7]
    means = [sum(together) / len(cores) for together in zip(*cores, strict=True)]
    assert whole.count == 3
    assert whole.sum == pytest.approx(sum(means))
    assert whole.last == pytest.approx(means[-1])
    assert whole.min <= min(means) + 1e-9
    assert whole.max >= max(means) - 1e-9


def test_a_core_that_is_missing_or_late_counts_where_it_has_values() -> None:
    rollups: Rollups = {core(0): {7: rollup_of([0.2, 0.4]), 8: rollup_of([0.5])}, core(1): {7: rollup_of([0.9])}}
    whole = with_cpu_total(rollups)[IDLE]
    assert whole[7].sum / whole[7].count == pytest.approx((0.3 + 0.9) / 2)
    assert whole[8] == rollup_of([0.5])
    late = merged([rollups, {core(1): {8: rollup_of([0.7])}}])
    assert with_cpu_total(late)[IDLE][8].sum == pytest.approx(0.6)


def test_a_total_sent_by_an_agent_stands_and_its_gaps_are_filled() -> None:
    rollups: Rollups = {
        IDLE: {7: rollup_of([0.1])},
        core(0): {7: rollup_of([0.9]), 8: rollup_of([0.3])},
        MEMORY: {7: rollup_of([5])},
    }
    found = with_cpu_total(rollups)
    assert found == {**rollups, IDLE: {7: rollup_of([0.1]), 8: rollup_of([0.3])}}


def test_modes_and_sums_of_agents_are_kept_apart() -> None:
    aggregate = Series(USAGE, (("batchscope.source", "aggregate"), *core(0).attributes))
    found = with_cpu_total(
        {core(0): {7: rollup_of([0.9])}, core(0, "user"): {7: rollup_of([0.1])}, aggregate: {7: rollup_of([0.8])}}
    )
    whole = {series.attributes: periods[7].sum for series, periods in found.items() if len(dict(series.attributes)) < 2}
    assert whole == {(("cpu.mode", "idle"),): 0.9, (("cpu.mode", "user"),): 0.1}
    assert found[Series(USAGE, (("batchscope.source", "aggregate"), ("cpu.mode", "idle")))][7].sum == 0.8


def test_time_becomes_a_share_of_all_modes_growth() -> None:
    """Three steps of 10 s, in which one core is idle for 8 s each, the other for 5 s."""
    rollups: Rollups = {}
    for number, idle in ((0, 0.8), (1, 0.5)):
        for mode, rate in (("idle", idle), ("user", 1 - idle), ("guest", 0.1)):
            rollups[core(number, mode, TIME)] = {7: Rollup(3, rate, rate, rate * 30, rate, MINUTE)}
    found = with_cpu_total(rollups)
    assert found[core(1)][7].sum / 3 == pytest.approx(0.5)
    assert found[IDLE][7].sum / 3 == pytest.approx(0.65)
    assert found[IDLE][7].count == 3
    assert found[IDLE][7].last == pytest.approx(0.65)
    assert core(0, "guest") not in found


def test_without_idle_time_nobody_knows_the_share_and_nothing_is_made_up() -> None:
    rollups: Rollups = {core(0, "user", TIME): {7: rollup_of([1])}, MEMORY: {7: rollup_of([1])}}
    assert with_cpu_total(rollups) == rollups


def test_all_cores_in_one_count_as_many_as_they_are() -> None:
    modes = {"idle": 3.0, "user": 1.0}
    time = {
        Series(TIME, (("cpu.mode", mode),)): {7: Rollup(2, rate, rate, rate * 20, rate, 0)}
        for mode, rate in modes.items()
    }
    assert with_cpu_total(time)[IDLE] == {7: Rollup(2, 0.75, 0.75, 1.5, 0.75, 0)}


def test_cores_are_dropped_where_the_total_is_known() -> None:
    """A node of a hundred cores has a hundred times the data of its total."""
    choice = selector_of("system.cpu", "cpu.logical_number=")
    column: Rollups = {
        IDLE: {7: rollup_of([0.1])},
        core(0): {7: rollup_of([0.9]), 8: rollup_of([0.3])},
        core(1): {7: rollup_of([0.9])},
    }
    assert choice.part_of(column) == {IDLE: column[IDLE], core(0): {8: rollup_of([0.3])}}
    assert choice.of(choice.part_of(column)) == {IDLE: {7: rollup_of([0.1]), 8: rollup_of([0.3])}}
    assert selector_of("system.cpu", "cpu.mode=idle").part_of(column) == column
