"""A property test that fails shrinks for seconds only, however long each of its examples takes."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.internal.conjecture import engine

from tests.profiles import MAX_SHRINKING_SECONDS


def test_shrinking_ends_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    assert engine.MAX_SHRINKING_SECONDS == MAX_SHRINKING_SECONDS == 10
    monkeypatch.setattr(engine, "MAX_SHRINKING_SECONDS", 0.3)
    times = list[float]()

    @settings(max_examples=100)
    @given(st.lists(st.integers(0, 2**64), min_size=20))
    def fails_slowly(numbers: list[int]) -> None:
        times.append(time.monotonic())
        time.sleep(0.02)
        assert sum(numbers) < 2**64

    with pytest.raises(AssertionError):
        fails_slowly()
    assert 0.3 < times[-1] - times[0] < 5
