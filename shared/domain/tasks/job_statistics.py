"""Statistics of a job's tasks: waits, run times, completions by minute, retries and requeues.

A job's statistics are the sum of its leaves', each a function of the leaf's tasks. So a task that is read again never
counts twice. Forecasts made of them are in `forecast`.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain
from math import inf
from typing import Any

from shared.domain.packing.columns import DAMAGE
from shared.domain.packing.compression import deflated, inflated
from shared.domain.tasks.histograms import Histogram

FORM = 2  # the format version of leaf summaries, whose sum it is: see leaf_summaries
MINUTES = 75  # an hour, the current minute, and some that fast clocks may add
MINUTE = 60_000


@dataclass(frozen=True, slots=True)
class JobStatistics:
    """Statistics of tasks; `waits` (start less creation) and `runs` (end less start) are of completed tasks' last runs.

    A task that completed without a start is in neither, one with a retry or requeue in `runs` only. `completions` are
    (minute since 1970, tasks that ended in it), in order, of the newest MINUTES minutes with any. `retried_tasks` are
    tasks with a retry, `requeued_tasks` with a requeue. Slots are those that running, preparing and active tasks
    require.
    """

    waits: Histogram = field(default_factory=Histogram)
    runs: Histogram = field(default_factory=Histogram)
    completions: tuple[tuple[int, int], ...] = ()
    retries: int = 0
    retried_tasks: int = 0
    requeues: int = 0
    requeued_tasks: int = 0
    running_slots: int = 0
    preparing_slots: int = 0
    active_slots: int = 0

    @classmethod
    def summed(cls, many: "Sequence[JobStatistics]") -> "JobStatistics":
        """Returns the sum, which is the same in any order: the newest minutes of all are among the newest of each."""
        return cls(
            Histogram.summed(one.waits for one in many),
            Histogram.summed(one.runs for one in many),
            newest(chain.from_iterable(one.completions for one in many)),
            *map(sum, zip(*(one.numbers() for one in many), strict=True)),
        )

    def without(self, other: "JobStatistics") -> "JobStatistics | None":
        """Returns the durations and completions without those of other tasks; None where that can't be computed.

        It can't where the other tasks were the only ones in one of the newest minutes, because an older minute would
        replace it. Nor can it where they aren't all included.
        """
        waits, runs = self.waits.without(other.waits), self.runs.without(other.runs)
        numbers = dict(self.completions)
        are_all = len(numbers) < MINUTES
        for minute, number in other.completions:
            if are_all or minute >= self.completions[0][0]:
                numbers[minute] = numbers.get(minute, 0) - number
        least = min(numbers.values(), default=1)
        if waits is None or runs is None or least < 0 or (least == 0 and not are_all):
            return None
        return replace(self, waits=waits, runs=runs, completions=newest(one for one in numbers.items() if one[1]))

    def completed_before(self, end: int, windows: Iterable[int]) -> dict[int, int | None]:
        """Returns how many tasks ended in windows of minutes up to `end`, None where some of these weren't kept."""
        first = self.completions[0][0] if len(self.completions) == MINUTES else -inf
        return {
            window: sum(number for minute, number in self.completions if end - window <= minute < end)
            if end - window >= first
            else None
            for window in windows
        }

    def plain(self) -> list[Any]:
        """Returns lists of numbers, for storage."""
        histograms = [[histogram.sum, *chain.from_iterable(histogram.buckets)] for histogram in (self.waits, self.runs)]
        return [*histograms, [*chain.from_iterable(self.completions)], *self.numbers()]

    @classmethod
    def of_plain(cls, stored: list[Any]) -> "JobStatistics":
        """Returns the inverse of `plain`. Raises ValueError, TypeError, LookupError."""
        waits, runs, completions, *numbers = stored
        if not isinstance(sum(chain(waits, runs, completions, numbers)), int):
            raise TypeError("durations, minutes and numbers are whole numbers")
        return cls(
            Histogram(waits[0], _pairs(waits[1:])), Histogram(runs[0], _pairs(runs[1:])), _pairs(completions), *numbers
        )

    def numbers(self) -> tuple[int, ...]:
        """Returns the counts, which add up over leaves."""
        return (
            self.retries, self.retried_tasks, self.requeues, self.requeued_tasks,
            self.running_slots, self.preparing_slots, self.active_slots,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class StoredJobStatistics:
    """Job statistics as stored, compressed, because they are loaded far more often than unpacked.

    `origin` identifies the leaf summaries that they are the sum of.
    """

    origin: bytes
    packed: bytes

    @classmethod
    def of(cls, statistics: JobStatistics, origin: bytes) -> "StoredJobStatistics":
        return cls(origin, deflated(json.dumps([FORM, *statistics.plain()], separators=(",", ":")).encode()))

    def unpack(self) -> JobStatistics | None:
        """Returns the statistics, None where its format is unknown to this version or it is damaged."""
        with suppress(*DAMAGE):
            form, *parts = json.loads(inflated(self.packed))
            return JobStatistics.of_plain(parts) if form == FORM else None
        return None


def newest(completions: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Returns the numbers of the newest MINUTES minutes, each minute once, in order."""
    numbers = defaultdict[int, int](int)
    for minute, number in completions:
        numbers[minute] += number
    return tuple(sorted(numbers.items())[-MINUTES:])


def _pairs(flat: list[int]) -> tuple[tuple[int, int], ...]:
    return tuple(zip(flat[::2], flat[1::2], strict=True))
