"""Time stamps of the Batch service: ISO 8601 in UTC with up to seven digits, and HTTP dates.

The cache stores integer milliseconds since 1970. Stamps order nothing across reads, so finer ones would add nothing.
"""

import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import cache, lru_cache

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_SECOND, _FRACTION = re.compile(r"[0-5]\d", re.ASCII), re.compile(r"(?:\.(\d{1,3}))?Z?", re.ASCII)
_TO_MINUTE, _TO_SECOND, _TO_MILLISECOND = map(
    len, ("2026-01-02T03:04:", "2026-01-02T03:04:05", "2026-01-02T03:04:05.123")
)


def parse_milliseconds(text: str) -> int:
    """Returns the milliseconds since 1970 of `2026-01-02T03:04:05.1234567Z`, rounded down. Raises ValueError.

    Minutes, seconds and milliseconds repeat often, so each is cached.
    """
    if text[-1:] != "Z":
        return to_milliseconds(datetime.fromisoformat(text))
    second = _second(text[_TO_MINUTE:_TO_SECOND])
    return _minute(text[:_TO_MINUTE]) + second + _fraction(text[_TO_SECOND:_TO_MILLISECOND])


@lru_cache(maxsize=8192)
def _minute(text: str) -> int:
    if len(text) < _TO_MINUTE or text[-1] != ":":
        raise ValueError(f"invalid time stamp: '{text}…'")
    return int(datetime.fromisoformat(text[:-1]).replace(tzinfo=UTC).timestamp()) * 1000


@cache
def _second(text: str) -> int:
    """Returns the milliseconds of `05`: 60 texts."""
    if not _SECOND.fullmatch(text):
        raise ValueError(f"invalid seconds of a time stamp: '{text}'")
    return int(text) * 1000


@cache
def _fraction(text: str) -> int:
    """Returns the milliseconds of nothing, `.1` and so on, with or without a `Z`: some 2,200 texts at most."""
    found = _FRACTION.fullmatch(text)
    if found is None:
        raise ValueError(f"invalid fraction of a second in a time stamp: '{text}'")
    return int((found[1] or "").ljust(3, "0"))


def to_milliseconds(moment: datetime) -> int:
    """Returns milliseconds since 1970, rounded down. A naive time counts as UTC, because the SDK returns some."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (aware - EPOCH) // _MILLISECOND


def from_milliseconds(value: int) -> datetime:
    """Returns the aware UTC time of milliseconds since 1970."""
    return EPOCH + timedelta(milliseconds=value)


def parse_http_date(text: str) -> datetime:
    """Returns the aware UTC time of a `Date` header (whole seconds, rounded down by the sender). Raises ValueError."""
    moment = parsedate_to_datetime(text)  # naive where the zone is written -0000
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def http_date(text: str | None) -> datetime | None:
    """Returns the time of a `Date` header like `parse_http_date`, but None for a missing or invalid one."""
    try:
        return parse_http_date(text) if text else None
    except (ValueError, TypeError):
        return None


def format_stamp(moment: datetime) -> str:
    """Returns ISO 8601 in UTC with `Z` and milliseconds, as filters and this app's API write it."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def format_duration(duration: timedelta) -> str:
    """Returns the ISO 8601 text of a duration of whole minutes, at least one: `P1D`, `PT1H30M`."""
    hours, seconds = divmod(duration.seconds, 3600)
    minutes = seconds // 60
    time = (f"{hours}H" if hours else "") + (f"{minutes}M" if minutes else "")
    return "P" + (f"{duration.days}D" if duration.days else "") + (f"T{time}" if time else "")
