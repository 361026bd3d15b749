"""Rows of minutes and of quarter-hours: which slot of which row a sample stands in, and how long rows are kept.

Apart from samples, as settings need no more than this when the app starts.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from shared.domain.core.stamps import EPOCH, from_milliseconds, to_milliseconds

_MINUTE = 60_000  # milliseconds


class Held(Protocol):
    """A sample of any kind: `at` and `through` are milliseconds since 1970."""

    @property
    def at(self) -> int: ...

    @property
    def through(self) -> int: ...

    def text(self) -> str: ...


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
