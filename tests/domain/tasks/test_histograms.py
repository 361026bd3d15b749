"""Numbers of values below bucket bounds, against plain counting."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.tasks.histograms import Histogram

edges = st.builds(lambda steps, octave: steps << octave, st.integers(8, 15), st.integers(0, 30))
values = st.integers(0, 2**34) | st.builds(lambda edge, by: edge + by, edges, st.integers(-1, 1))


@given(st.lists(values, max_size=60), st.lists(edges, max_size=12))
def test_numbers_below_edges_are_those_of_plain_counting(durations: list[int], wanted: list[int]) -> None:
    expected = [sum(value < edge for value in durations) for edge in wanted]
    assert Histogram.of(durations).below(wanted) == expected


@given(st.lists(values, min_size=1, max_size=60))
def test_the_last_bucket_has_the_highest_value_and_is_at_most_an_eighth_wide(durations: list[int]) -> None:
    low, high = Histogram.of(durations).highest
    assert low <= max(*durations, 0) <= high <= low * 9 / 8


def test_nothing_is_below_the_edges_of_an_empty_histogram() -> None:
    assert Histogram().below([8, 1024]) == [0, 0]


@pytest.mark.parametrize("edge", [1000, 1023, 1025])
def test_an_edge_inside_of_a_bucket_is_refused(edge: int) -> None:
    with pytest.raises(ValueError, match=f"{edge} ms is inside of a bucket"):
        Histogram.of([999, 1001]).below([1024, edge])
