"""Marks of a row of events: short hashes of its jobs, pools, nodes and kinds, by which a list skips rows.

A mark means that the row may contain such an event; without the mark it contains none. Tasks have no marks: nearly
every event has a different one, and queries for a task name its job.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b

from shared.domain.core.keys import key_of
from shared.domain.events.batch_events import BatchEvent
from shared.domain.events.event_lists import EventFilter

_PARTS = ("job", "pool", "node", "kind")
_BYTES = 4
_MAX_ROWS = 50  # of a stretch to read; _MAX_PASSED of one to skip
_MAX_PASSED = 1_000


@dataclass(frozen=True, slots=True)
class MinuteRange:
    """Minutes from `first` to `last`, both included, in `rows` rows; without `is_wanted`, none of them matches."""

    first: int
    last: int
    rows: int
    is_wanted: bool

    def joined(self, earlier: "MinuteRange") -> "MinuteRange | None":
        """Returns both as one, or None where they differ in kind or are too long together."""
        rows = self.rows + earlier.rows
        if self.is_wanted != earlier.is_wanted or rows > (_MAX_ROWS if self.is_wanted else _MAX_PASSED):
            return None
        return MinuteRange(earlier.first, self.last, rows, self.is_wanted)


type Wanted = tuple[frozenset[bytes], ...]
"""Sets of marks: a row must have one mark of each."""


def marks_of(events: Iterable[BatchEvent]) -> bytes:
    """Returns all marks of a row's events, concatenated."""
    parts = [(part, getattr(event, part)) for event in events for part in _PARTS]
    return b"".join(sorted({_mark(part, value) for part, value in parts if value is not None}))


def marks_wanted(wanted: EventFilter) -> Wanted:
    """Returns the marks that a row needs for an event to pass; empty where the filter uses nothing with marks."""
    values = {part: getattr(wanted, f"{part}s") for part in _PARTS}
    return tuple(frozenset(_mark(part, value) for value in some) for part, some in values.items() if some)


def may_have(marks: bytes, wanted: Wanted) -> bool:
    """Returns whether events of a row with these marks may pass."""
    there = {marks[at : at + _BYTES] for at in range(0, len(marks), _BYTES)}
    return not any(there.isdisjoint(some) for some in wanted)


@lru_cache(4096)
def _mark(part: str, value: str) -> bytes:
    return blake2b(f"{part}/{key_of(value)}".encode(), digest_size=_BYTES).digest()
