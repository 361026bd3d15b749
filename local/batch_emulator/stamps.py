"""Time as the service writes it. Inside the emulator time is ticks: 100 nanoseconds since 1970, an int."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime, parsedate_to_datetime

SECOND = 10_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NET_EPOCH = 621_355_968_000_000_000  # .NET ticks of 1970


def stamp(ticks: int) -> str:
    """ISO 8601 with up to seven digits, trailing zeros trimmed, as the service does."""
    seconds, fraction = divmod(ticks, SECOND)
    text = (_EPOCH + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S")
    digits = f"{fraction:07}".rstrip("0")
    return f"{text}.{digits}Z" if digits else f"{text}Z"


def parse_stamp(text: str) -> int:
    """Raises ValueError."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    whole = (moment.replace(microsecond=0) - _EPOCH) // timedelta(seconds=1)
    _, dot, rest = text.partition(".")
    digits = "".join(character for character in rest if character.isdigit())[:7] if dot else ""
    return whole * SECOND + int(digits.ljust(7, "0") or 0)


def node_stamp(ticks: int) -> int:
    """What a node's clock can tell: microseconds."""
    return ticks // 10 * 10


def etag(modified: int) -> str:
    """Unquoted, hexadecimal .NET ticks of lastModified."""
    return f"0x{modified + _NET_EPOCH:X}"


def http_date(ticks: int) -> str:
    return format_datetime(_EPOCH + timedelta(seconds=ticks // SECOND), usegmt=True)


def parse_http_date(text: str) -> int:
    """Raises ValueError or TypeError."""
    return int(parsedate_to_datetime(text).timestamp()) * SECOND
