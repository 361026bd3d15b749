"""Samples of a job's counts, and where in the history of a job or a pool each sample is kept.

A history has rows of an hour with a slot for each minute, and rows of a day with a slot for each quarter of an hour. A
slot reaches from just after its beginning to its end, so that at its end its sample is the last one there was. A sample
that holds into later rows stands in the first slot of each, so nobody looks back further than the rows asked for. No
two samples ever want the same slot: whoever writes one, however late or often, writes the same.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple, Protocol

from shared.domain.core.stamps import EPOCH, from_milliseconds, to_milliseconds
from shared.domain.tasks.tasks import COUNT_FIELDS, TaskCounts

_MINUTE = 60_000  # milliseconds
_NEVER, _DOUBTED = "-", "?"


class Held(Protocol):
    """A sample of any kind: `at` and `through` are milliseconds since 1970."""

    @property
    def at(self) -> int: ...

    @property
    def through(self) -> int: ...

    def text(self) -> str: ...


class Sample(NamedTuple):
    """Counts that one read found and later ones confirmed; times are milliseconds since 1970.

    `at` is the T0 of the read that found them, `through` when they were last found so, be it by Get Task Counts alone,
    `exact_through` as of when both agreed, None where they never did; `doubted` where they differed since.
    """

    at: int
    through: int
    exact_through: int | None
    counts: TaskCounts
    doubted: bool = False

    def text(self) -> str:
        """As it is stored: when, for how long, for how long exactly, and the counts."""
        exact = _NEVER if self.exact_through is None else str(self.exact_through - self.at)
        exact += _DOUBTED if self.doubted else ""
        counts = self.counts
        return (
            f"{self.at} {self.through - self.at} {exact} {counts.active} {counts.preparing} {counts.running}"
            f" {counts.completed} {counts.succeeded} {counts.failed}"
        )


def sample_of(text: str) -> Sample:
    """The sample that `Sample.text` wrote. Raises ValueError where it isn't one."""
    at, through, exact, *counts = text.split(" ")
    if len(counts) != len(COUNT_FIELDS):
        raise ValueError(f"it has {len(counts)} counts")
    begun, held = int(at), exact.removesuffix(_DOUBTED)
    exact_through = None if held == _NEVER else begun + int(held)
    return Sample(begun, begun + int(through), exact_through, TaskCounts(*map(int, counts)), held != exact)


@dataclass(frozen=True, slots=True)
class Grain:
    """One kind of rows: `slots` in a row, each so many milliseconds long; slots are numbered since 1970."""

    row_letter: str
    slot_letter: str
    length: int
    slots: int

    @property
    def row_length(self) -> int:
        return self.length * self.slots

    def slot(self, moment: int) -> int:
        """The slot that a moment belongs to; a moment between two belongs to the one that it ends."""
        return max(moment - 1, 0) // self.length

    def row(self, slot: int) -> str:
        """The key of the row of a slot; keys are in the order of time."""
        return f"{self.row_letter}{slot // self.slots:07}"

    def column(self, slot: int) -> str:
        return f"{self.slot_letter}{slot % self.slots:02}"

    def slots_of(self, sample: Held, ended: int | None, oldest: int) -> Iterator[int]:
        """The slots that a sample stands in, none of them in rows that were over by `oldest`.

        `ended` is the `at` of the sample that followed, which may take the last of these slots; None where none did.
        """
        through = sample.through if ended is None else min(sample.through, ended)
        begun = self.slot(sample.at)
        rows = range(max(-(-sample.at // self.row_length), self.first_row(oldest)), -(-through // self.row_length))
        taken = None if ended is None else self.slot(ended)
        for slot in (begun, *(row * self.slots for row in rows)):
            if slot != taken and slot // self.slots >= self.first_row(oldest):
                yield slot

    def first_row(self, oldest: int) -> int:
        """The number of the first row that isn't over by `oldest`."""
        return max(oldest, 0) // self.row_length


MINUTES = Grain("h", "m", _MINUTE, 60)
QUARTERS = Grain("d", "q", 15 * _MINUTE, 96)


@dataclass(frozen=True, slots=True)
class HistoryRetention:
    """How long rows of minutes and of quarter-hours are kept."""

    minutes: timedelta
    quarters: timedelta

    def oldest(self, grain: Grain, now: int) -> int:
        """What lies before then, in milliseconds since 1970, isn't kept any more `now`."""
        kept = self.minutes if grain is MINUTES else self.quarters
        return to_milliseconds(max(from_milliseconds(now) - kept, EPOCH))


type Columns = dict[str, str]


def rows_of[S: Held](samples: Sequence[S], last: S | None, retention: HistoryRetention) -> dict[str, Columns]:
    """What is to be merged into a history: columns by row key.

    `samples` follow each other and are followed by `last`, which is not to be written yet; None where the end is it.
    """
    rows: dict[str, Columns] = {}
    now = (last or samples[-1]).through
    for sample, following in zip(samples, [*samples[1:], last], strict=True):
        for grain in (MINUTES, QUARTERS):
            for slot in grain.slots_of(sample, following.at if following else None, retention.oldest(grain, now)):
                rows.setdefault(grain.row(slot), {})[grain.column(slot)] = sample.text()
    return rows
