"""When records that are alike were made: told once for all their fields, as every column has the same times."""

from bisect import bisect_left
from collections.abc import Sequence
from operator import sub
from typing import NamedTuple

from shared.domain.telemetry.rollups.rollups import MINUTE


class Span(NamedTuple):
    """The places `begin` to `end` of a column, whose times are within one minute."""

    minute: int
    begin: int
    end: int


class Lengths(NamedTuple):
    """Nanoseconds from each time to the next, the `least` of them, and the one that all have, 0 where they differ."""

    each: list[int]
    least: int
    even: int


class Moments:
    """Times in nanoseconds since 1970 that ascend, some at least."""

    __slots__ = ("_lengths", "spans", "times")

    def __init__(self, times: Sequence[int]) -> None:
        self.times = times
        self.spans = spans_of(times)
        self._lengths: dict[int, Lengths] = {}

    def since(self, before: int) -> Lengths:
        """Lengths from a time before them to the first, and so on."""
        found = self._lengths.get(before)
        if found is None:
            each = list(map(sub, self.times, (before, *self.times)))  # one time more, of no use
            kinds = set(each)
            found = self._lengths[before] = Lengths(each, min(kinds), each[0] if len(kinds) == 1 else 0)
        return found


def spans_of(times: Sequence[int]) -> list[Span]:
    """The minutes of times that ascend."""
    found, begin = [], 0
    while begin < len(times):
        minute = times[begin] // MINUTE
        end = bisect_left(times, (minute + 1) * MINUTE, begin)
        found.append(Span(minute, begin, end))
        begin = end
    return found
