"""Histograms of task durations: count and sum are exact, quantiles approximate.

Each octave has eight buckets. A bucket's middle differs from any value in it by at most RELATIVE_ERROR of that value.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

RELATIVE_ERROR = 1 / 16
_BITS = 3  # bits after a value's leading one that select its bucket
_STEPS = 1 << _BITS
_PERCENT = 100


@dataclass(frozen=True, slots=True)
class Histogram:
    """Whole milliseconds, none below 0: their `sum`, and (bucket, number) in the order of buckets."""

    sum: int = 0
    buckets: tuple[tuple[int, int], ...] = ()

    @classmethod
    def of(cls, milliseconds: Iterable[int]) -> "Histogram":
        """Returns the histogram of durations. Negative ones, which differing clocks produce, count as 0."""
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
        """Returns the histogram less another's values, None where they can't all be among its own."""
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
        """The mean in milliseconds; the histogram must not be empty."""
        return self.sum / self.count

    def quantile(self, percent: int) -> float:
        """Returns the milliseconds that at least `percent` of the values don't exceed, within RELATIVE_ERROR.

        It is the nearest rank: of 10 values the median is the fifth. Raises ValueError for an empty histogram.
        """
        left = -(-self.count * percent // _PERCENT)
        for bucket, number in self.buckets:
            left -= number
            if left <= 0:
                return (_lowest(bucket) + _lowest(bucket + 1) - 1) / 2
        raise ValueError(f"{percent} percent of no values")

    @property
    def highest(self) -> tuple[int, int]:
        """The ends of the last bucket, between which the highest value is; the histogram must not be empty."""
        bucket = self.buckets[-1][0]
        return _lowest(bucket), _lowest(bucket + 1) - 1

    def below(self, edges: Sequence[int]) -> list[int]:
        """Returns how many values are below each edge in milliseconds. Raises ValueError for one inside a bucket."""
        numbers = list(accumulate((number for _, number in self.buckets), initial=0))
        return [numbers[bisect_left(self.buckets, (_begun_at(edge),))] for edge in edges]


def bucket_of(milliseconds: int) -> int:
    """Returns the bucket number of a duration; each duration under 16 ms has a bucket of its own."""
    octave = max(0, milliseconds.bit_length() - _BITS - 1)
    return octave * _STEPS + (milliseconds >> octave)


def _begun_at(milliseconds: int) -> int:
    """Returns the bucket that begins at `milliseconds`. Raises ValueError where none does."""
    bucket = bucket_of(milliseconds)
    if _lowest(bucket) != milliseconds:
        raise ValueError(f"{milliseconds} ms is inside of a bucket, whose values can't be told apart")
    return bucket


def _lowest(bucket: int) -> int:
    octave = max(0, bucket // _STEPS - 1)
    return (bucket - octave * _STEPS) << octave
