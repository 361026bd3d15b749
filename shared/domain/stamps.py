"""Time stamps of the Batch service: ISO 8601 in UTC with up to seven digits, and HTTP dates.

The cache keeps milliseconds since 1970 (int): stamps order nothing across reads, so finer ones would tell nothing.
"""

from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import lru_cache

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


@lru_cache(maxsize=8192)
def _second(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * 1000


def parse_milliseconds(text: str) -> int:
    """Milliseconds since 1970 of `2026-01-02T03:04:05.1234567Z`, rounded down. Raises ValueError."""
    if not text.endswith("Z"):
        return to_milliseconds(datetime.fromisoformat(text))
    whole, _, fraction = text[:-1].partition(".")
    return _second(whole) + int((fraction + "000")[:3])


def to_milliseconds(moment: datetime) -> int:
    """Milliseconds since 1970, rounded down; a naive time is taken as UTC, as the SDK hands some over."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (aware - EPOCH) // _MILLISECOND


def from_milliseconds(value: int) -> datetime:
    """The aware UTC time of milliseconds since 1970."""
    return EPOCH + timedelta(milliseconds=value)


def parse_http_date(text: str) -> datetime:
    """The aware UTC time of a `Date` header (whole seconds, rounded down by the sender). Raises ValueError."""
    moment = parsedate_to_datetime(text)  # naive where the zone is written -0000
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def format_stamp(moment: datetime) -> str:
    """ISO 8601 in UTC with `Z` and milliseconds, as filters and our API write it."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
