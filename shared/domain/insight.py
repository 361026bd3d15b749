"""What a job's tasks tell beyond their counts: how long they waited and ran, when they completed, what was repeated.

It is small and sums up: that of a job is the sum of those of its leaves, each reckoned anew whenever its leaf is
written, so that a task that is read again never counts twice. What it means for the future is in `outlook`.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from shared.domain.columns import deflated, inflated
from shared.domain.histograms import Histogram

FORM = 1
MINUTES = 75  # an hour, the minute under way, and some that clocks running ahead may add
MINUTE = 60_000


@dataclass(frozen=True, slots=True)
class Insight:
    """`waits` (start less creation) and `runs` (end less start) are those of the latest run of tasks that completed.

    A task that completed without a start is in neither. `completions` are (minute since 1970, tasks that ended in it)
    of the newest MINUTES minutes in which any did, in their order. `retried_tasks` are tasks with a retry,
    `requeued_tasks` with a requeue. Slots are those that running, and active, tasks require.
    """

    waits: Histogram = field(default_factory=Histogram)
    runs: Histogram = field(default_factory=Histogram)
    completions: tuple[tuple[int, int], ...] = ()
    retries: int = 0
    retried_tasks: int = 0
    requeues: int = 0
    requeued_tasks: int = 0
    running_slots: int = 0
    active_slots: int = 0

    @classmethod
    def summed(cls, many: "Sequence[Insight]") -> "Insight":
        """The newest minutes of all are among the newest of each, so the order of sums doesn't matter."""
        return cls(
            Histogram.summed(insight.waits for insight in many),
            Histogram.summed(insight.runs for insight in many),
            newest(chain.from_iterable(insight.completions for insight in many)),
            *map(sum, zip(*(insight._numbers() for insight in many), strict=True)),  # noqa: SLF001
        )

    def completed_in(self, first: int, end: int) -> int | None:
        """Tasks that ended from the minute `first` up to `end`; None where minutes of it weren't kept."""
        if len(self.completions) == MINUTES and first < self.completions[0][0]:
            return None
        return sum(number for minute, number in self.completions if first <= minute < end)

    def plain(self) -> list[Any]:
        """Lists of numbers, for storage."""
        histograms = [[histogram.sum, *chain.from_iterable(histogram.buckets)] for histogram in (self.waits, self.runs)]
        return [*histograms, [*chain.from_iterable(self.completions)], *self._numbers()]

    @classmethod
    def of_plain(cls, stored: list[Any]) -> "Insight":
        """The inverse of `plain`. Raises ValueError, TypeError."""
        waits, runs, completions, *numbers = stored
        return cls(
            Histogram(waits[0], _pairs(waits[1:])), Histogram(runs[0], _pairs(runs[1:])), _pairs(completions), *numbers
        )

    def _numbers(self) -> tuple[int, ...]:
        return (
            self.retries, self.retried_tasks, self.requeues, self.requeued_tasks, self.running_slots, self.active_slots
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class StoredInsight:
    """An insight as it is stored, packed: it is loaded far more often than looked at.

    `origin` tells the summaries that it is the sum of from any others.
    """

    origin: bytes
    packed: bytes

    @classmethod
    def of(cls, insight: Insight, origin: bytes) -> "StoredInsight":
        return cls(origin, deflated(json.dumps([FORM, *insight.plain()], separators=(",", ":")).encode()))

    def unpack(self) -> Insight | None:
        """None for a form that this version doesn't know."""
        form, *told = json.loads(inflated(self.packed))
        return Insight.of_plain(told) if form == FORM else None


def newest(completions: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """The numbers of the newest MINUTES minutes, each once, in order."""
    numbers = defaultdict[int, int](int)
    for minute, number in completions:
        numbers[minute] += number
    return tuple(sorted(numbers.items())[-MINUTES:])


def _pairs(flat: list[int]) -> tuple[tuple[int, int], ...]:
    return tuple(zip(flat[::2], flat[1::2], strict=True))
