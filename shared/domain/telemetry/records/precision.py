"""Time stamps of telemetry come in seconds, milli-, micro- or nanoseconds, and don't say in which.

So it is told from the number's size, which is right from 3 March 1973 to 2262, where 64 bits of nanoseconds end: a
thousand times as much or as little would be no time of a node. That needs no setting, which couldn't be right for a
container in which sources differ; other times, as published cases have them, are read where their precision is known.
"""

from collections.abc import Mapping
from datetime import datetime

from shared.domain.core.stamps import EPOCH
from shared.domain.telemetry.records.metrics import TextError

NANOSECONDS: Mapping[str, int] = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1_000, "µs": 1_000, "ns": 1}
_MOST = 1 << 63
_STEPS = ((10**11, NANOSECONDS["s"]), (10**14, NANOSECONDS["ms"]), (10**17, NANOSECONDS["us"]))


class Precision:
    """Turns written times into nanoseconds since 1970; `unit` is a key of NANOSECONDS where it is known."""

    __slots__ = ("_factor", "as_written")

    def __init__(self, unit: str | None = None) -> None:
        """Raises KeyError for another unit."""
        self._factor = NANOSECONDS[unit] if unit else 0
        self.as_written = (_STEPS[-1][0], _MOST) if not unit else (-_MOST, _MOST) if unit == "ns" else (0, 0)

    def nanoseconds(self, written: float) -> int:
        """Raises ValueError where the time isn't within 64 bits of nanoseconds (the years 1677 to 2262)."""
        factor = self._factor or _factor_of(abs(written))
        found = written * factor
        if not -_MOST <= found < _MOST:
            raise ValueError("the time is out of range")
        return round(found)

    def factor_between(self, written: int | None) -> tuple[int, range]:
        """The factor of a written time, and which others have the same one."""
        found = self._factor or _factor_of(abs(written or 0))
        if self._factor:
            return found, range(-_MOST // found + 1, _MOST // found)
        least = max((limit for limit, factor in _STEPS if factor > found), default=0)
        return found, range(least, min((limit for limit, factor in _STEPS if factor == found), default=_MOST))

    def parsed(self, written: float | str) -> int:
        """The same of a number, or of a text as of RFC 3339. Raises ValueError."""
        if isinstance(written, str):
            return nanoseconds_of(written)
        return self.nanoseconds(written)

    def at(self, written: int, position: int) -> int:
        """The same of a number that stands at a position of a text. Raises TextError."""
        try:
            return self.nanoseconds(written)
        except ValueError as error:
            raise TextError(str(error), position) from error


def nanoseconds_of(text: str) -> int:
    """Nanoseconds of an ISO 8601 time with up to nine digits; UTC where it names no zone. Raises ValueError."""
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
