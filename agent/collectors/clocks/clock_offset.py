"""How wrong the node's clock is by the kernel's account: `batchscope_clock`."""

from __future__ import annotations

from collections.abc import Iterable

from agent.collectors.clocks.adjtimex import ClockState, KernelClock
from agent.collectors.collector import UnsupportedError
from agent.records.record import Record


class ClockOffsetCollector:
    """Measures the offset that is being corrected, its bounds, and whether a time service keeps the clock right."""

    name = "clock"

    def __init__(self, clock: KernelClock | None = None, interval: float = 10.0) -> None:
        self.interval = interval
        self._clock = clock or KernelClock()
        try:
            self._clock.state()
        except OSError as error:
            raise UnsupportedError(f"The state of the kernel's clock can't be read: {error}") from None

    def collect(self, now: int) -> Iterable[Record]:
        return [clock_record(self._clock.state())]


def clock_record(state: ClockState) -> Record:
    """Returns the record of a state: seconds, parts per million, and 1 if a time service keeps the clock right."""
    fields = {
        "offset_seconds": round(state.offset, 9),
        "max_error_seconds": round(state.max_error, 6),
        "estimated_error_seconds": round(state.estimated_error, 6),
        "frequency_ppm": round(state.frequency, 3),
        "synchronized": int(state.is_synchronized),
    }
    return Record("batchscope_clock", fields)
