"""Rollups of columns, against a literal and slow evaluation of their definition, value by value."""

from collections.abc import Sequence
from itertools import pairwise
from math import fsum
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.telemetry.decode.decoding import Step
from shared.domain.telemetry.records.metrics import Metric, Value
from shared.domain.telemetry.rollups.rollups import MINUTE, Rollup
from shared.domain.telemetry.sessions.blob_state import IngestResult, State
from tests.domain.telemetry.support.nodes import BEGIN, SECOND, flat, intake, step

SECONDS = st.one_of(st.integers(0, 240), st.integers(0, 48).map(lambda tick: tick * 5))
NUMBERS = st.one_of(
    st.integers(-(10**6), 10**6),
    st.floats(-1e6, 1e6),
    st.integers(0, 2**64 - 1),
    st.sampled_from([0, 100, 10**400, 1e300, True]),
)
ODD = st.sampled_from(['"7"', "3.5", "true", "nan", "", "nonsense"])


class Sample(NamedTuple):
    second: int
    value: Value

    @property
    def number(self) -> float | None:
        """Returns the number by the definition of numbers in telemetry."""
        written = {'"7"': 7.0, "7": 7.0, "3.5": 3.5, "true": 1.0}
        found = written.get(self.value) if isinstance(self.value, str) else self.value
        return +found if found is not None and -1e30 <= found <= 1e30 else None


def samples(values: st.SearchStrategy[Value]) -> st.SearchStrategy[list[Sample]]:
    """Generates samples in any order, some of them simultaneous."""
    return st.lists(st.builds(Sample, SECONDS, values), min_size=1, max_size=40)


class Expected(NamedTuple):
    values: int
    min: float
    max: float
    sum: float
    last: float
    last_at: int


def same(found: dict[int, Rollup], wanted: dict[int, Expected]) -> bool:
    return found.keys() == wanted.keys() and all(
        (one.count, one.last_at) == (wanted[minute].values, wanted[minute].last_at)
        and (one.min, one.max, one.sum, one.last) == pytest.approx(wanted[minute][1:5], rel=1e-9, abs=1e-6)
        for minute, one in found.items()
    )


def gauges(some: Sequence[Sample]) -> dict[int, Expected]:
    by_minute: dict[int, list[tuple[int, float]]] = {}
    for sample in sorted(some, key=lambda one: one.second):
        if sample.number is not None:
            at = BEGIN + sample.second * SECOND
            by_minute.setdefault(at // MINUTE, []).append((at, sample.number))
    return {
        minute: Expected(
            len(part), min(v for _, v in part), max(v for _, v in part), fsum(v for _, v in part), *max(part)[::-1]
        )
        for minute, part in by_minute.items()
    }


def counters(some: Sequence[Sample]) -> tuple[dict[int, Expected], int]:
    """Returns the rollups by minute, and the number of samples that are out of order."""
    numbers = [one for one in some if one.number is not None]
    kept: list[Sample] = []
    for sample in numbers:
        if not kept or sample.second > kept[-1].second:
            kept.append(sample)
    by_minute: dict[int, list[tuple[float, float, int]]] = {}
    for before, after in pairwise(kept):
        was, now = before.number or 0, after.number or 0
        grown = now - was if now >= was else max(now, 0)
        at = BEGIN + after.second * SECOND
        by_minute.setdefault(at // MINUTE, []).append((grown, grown / (after.second - before.second), at))
    return {
        minute: Expected(
            len(part),
            min(r for _, r, _ in part),
            max(r for _, r, _ in part),
            fsum(g for g, _, _ in part),
            *part[-1][1:],
        )
        for minute, part in by_minute.items()
    }, len(numbers) - len(kept)


def records(name: str, field: str, some: Sequence[Sample]) -> list[Metric]:
    return [Metric(name, {}, {field: one.value}, BEGIN + one.second * SECOND) for one in some]


def only_minutes(taken: IngestResult) -> dict[int, Rollup]:
    return {minute: one for part in taken.rollups.values() for (_, minute), one in flat(part).items()}


@given(samples(st.one_of(NUMBERS, NUMBERS, NUMBERS, ODD)))
def test_a_gauge_of_any_values_agrees_with_them_one_by_one(some: list[Sample]) -> None:
    taken = intake().take(step(records("mem", "used", some)))
    assert same(only_minutes(taken), gauges(some))
    assert taken.dropped.no_numbers == sum(one.number is None for one in some)
    assert taken.cells == len(gauges(some))


@given(samples(st.one_of(NUMBERS, NUMBERS, ODD)))
def test_a_counter_of_anything_grows_as_its_readings_do_one_by_one(some: list[Sample]) -> None:
    taken = intake().take(step(records("net", "bytes_sent", some)))
    wanted, late = counters(some)
    assert same(only_minutes(taken), wanted)
    assert (taken.dropped.no_numbers, taken.dropped.late) == (sum(one.number is None for one in some), late)


@given(
    st.lists(st.tuples(st.integers(1, 70), st.integers(0, 1000)), min_size=1, max_size=30),
    st.lists(st.integers(0, 30), max_size=3),
    st.lists(st.integers(0, 30), max_size=3),
)
def test_a_counter_grows_the_same_for_any_steps_and_sums(
    grown: list[tuple[int, int]], cuts: list[int], sums: list[int]
) -> None:
    some, second, value = [], 0, 0
    for seconds, more in grown:
        second, value = second + seconds, value + more
        some.append(Sample(second, value))
    reader, taken = intake(), IngestResult(0)
    for number, (begin, end) in enumerate(pairwise([0, *sorted(cuts), len(some)])):
        reader.gather(Step(0, end, records("net", "bytes_sent", some[begin:end])), taken)
        if number in sums:
            reader.sum_up(taken)
    reader.sum_up(taken)
    assert same(only_minutes(taken), counters(some)[0])
    assert (taken.dropped.records, taken.dropped.late) == (len(some), 0)
    again = State.unpack(reader.state.pack())
    later = intake(state=again).take(step(records("net", "bytes_sent", [Sample(second + 10, value + 20)])))
    assert [one.sum for one in only_minutes(later).values()] == [20]


PARTS = st.one_of(st.integers(0, 100), st.floats(0, 100), st.sampled_from(["7", "nonsense", -3, 10**400]))


@given(st.lists(st.tuples(SECONDS, st.one_of(st.integers(0, 9), PARTS), PARTS, PARTS, PARTS), min_size=1, max_size=20))
def test_sums_of_an_agent_count_as_often_as_they_say(rows: list[tuple[int, Value, Value, Value, Value]]) -> None:
    names = ("used_count", "used_min", "used_max", "used_mean")
    taken = intake().take(
        step(Metric("agg.mem", {}, dict(zip(names, parts, strict=True)), BEGIN + at * SECOND) for at, *parts in rows)
    )
    wanted: dict[int, list[tuple[float, ...]]] = {}
    for at, *parts in rows:
        numbers = [number for one in parts if (number := Sample(at, one).number) is not None]
        if len(numbers) == len(parts) and numbers[0] >= 1:
            wanted.setdefault((BEGIN + at * SECOND) // MINUTE, []).append(tuple(numbers))
    found = only_minutes(taken)
    assert found.keys() == wanted.keys()
    for minute, part in wanted.items():
        one = found[minute]
        assert one.count == sum(int(count) for count, *_ in part)
        assert (one.min, one.max) == (min(min(values) for _, *values in part), max(max(values) for _, *values in part))
        assert one.sum == pytest.approx(fsum(int(count) * mean for count, _, _, mean in part))
    assert taken.dropped.no_numbers == len(rows) - sum(map(len, wanted.values()))
