from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.telemetry.records.precision import NANOSECONDS, Precision, nanoseconds_of

MOMENT = 1_713_204_195


@pytest.mark.parametrize(("unit", "factor"), [("s", 1), ("ms", 10**3), ("us", 10**6), ("ns", 10**9)])
def test_an_unknown_precision_is_inferred_from_the_size_of_a_number(unit: str, factor: int) -> None:
    assert Precision().nanoseconds(MOMENT * factor) == MOMENT * 10**9
    assert Precision(unit).nanoseconds(7 * factor) == 7 * 10**9


@given(st.datetimes(datetime(1973, 3, 4), datetime(2200, 1, 1)), st.sampled_from(["s", "ms", "us", "ns"]))  # noqa: DTZ001
def test_every_time_of_a_node_is_read_in_all_precisions(moment: datetime, unit: str) -> None:
    seconds = int(moment.replace(tzinfo=UTC).timestamp())
    assert Precision().nanoseconds(seconds * 10**9 // NANOSECONDS[unit]) == seconds * 10**9


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("2024-04-15T18:03:15Z", MOMENT * 10**9),
        ("2024-04-15T18:03:15.099812345Z", MOMENT * 10**9 - 10**9 + 1_099_812_345),
        ("2024-04-15T20:03:15.5+02:00", MOMENT * 10**9 + 5 * 10**8),
        ("2024-04-15 18:03:15", MOMENT * 10**9),
    ],
)
def test_times_may_be_written_out(text: str, nanoseconds: int) -> None:
    assert nanoseconds_of(text) == nanoseconds
    assert Precision().parsed(text) == nanoseconds


@pytest.mark.parametrize("text", ["", "now", "2024-13-01", ".5", "2024-04-15T18:03:15.5.5Z", "9999-01-01"])
def test_invalid_times_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="time"):
        nanoseconds_of(text)


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 1e30, float("inf"), float("nan")])
def test_a_time_beyond_64_bits_is_refused(number: float) -> None:
    with pytest.raises(ValueError, match="out of range"):
        Precision().nanoseconds(number)
