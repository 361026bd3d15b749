import time
import tracemalloc
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.core.stamps import (
    EPOCH,
    format_stamp,
    from_milliseconds,
    parse_http_date,
    parse_milliseconds,
    to_milliseconds,
)

moments = st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999_999), timezones=st.just(UTC))  # noqa: DTZ001
AT = 1_767_323_045_000


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-01-02T03:04:05.1234567Z", AT + 123),
        ("2026-01-02T03:04:05.123456Z", AT + 123),
        ("2026-01-02T03:04:05.9999999Z", AT + 999),
        ("2026-01-02T03:04:05.1Z", AT + 100),
        ("2026-01-02T03:04:05.05Z", AT + 50),
        ("2026-01-02T03:04:05Z", AT),
        ("2026-01-02T05:04:05.123+02:00", AT + 123),
        ("1970-01-01T00:00:00Z", 0),
        ("1969-12-31T23:59:59.25Z", -750),
        ("0001-01-01T00:00:00Z", -62_135_596_800_000),
        ("9999-12-31T23:59:59.9999999Z", 253_402_300_799_999),
    ],
)
def test_stamps_of_every_precision_are_milliseconds_rounded_down(text: str, expected: int) -> None:
    assert parse_milliseconds(text) == expected


@pytest.mark.parametrize("text", ["", "Z", "soon", "2026-13-01T00:00:00Z", "2026-01-02T03:04:05.xZ", "1767323045"])
def test_invalid_stamps_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"[Ii]nvalid|must be"):
        parse_milliseconds(text)


@given(moments)
def test_a_stamp_read_back_is_the_moment_cut_to_milliseconds(moment: datetime) -> None:
    read = from_milliseconds(parse_milliseconds(moment.isoformat().replace("+00:00", "Z")))
    assert timedelta() <= moment - read < timedelta(milliseconds=1)
    assert to_milliseconds(moment) == to_milliseconds(read)


@given(moments)
def test_a_written_stamp_never_lies_after_its_moment(moment: datetime) -> None:
    written = datetime.fromisoformat(format_stamp(moment))
    assert timedelta() <= moment - written < timedelta(milliseconds=1)


@pytest.fixture
def in_tokyo() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        yield
    time.tzset()


def test_stamps_are_written_in_utc_regardless_of_their_zone() -> None:
    moment = datetime(2026, 1, 2, 5, 4, 5, 120_999, tzinfo=timezone(timedelta(hours=2)))
    assert format_stamp(moment) == "2026-01-02T03:04:05.120Z"


def test_a_time_without_a_zone_is_taken_as_utc() -> None:
    assert to_milliseconds(datetime(1970, 1, 1, 0, 0, 1)) == 1000  # noqa: DTZ001
    assert from_milliseconds(0) == EPOCH


@pytest.mark.parametrize(
    "text",
    [
        "Fri, 02 Jan 2026 03:04:05 GMT",
        "Fri, 02 Jan 2026 03:04:05 +0000",
        "Fri, 02 Jan 2026 05:04:05 +0200",
        "Fri, 02 Jan 2026 03:04:05 -0000",
    ],
)
def test_http_dates_are_aware_and_in_utc_on_any_machine(text: str, in_tokyo: None) -> None:
    parsed = parse_http_date(text)
    assert parsed == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert parsed.tzinfo is UTC


@pytest.mark.parametrize("text", ["", "yesterday", "Fri, 99 Jan 2026 03:04:05 GMT"])
def test_invalid_http_dates_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"[Ii]nvalid|range"):
        parse_http_date(text)


def test_stamps_of_every_millisecond_take_little_memory() -> None:
    tracemalloc.start()
    try:
        for at in range(60_000):
            assert parse_milliseconds(f"2026-01-02T03:04:{at // 1000:02}.{at % 1000:03}4567Z") == AT - 5_000 + at
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 1_000_000
