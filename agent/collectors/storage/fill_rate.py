"""Predicts when a file system is full, from its last samples."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Tuple

WINDOW = 300.0
"""Seconds of samples that a rate is computed from."""
MIN_SAMPLES = 3
MAX_PREDICTION = 7 * 86400.0
"""Seconds until full beyond which no prediction makes sense."""
_MAX_SAMPLES = 1000

_Sample = Tuple[float, float]


class FillRate:
    """Keeps the samples of one file system."""

    def __init__(self) -> None:
        self._samples: deque[_Sample] = deque(maxlen=_MAX_SAMPLES)

    def add(self, seconds: float, used: float) -> None:
        """Adds the used bytes at a time of the monotonic clock."""
        while self._samples and not 0 < seconds - self._samples[0][0] <= WINDOW:
            self._samples.popleft()
        self._samples.append((seconds, used))

    def bytes_per_second(self) -> float | None:
        """Returns how fast it fills (below 0: empties), None with too few samples.

        It is the lesser of the whole window's slope and that of the last samples, so that a writer that has finished
        predicts nothing any more.
        """
        samples = list(self._samples)
        if len(samples) < MIN_SAMPLES:
            return None
        return min(slope_of(samples), slope_of(samples[-MIN_SAMPLES:]))

    def seconds_until_full(self, free: float) -> float | None:
        """Returns the seconds in which `free` bytes are used up at this rate, None if they aren't within a week."""
        rate = self.bytes_per_second()
        if rate is None or rate <= 0:
            return None
        seconds = free / rate
        return seconds if seconds <= MAX_PREDICTION else None


def slope_of(samples: Sequence[_Sample]) -> float:
    """Returns the slope of the line with the least squares through samples at different times."""
    middle = sum(at for at, _ in samples) / len(samples)
    spread = sum((at - middle) ** 2 for at, _ in samples)
    first = samples[0][1]
    return sum((at - middle) * (value - first) for at, value in samples) / spread
