"""Collector of jumps and large slews of the node's clock, against clocks that aren't set."""

from __future__ import annotations

from collections.abc import Iterable

from agent.events.event import event
from agent.machine.clock import Clock
from agent.records.record import Record

JUMP, SLEW = "clock_jump", "clock_slew"
MIN_JUMP = 2.0
"""Seconds that the clock is set by within one interval, or in small steps over time."""
MIN_SLEW, MIN_SLEW_CALM = 1000e-6, 500e-6
"""Shares by which a slewed clock runs fast or slow: an event is due above the first, a new one after the second."""
MIN_SPAN = 50.0  # seconds; over less, delays of the agent itself look like slews


class ClockJumps:
    """Compares the wall clock with the monotonic one every 10 s, and that, for slews, with one that nothing adjusts."""

    name = "clock_jumps"
    interval = 10.0

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._offset = self._read_offset(clock.now())
        self._begin = clock.monotonic(), clock.raw()
        self._is_slewed = False

    def collect(self, now: int) -> Iterable[Record]:
        """Yields an event for a jump, whose field `seconds` is positive forwards, and one when a slew begins."""
        offset = self._read_offset(self._clock.now())
        jump = offset - self._offset
        if abs(jump) >= MIN_JUMP:
            self._offset = offset
            way = "forwards" if jump > 0 else "back"
            yield event(JUMP, f"The node's clock was set {way} by {abs(jump):.1f} s.", {"seconds": jump})
        rate = self._slew()
        if rate is not None and self._begins(rate):
            message = f"The node's clock runs {abs(rate) * 100:.2f} % too {'fast' if rate > 0 else 'slow'}."
            yield event(SLEW, message, {"rate": rate})

    def _read_offset(self, now: int) -> float:
        return now / 1e9 - self._clock.monotonic()

    def _slew(self) -> float | None:
        """Returns by which share the clock runs fast; None before a span of time has passed."""
        current = self._clock.monotonic(), self._clock.raw()
        passed = current[1] - self._begin[1]
        if passed < MIN_SPAN:
            return None
        rate = (current[0] - self._begin[0]) / passed - 1
        self._begin = current
        return rate

    def _begins(self, rate: float) -> bool:
        was_slewed = self._is_slewed
        self._is_slewed = abs(rate) >= (MIN_SLEW_CALM if was_slewed else MIN_SLEW)
        return self._is_slewed and not was_slewed
