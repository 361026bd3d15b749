"""Counting over `BigIntVector`, packed integers in one big integer, against counting number by number."""

from array import array
from collections import Counter
from collections.abc import Sequence

from hypothesis import example, given
from hypothesis import strategies as st

from shared.domain.leaves.vector_counts import histogram_of, minutes_of
from shared.domain.packing.bigint_simd import BigIntVector, chosen_by, flags_of
from shared.domain.tasks.histograms import Histogram
from shared.domain.tasks.job_statistics import MINUTES

NOW, DAY, MINUTE = 1_763_000_000_000, 86_400_000, 60_000
short = st.integers(0, 100) | st.integers(0, 2**32 - 1) | st.integers(0, 31).map(lambda bits: 2**bits)
any_number = short | st.integers(-(2**50), 2**50)
moments = (
    st.integers(NOW, NOW + 300 * MINUTE)
    | st.integers(NOW - 30 * DAY, NOW + 30 * DAY)
    | st.integers(-(10**7), 10**7).map(lambda minute: NOW // MINUTE * MINUTE + minute * MINUTE)
    | st.integers(-(10**5), 10**5).map(lambda minute: NOW // MINUTE * MINUTE + minute * MINUTE - 1)
)


def rows_of(numbers: st.SearchStrategy[int]) -> st.SearchStrategy[list[tuple[int, bool]]]:
    """Generates numbers, each with whether it is chosen."""
    return st.lists(st.tuples(numbers, st.booleans() | st.just(True)), min_size=1, max_size=300)


def lanes_of(rows: Sequence[tuple[int, bool]]) -> tuple[BigIntVector, int, list[int]]:
    """Returns lanes, the flags of the chosen ones, and the chosen numbers."""
    chosen = [number for number, is_chosen in rows if is_chosen]
    lanes = BigIntVector.of(array("q", [number for number, _ in rows]))
    return lanes, flags_of(bytes(is_chosen for _, is_chosen in rows)), chosen


@given(rows_of(short) | rows_of(any_number))
@example([(2**32 - 1, True), (2**32, True)])
@example([(2**32 - 1, True), (-1, False)])
def test_histograms_of_lanes_are_those_of_their_numbers(rows: list[tuple[int, bool]]) -> None:
    lanes, flags, chosen = lanes_of(rows)
    assert histogram_of(lanes, flags) == Histogram.of(chosen)


@given(rows_of(moments), st.sampled_from([0, -100 * DAY, 300 * DAY]))
def test_minutes_of_lanes_are_those_of_their_numbers(rows: list[tuple[int, bool]], off: int) -> None:
    lanes, flags, chosen = lanes_of(rows)
    numbers = Counter(moment // MINUTE for moment in chosen)
    assert minutes_of(lanes, flags, about=NOW + off) == tuple(sorted(numbers.items())[-MINUTES:])


@given(st.lists(st.tuples(any_number, any_number), min_size=1, max_size=50))
def test_lanes_reckon_as_numbers_do(pairs: list[tuple[int, int]]) -> None:
    ours, theirs = ([pair[side] for pair in pairs] for side in (0, 1))
    left, right = BigIntVector.of(array("q", ours)), BigIntVector.of(array("q", theirs))
    assert list((left - right).values()) == [one - other for one, other in pairs]
    assert list(left.less(7).plus(left.signs()[0]).values()) == [one - 7 + (one > 0) for one in ours]
    assert list(chosen_by(left.signs()[1], left.count)) == [one != 0 for one in ours]
