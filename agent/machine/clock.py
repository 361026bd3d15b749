"""The only door to clocks; tests pass one of their own."""

from __future__ import annotations

import time


class Clock:
    """Clocks of this machine."""

    def now(self) -> int:
        """Returns nanoseconds since 1970, by the node's clock, which may be wrong or set."""
        return time.time_ns()

    def monotonic(self) -> float:
        """Returns seconds since some moment, which only grow and don't count sleep."""
        return time.monotonic()

    def raw(self) -> float:
        """Returns seconds since some moment by a clock that nothing adjusts."""
        return time.clock_gettime(time.CLOCK_MONOTONIC_RAW)

    def sleep(self, seconds: float) -> None:
        time.sleep(max(seconds, 0.0))
