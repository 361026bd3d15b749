"""Durations of many tasks in a few numbers, exact in number and sum, close in between.

Eight buckets an octave: what a bucket stands for is at most RELATIVE_ERROR of a value off any value in it.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

RELATIVE_ERROR = 1 / 16
_BITS = 3  # of a value, behind its first, that tell its bucket
_STEPS = 1 << _BITS
_PERCENT = 100


@dataclass(frozen=True, slots=True)
class Histogram:
    """Whole milliseconds, none below 0: their `sum`, and (bucket, number) in the order of buckets."""

    sum: int = 0
    buckets: tuple[tuple[int, int], ...] = ()

    @classmethod
    def of(cls, milliseconds: Iterable[int]) -> "Histogram":
        """What is below 0, where one clock runs behind another, counts as 0."""
        values = sorted(milliseconds)
        at = bisect_left(values, 0)
        values[:at] = [0] * at
        buckets, at = [], 0
        while at < len(values):
            bucket = bucket_of(values[at])
            end = bisect_left(values, _lowest(bucket + 1), at)
            buckets.append((bucket, end - at))
            at = end
        return cls(sum(values), tuple(buckets))

    @classmethod
    def summed(cls, many: "Iterable[Histogram]") -> "Histogram":
        total, numbers = 0, defaultdict[int, int](int)
        for histogram in many:
            total += histogram.sum
            for bucket, number in histogram.buckets:
                numbers[bucket] += number
        return cls(total, tuple(sorted(numbers.items())))

    def without(self, other: "Histogram") -> "Histogram | None":
        """What is left of it without other values; None where these can't all be among its own."""
        numbers = dict(self.buckets)
        for bucket, number in other.buckets:
            numbers[bucket] = numbers.get(bucket, 0) - number
        if min(numbers.values(), default=0) < 0:
            return None
        return Histogram(self.sum - other.sum, tuple(sorted(one for one in numbers.items() if one[1])))

    @property
    def count(self) -> int:
        return sum(number for _, number in self.buckets)

    @property
    def mean(self) -> float:
        """Milliseconds; there must be values."""
        return self.sum / self.count

    def quantile(self, percent: int) -> float:
        """Milliseconds that at least so many percent of the values don't exceed, give or take RELATIVE_ERROR.

        By the nearest rank: of 10 values the median is the fifth. There must be values.
        """
        left = -(-self.count * percent // _PERCENT)
        for bucket, number in self.buckets:
            left -= number
            if left <= 0:
                return (_lowest(bucket) + _lowest(bucket + 1) - 1) / 2
        raise ValueError(f"{percent} percent of no values")

    def below(self, edges: Sequence[int]) -> list[int]:
        """How many values are below each of these milliseconds. Raises ValueError for an edge inside of a bucket."""
        numbers = list(accumulate((number for _, number in self.buckets), initial=0))
        return [numbers[bisect_left(self.buckets, (_begun_at(edge),))] for edge in edges]


def bucket_of(milliseconds: int) -> int:
    """The number of the bucket of a duration; those under 16 ms have a bucket each."""
    octave = max(0, milliseconds.bit_length() - _BITS - 1)
    return octave * _STEPS + (milliseconds >> octave)


def _begun_at(milliseconds: int) -> int:
    """The bucket that begins there."""
    bucket = bucket_of(milliseconds)
    if _lowest(bucket) != milliseconds:
        raise ValueError(f"{milliseconds} ms is inside of a bucket, whose values can't be told apart")
    return bucket


def _lowest(bucket: int) -> int:
    octave = max(0, bucket // _STEPS - 1)
    return (bucket - octave * _STEPS) << octave
