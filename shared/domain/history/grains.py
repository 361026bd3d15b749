"""History rows of minutes and of quarter-hours: the slot and row of a sample, and the retention of rows.

It is separate from samples, because reading settings at start-up needs only this.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from shared.domain.core.stamps import EPOCH, from_milliseconds, to_milliseconds

_MINUTE = 60_000  # milliseconds


class HistorySample[N](Protocol):
    """A sample of any kind: `at` and `through` are milliseconds since 1970, between which `numbers` were found."""

    @property
    def at(self) -> int: ...

    @property
    def through(self) -> int: ...

    @property
    def numbers(self) -> N: ...

    def text(self) -> str: ...

    def known_at(self, end: int, lag: int) -> tuple[int, bool]: ...


@dataclass(frozen=True, slots=True)
class Grain:
    """One kind of rows: `slots` per row, each `length` milliseconds long; slots are numbered since 1970."""

    row_letter: str
    slot_letter: str
    length: int
    slots: int

    @property
    def row_length(self) -> int:
        return self.length * self.slots

    def slot(self, moment: int) -> int:
        """Returns the slot of a moment; a moment between two slots belongs to the one that it ends."""
        return max(moment - 1, 0) // self.length

    def row(self, slot: int) -> str:
        """Returns the row key of a slot; keys sort by time."""
        return f"{self.row_letter}{slot // self.slots:07}"

    def column(self, slot: int) -> str:
        return f"{self.slot_letter}{slot % self.slots:02}"

    def slots_of(self, sample: HistorySample[object], ended: int | None, oldest: int) -> Iterator[int]:
        """Yields the slots of a sample, except in rows that ended by `oldest`.

        `ended` is the `at` of the next sample, which may take the last of these slots; None without one.
        """
        through = sample.through if ended is None else min(sample.through, ended)
        begun = self.slot(sample.at)
        rows = range(max(-(-sample.at // self.row_length), self.first_row(oldest)), -(-through // self.row_length))
        taken = None if ended is None else self.slot(ended)
        for slot in (begun, *(row * self.slots for row in rows)):
            if slot != taken and slot // self.slots >= self.first_row(oldest):
                yield slot

    def first_row(self, oldest: int) -> int:
        """Returns the number of the first row that ends after `oldest`."""
        return max(oldest, 0) // self.row_length


MINUTES = Grain("h", "m", _MINUTE, 60)
QUARTERS = Grain("d", "q", 15 * _MINUTE, 96)


@dataclass(frozen=True, slots=True)
class HistoryRetention:
    """The retention of rows of minutes and of quarter-hours."""

    minutes: timedelta
    quarters: timedelta

    def oldest(self, grain: Grain, now: int) -> int:
        """Returns the moment before which nothing is kept `now`, both in milliseconds since 1970."""
        kept = self.minutes if grain is MINUTES else self.quarters
        return to_milliseconds(max(from_milliseconds(now) - kept, EPOCH))
