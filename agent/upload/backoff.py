"""Waits between tries: exponential with jitter, and at least as long as the service asks for."""

from __future__ import annotations

import email.utils
import random
from collections.abc import Callable, Mapping

MIN_WAIT, MAX_WAIT = 1.0, 300.0
"""Seconds of the first wait and of the longest that the service didn't ask for."""
MAX_ASKED = 3600.0
"""Seconds of the longest wait that the service may ask for."""
_MAX_DOUBLINGS = 12
_MAX_DIGITS = 9


class Backoff:
    """Counts failures in a row; `chance` returns a number from 0 to 1."""

    def __init__(self, chance: Callable[[], float] = random.random) -> None:
        self._chance = chance
        self._failures = 0

    def failed(self, asked: float | None) -> float:
        """Returns seconds to wait after a failure; `asked` is the time that the service asked for, None for none.

        Jitter spreads a pool's nodes: half of an exponential wait, a tenth on top of an asked one.
        """
        wait = min(MIN_WAIT * (1 << min(self._failures, _MAX_DOUBLINGS)), MAX_WAIT)
        self._failures += 1
        own = max(wait * (0.5 + 0.5 * self._chance()), MIN_WAIT)
        return own if asked is None else max(own, min(asked, MAX_ASKED) * (1 + 0.1 * self._chance()))

    def succeeded(self) -> None:
        self._failures = 0


def asked_wait(headers: Mapping[str, str], now: float) -> float | None:
    """Returns seconds that an answer's headers ask to wait, None for no wish; `now` is in seconds since 1970."""
    milliseconds = _number(headers.get("x-ms-retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    written = headers.get("retry-after", "")
    seconds = _number(written)
    return _seconds_until(written, now) if seconds is None and written else seconds


def _number(written: str) -> float | None:
    return float(written) if written.isdecimal() and written.isascii() and len(written) <= _MAX_DIGITS else None


def _seconds_until(written: str, now: float) -> float | None:
    """Returns the seconds until a date as HTTP writes it."""
    try:
        return max(email.utils.parsedate_to_datetime(written).timestamp() - now, 0.0)
    except (TypeError, ValueError, OverflowError):
        return None
