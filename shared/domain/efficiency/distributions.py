"""Distributions of a figure over runs of tasks: a histogram, and the runs at both ends.

They add up in any order: the sum of rows equals the distribution of all their runs.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from shared.domain.tasks.histograms import Histogram


class Measured(NamedTuple):
    """A value of a run, its task, and the run's milliseconds."""

    value: int
    task: str
    duration: int


class Extreme(NamedTuple):
    """The value at one end of a distribution, and its task; the first by id where several have it."""

    value: int
    task: str


@dataclass(frozen=True, slots=True)
class Distribution:
    """A figure of one or more runs, in whole units: milliseconds, bytes, or thousandths of cores and GPUs.

    `used` is the sum of values times the milliseconds of their runs, `time` that of these milliseconds.
    """

    values: Histogram
    lowest: Extreme
    highest: Extreme
    used: int
    time: int

    @classmethod
    def of(cls, values: Iterable[Measured]) -> "Distribution":
        """Returns the distribution of values; raises ValueError without any."""
        found = list(values)
        extremes = [Extreme(one.value, one.task) for one in found]
        return cls(
            Histogram.of(one.value for one in found),
            min(extremes),
            min(extremes, key=_from_above),
            sum(one.value * one.duration for one in found),
            sum(one.duration for one in found),
        )

    @classmethod
    def summed(cls, many: "Iterable[Distribution]") -> "Distribution":
        some = list(many)
        return cls(
            Histogram.summed(one.values for one in some),
            min(one.lowest for one in some),
            min((one.highest for one in some), key=_from_above),
            sum(one.used for one in some),
            sum(one.time for one in some),
        )

    @property
    def count(self) -> int:
        return self.values.count

    @property
    def mean(self) -> float:
        return self.values.mean

    @property
    def mean_over_time(self) -> float:
        """The mean weighted by the time of runs; the plain one where they took none."""
        return self.used / self.time if self.time else self.mean

    def quantile(self, percent: int) -> float:
        """Returns what at least `percent` of the values don't exceed, within both ends."""
        return min(max(self.values.quantile(percent), self.lowest.value), self.highest.value)

    def plain(self) -> list[Any]:
        """Returns lists, numbers and texts, for storage; a text where a number may have more than 64 bits."""
        buckets = [number for bucket in self.values.buckets for number in bucket]
        return [self.values.sum, buckets, *self.lowest, *self.highest, str(self.used), self.time]

    @classmethod
    def of_plain(cls, stored: list[Any]) -> "Distribution":
        """Returns the inverse of `plain`. Raises ValueError, TypeError, LookupError."""
        total, buckets, low, low_task, high, high_task, *over_time = stored
        used, time = over_time or (total, sum(buckets[1::2]))  # rows before had none: each run counts the same
        pairs = tuple(zip(buckets[::2], buckets[1::2], strict=True))
        return cls(Histogram(total, pairs), Extreme(low, low_task), Extreme(high, high_task), int(used), time)


def _from_above(extreme: Extreme) -> tuple[int, str]:
    return -extreme.value, extreme.task
