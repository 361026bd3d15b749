"""The values of formulas. A double is a float, a doubleVec a tuple of floats, a string a str."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

SECOND = 10_000_000  # ticks of 100 ns
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = 10  # ticks
_MAX_INTERVAL = 2**63  # ticks, as in .NET
_W3C = re.compile(
    r"(\d{4})(?:-(\d\d)(?:-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,7}))?)?(?:Z|([+-])(\d\d):(\d\d)))?)?)?", re.ASCII
)


class ValueProblemError(Exception):
    """An operation has no value; the place is added where it is known."""


@dataclass(frozen=True, slots=True, order=True)
class Interval:
    """A timeinterval in ticks of 100 ns."""

    ticks: int

    def __post_init__(self) -> None:
        if abs(self.ticks) >= _MAX_INTERVAL:
            raise ValueProblemError("the timeinterval is too long")


@dataclass(frozen=True, slots=True, order=True)
class Timestamp:
    """A timestamp in ticks of 100 ns since 1970, in UTC."""

    ticks: int

    @property
    def moment(self) -> datetime:
        """The time to the microsecond. Raises ValueProblemError beyond the calendar."""
        try:
            return _EPOCH + timedelta(microseconds=self.ticks // _MICROSECOND)
        except OverflowError:
            raise ValueProblemError("the timestamp is beyond the calendar") from None

    @property
    def milliseconds(self) -> float:
        return self.ticks / (SECOND / 1000)


type Scalar = float | tuple[float, ...] | str | Timestamp | Interval

INTERVALS = {
    "TimeInterval_Zero": Interval(0),
    "TimeInterval_100ns": Interval(1),
    "TimeInterval_Microsecond": Interval(_MICROSECOND),
    "TimeInterval_Millisecond": Interval(SECOND // 1000),
    "TimeInterval_Second": Interval(SECOND),
    "TimeInterval_Minute": Interval(60 * SECOND),
    "TimeInterval_Hour": Interval(3600 * SECOND),
    "TimeInterval_Day": Interval(86_400 * SECOND),
    "TimeInterval_Week": Interval(7 * 86_400 * SECOND),
    "TimeInterval_Year": Interval(365 * 86_400 * SECOND),
}
_TYPES: dict[type, str] = {
    float: "double",
    tuple: "doubleVec",
    str: "string",
    Timestamp: "timestamp",
    Interval: "timeinterval",
}


def type_name(value: object) -> str:
    """Returns the name of a value's type in the language."""
    return _TYPES.get(type(value), "variable with samples")


def timestamp_of(moment: datetime) -> Timestamp:
    """Returns a time as a timestamp."""
    return Timestamp((moment - _EPOCH) // timedelta(microseconds=1) * _MICROSECOND)


def read_timestamp(text: str) -> Timestamp:
    """Returns the time of a text in W3C-DTF or RFC 1123, in UTC unless it has an offset. Raises ValueProblemError."""
    try:
        if found := _W3C.fullmatch(text.strip()):
            given = zip(found.groups()[:6], (1, 1, 1, 0, 0, 0), strict=True)
            year, month, day, hour, minute, second = (int(part or least) for part, least in given)
            ticks = timestamp_of(datetime(year, month, day, hour, minute, second, tzinfo=UTC)).ticks
            ticks += int((found[7] or "").ljust(7, "0"))
            if found[8]:
                offset = (int(found[9]) * 60 + int(found[10])) * 60 * SECOND
                ticks += offset if found[8] == "-" else -offset
            return Timestamp(ticks)
        moment = parsedate_to_datetime(text)
        return timestamp_of(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        raise ValueProblemError(f"'{text[:40]}' is no time in W3C-DTF or RFC 1123") from None
