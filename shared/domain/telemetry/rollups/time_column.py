"""Time stamps of records, computed once for all their columns, which share them."""

from bisect import bisect_left
from collections.abc import Sequence
from operator import sub
from typing import NamedTuple

from shared.domain.telemetry.rollups.rollups import MINUTE


class MinuteRange(NamedTuple):
    """Positions `begin` to `end` of a column whose times are within one minute."""

    minute: int
    begin: int
    end: int


class StepDurations(NamedTuple):
    """Nanoseconds between successive times: `each`, the `least`, and `even`, the common one or 0."""

    each: list[int]
    least: int
    even: int


class TimeColumn:
    """One or more ascending times, in nanoseconds since 1970."""

    __slots__ = ("_lengths", "spans", "times")

    def __init__(self, times: Sequence[int]) -> None:
        self.times = times
        self.spans = spans_of(times)
        self._lengths: dict[int, StepDurations] = {}

    def since(self, before: int) -> StepDurations:
        """Returns the lengths, the first of them from a time before all others."""
        found = self._lengths.get(before)
        if found is None:
            each = list(map(sub, self.times, (before, *self.times)))  # one time more, unused
            kinds = set(each)
            found = self._lengths[before] = StepDurations(each, min(kinds), each[0] if len(kinds) == 1 else 0)
        return found


def spans_of(times: Sequence[int]) -> list[MinuteRange]:
    """Returns the minutes of ascending times."""
    found, begin = [], 0
    while begin < len(times):
        minute = times[begin] // MINUTE
        end = bisect_left(times, (minute + 1) * MINUTE, begin)
        found.append(MinuteRange(minute, begin, end))
        begin = end
    return found
