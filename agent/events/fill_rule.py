"""The rule by which a file system is about to be full: its thresholds and its hysteresis, without any file."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

WINDOW = 300.0
"""Seconds over which the rate of filling is measured."""
MIN_WINDOW = 120.0
MAX_SECONDS_LEFT = 1800.0
"""An event is due where a file system will be full within this time."""
MIN_SECONDS_CALM = 5400.0
"""A new event is possible once the remaining time was longer than this, or the file system isn't filling at all."""
MIN_FREE = 0.02
"""Share of free space below which a file system is nearly full at any rate."""
MIN_FREE_CALM = 0.05
MIN_CONFIRMATIONS = 2
MAX_SAMPLES = 64


class Finding(NamedTuple):
    """A file system that is about to be full; `seconds` is None where it hardly has space already."""

    seconds: float | None
    free: int
    rate: float


class FillRule:
    """Judges samples of one file system; sizes in bytes, times in seconds of a monotonic clock."""

    def __init__(self) -> None:
        self._samples: deque[tuple[float, int]] = deque(maxlen=MAX_SAMPLES)
        self._is_reported = False
        self._confirmations = 0

    def judge(self, time: float, free: int, size: int) -> Finding | None:
        """Returns a finding once, when it is confirmed; the next one only after the file system recovered."""
        self._samples.append((time, free))
        while time - self._samples[0][0] > WINDOW:
            self._samples.popleft()
        rate = self._rate()
        seconds = free / rate if rate > 0 else None
        if self._is_reported:
            self._is_reported = not _is_calm(seconds, free, size)
            return None
        is_full = free < MIN_FREE * size
        self._confirmations = self._confirmations + 1 if is_full or _is_soon(seconds) else 0
        if self._confirmations < MIN_CONFIRMATIONS:
            return None
        self._is_reported, self._confirmations = True, 0
        return Finding(None if is_full else seconds, free, rate)

    def _rate(self) -> float:
        """Returns bytes a second by which the free space shrinks; 0 before the window is long enough."""
        (begin, before), (end, after) = self._samples[0], self._samples[-1]
        return (before - after) / (end - begin) if end - begin >= MIN_WINDOW else 0.0


def _is_soon(seconds: float | None) -> bool:
    return seconds is not None and seconds < MAX_SECONDS_LEFT


def _is_calm(seconds: float | None, free: int, size: int) -> bool:
    return free >= MIN_FREE_CALM * size and (seconds is None or seconds > MIN_SECONDS_CALM)
