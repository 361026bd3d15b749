"""Counters whose readings are rates: the oracle adds up each rate times the seconds since the reading before."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.telemetry.records.metrics import Metric
from shared.domain.telemetry.rollups.rollups import MINUTE, Rollup, Rollups, merged
from shared.domain.telemetry.sessions.blob_state import State
from tests.domain.telemetry.support.nodes import BEGIN, at, intake, step, taken

type Reading = tuple[int, float]
"""A second and a rate."""
READINGS = st.lists(
    st.tuples(st.integers(0, 3000), st.integers(0, 10**9)), min_size=2, max_size=20, unique_by=lambda one: one[0]
).map(sorted)


def sent(second: int, rate: float, *, alone: bool = True) -> Metric:
    return at(second, f"win_net,instance=eth Bytes_Sent_persec={rate}{'' if alone else ',Other=1'}")


def minutes_of(parts: Sequence[list[Metric]]) -> dict[int, Rollup]:
    """Returns the rollups of records in as many steps, with the state packed in between."""
    reader, found = intake(), list[Rollups]()
    for part in parts:
        found += reader.take(step(part)).rollups.values()
        reader = intake(state=State.unpack(reader.state.pack()))
    (minutes,) = merged(found).values()
    return minutes


def expected(readings: Sequence[Reading]) -> dict[int, float]:
    found: dict[int, float] = defaultdict(float)
    for (before, _), (second, rate) in pairwise(readings):
        found[(BEGIN + second * 1_000_000_000) // MINUTE] += rate * min(second - before, 600)
    return found


@given(READINGS, st.sets(st.integers(1, 19)))
def test_rates_grow_the_same_for_any_steps(readings: list[Reading], cuts: set[int]) -> None:
    records = [sent(*one) for one in readings]
    edges = [0, *sorted(cut for cut in cuts if cut < len(records)), len(records)]
    found = minutes_of([records[begin:end] for begin, end in pairwise(edges)])
    assert {minute: one.sum for minute, one in found.items()} == pytest.approx(expected(readings))
    assert sum(one.count for one in found.values()) == len(readings) - 1


@given(READINGS)
def test_rates_in_records_of_two_kinds_are_put_in_order(readings: list[Reading]) -> None:
    records = [sent(*one, alone=second % 2 == 0) for second, one in enumerate(readings)]
    found = minutes_of([records])
    assert {minute: one.sum for minute, one in found.items()} == pytest.approx(expected(readings))


def test_a_late_rate_is_counted_and_ignored() -> None:
    found = taken(sent(0, 1), sent(30, 10), sent(20, 1000), sent(40, 20))
    (minutes,) = found.rollups[0].values()
    (one,) = minutes.values()
    assert (found.dropped.late, one.count, one.sum, one.max) == (1, 2, 500, 20)


def test_a_rate_below_zero_is_no_growth() -> None:
    (one,) = minutes_of([[sent(0, 1), sent(10, -5), sent(20, 2)]]).values()
    assert (one.sum, one.min, one.max) == (20, 0, 2)
