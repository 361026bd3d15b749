"""Marks of a row of events: short hashes of the jobs, pools, nodes and kinds in it, so that a list passes over the row.

A mark that is there says that the row may have such an event, one that isn't that it has none. Tasks have no marks:
nearly every event is of another one, and a task is asked for with its job.
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
_MOST_ROWS = 50  # of a stretch that is read; of one that is passed over _MOST_PASSED
_MOST_PASSED = 1_000


@dataclass(frozen=True, slots=True)
class Stretch:
    """Minutes from `first` to `last`, both included, in `rows` rows; without `is_wanted` there is nothing in them."""

    first: int
    last: int
    rows: int
    is_wanted: bool

    def joined(self, earlier: "Stretch") -> "Stretch | None":
        """Both as one, where they are alike and not too long together."""
        rows = self.rows + earlier.rows
        if self.is_wanted != earlier.is_wanted or rows > (_MOST_ROWS if self.is_wanted else _MOST_PASSED):
            return None
        return Stretch(earlier.first, self.last, rows, self.is_wanted)


type Wanted = tuple[frozenset[bytes], ...]
"""Of each of these sets a row must have one mark."""


def marks_of(events: Iterable[BatchEvent]) -> bytes:
    """All marks of a row's events, side by side."""
    parts = [(part, getattr(event, part)) for event in events for part in _PARTS]
    return b"".join(sorted({_mark(part, value) for part, value in parts if value is not None}))


def marks_wanted(wanted: EventFilter) -> Wanted:
    """The marks that a row must have for an event to pass; none where the filter asks for nothing that has marks."""
    values = {part: getattr(wanted, f"{part}s") for part in _PARTS}
    return tuple(frozenset(_mark(part, value) for value in some) for part, some in values.items() if some)


def may_have(marks: bytes | None, wanted: Wanted) -> bool:
    """Whether events of a row with these marks may pass; without marks it was written before there were any."""
    if marks is None:
        return True
    there = {marks[at : at + _BYTES] for at in range(0, len(marks), _BYTES)}
    return not any(there.isdisjoint(some) for some in wanted)


@lru_cache(4096)
def _mark(part: str, value: str) -> bytes:
    return blake2b(f"{part}/{key_of(value)}".encode(), digest_size=_BYTES).digest()
