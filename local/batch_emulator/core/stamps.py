"""Time as the service writes it. Inside the emulator time is ticks: an int of 100 nanoseconds since 1970, UTC.

Formats follow recorded responses: up to seven digits with trailing zeros trimmed, ETags as hexadecimal .NET ticks.
"""

import re
from datetime import UTC, datetime
from email.utils import formatdate, parsedate_to_datetime
from functools import lru_cache

SECOND = 10_000_000
LATEST = 253_402_300_799 * SECOND
_NET_1970 = 621_355_968_000_000_000
_NODE_DIGIT = 10
_STAMP = re.compile(r"(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d(?::\d\d)?)(?:\.(\d{1,7}))?)?(Z|[+-]\d\d:\d\d)?")


def ticks(seconds: float) -> int:
    return round(seconds * SECOND)


def stamp(moment: int) -> str:
    """Returns ISO 8601 text in UTC."""
    seconds, fraction = divmod(moment, SECOND)
    if not fraction:
        return f"{_second(seconds)}Z"
    return f"{_second(seconds)}.{f'{fraction:07}'.rstrip('0')}Z"


def full_stamp(moment: int) -> str:
    """Returns the stamp with all seven digits, as in errors."""
    seconds, fraction = divmod(moment, SECOND)
    return f"{_second(seconds)}.{fraction:07}Z"


def parse_stamp(text: str) -> int:
    """Parses a stamp. Raises ValueError. Defaults are UTC and midnight."""
    found = _STAMP.fullmatch(text)
    if found is None:
        raise ValueError(f"'{text}' is no time stamp")
    day, time, fraction, zone = found.groups()
    moment = datetime.fromisoformat(f"{day}T{time or '00:00:00'}{zone or 'Z'}")
    return int(moment.timestamp()) * SECOND + int((fraction or "").ljust(7, "0"))


def to_node_precision(moment: int) -> int:
    """Returns the moment with six digits, the precision of nodes' stamps."""
    return moment - moment % _NODE_DIGIT


def etag(modified: int) -> str:
    """Returns the unquoted ETag: 0x and the hexadecimal .NET ticks of lastModified."""
    return f"0x{modified + _NET_1970:X}"


def http_date(moment: int) -> str:
    return _date(moment // SECOND)


def parse_http_date(text: str) -> int:
    """Parses an HTTP date. Raises ValueError."""
    try:
        return int(parsedate_to_datetime(text).timestamp()) * SECOND
    except (TypeError, IndexError) as error:
        raise ValueError(f"'{text}' is no HTTP date") from error


@lru_cache(8192)
def _second(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")


@lru_cache(64)
def _date(seconds: int) -> str:
    return formatdate(seconds, usegmt=True)
