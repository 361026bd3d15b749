"""Time stamps of telemetry, in seconds, milli-, micro- or nanoseconds that they don't name.

The precision follows from the number's size, which is correct from 3 March 1973 to 2262, the end of 64-bit nanoseconds:
a factor of a thousand more or less would be an implausible time for a node. A setting couldn't be right for a container
whose sources differ. Other times, as in published test cases, need a known precision.
"""

from collections.abc import Mapping
from datetime import datetime

from shared.domain.core.stamps import EPOCH

NANOSECONDS: Mapping[str, int] = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1_000, "µs": 1_000, "ns": 1}
_MAX = 1 << 63
_STEPS = ((10**11, NANOSECONDS["s"]), (10**14, NANOSECONDS["ms"]), (10**17, NANOSECONDS["us"]))


class Precision:
    """A converter of written times to nanoseconds since 1970; `unit` is a key of NANOSECONDS, if known."""

    __slots__ = ("_factor", "as_written")

    def __init__(self, unit: str | None = None) -> None:
        """Raises KeyError for another unit."""
        self._factor = NANOSECONDS[unit] if unit else 0
        self.as_written = (_STEPS[-1][0], _MAX) if not unit else (-_MAX, _MAX) if unit == "ns" else (0, 0)

    def nanoseconds(self, written: float) -> int:
        """Returns nanoseconds. Raises ValueError where they exceed 64 bits (outside the years 1677 to 2262)."""
        factor = self._factor or _factor_of(abs(written))
        found = written * factor
        if not -_MAX <= found < _MAX:
            raise ValueError("the time is out of range")
        return round(found)

    def parsed(self, written: float | str) -> int:
        """Returns nanoseconds for a number or an RFC 3339 text. Raises ValueError."""
        return nanoseconds_of(written) if isinstance(written, str) else self.nanoseconds(written)

    def factor_between(self, written: int | None) -> tuple[int, range]:
        """Returns the factor of a written time, and the range of times that have the same factor."""
        found = self._factor or _factor_of(abs(written or 0))
        if self._factor:
            return found, range(-_MAX // found + 1, _MAX // found)
        least = max((limit for limit, factor in _STEPS if factor > found), default=0)
        return found, range(least, min((limit for limit, factor in _STEPS if factor == found), default=_MAX))


def nanoseconds_of(text: str) -> int:
    """Returns nanoseconds for an ISO 8601 time with up to nine decimals; UTC if it names no zone. Raises ValueError."""
    whole, mark, rest = text.partition(".")
    digits = rest[: len(rest) - len(rest.lstrip("0123456789"))] if mark else ""
    try:
        moment = datetime.fromisoformat(whole + rest[len(digits) :].replace(".", "?"))
    except ValueError as error:
        raise ValueError("the time is written in no known way") from error
    aware = moment if moment.tzinfo else moment.replace(tzinfo=EPOCH.tzinfo)
    seconds = (aware - EPOCH).days * 86_400 + (aware - EPOCH).seconds
    return Precision("s").nanoseconds(seconds) + int(digits[:9].ljust(9, "0") or 0)


def _factor_of(size: float) -> int:
    return next((factor for limit, factor in _STEPS if size < limit), 1)
