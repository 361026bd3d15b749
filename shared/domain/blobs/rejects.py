"""Rejected units of blobs, and their stored form."""

from dataclasses import dataclass, field
from datetime import datetime

MAX_REJECTS = 100
"""Stored bad units per blob; all are counted."""


@dataclass(frozen=True, slots=True)
class BadUnit:
    """A bad unit: its offset in the blob, the position of the error in it if known, a sentence, and its start."""

    offset: int
    position: int
    reason: str
    sample: bytes


@dataclass(slots=True)
class BadUnits:
    """Bad units of a piece: their number, and the first of them, as all may be bad."""

    count: int = 0
    first: list[BadUnit] = field(default_factory=list)

    @property
    def has_room(self) -> bool:
        """Returns whether one more would be stored."""
        return len(self.first) < MAX_REJECTS

    def add(self, refusal: BadUnit) -> None:
        self.count += 1
        if self.has_room:
            self.first.append(refusal)


@dataclass(frozen=True, slots=True)
class Reject:
    """A stored rejected unit, with its blob and time; `key` orders rejects."""

    key: str
    blob: str
    refusal: BadUnit
    at: datetime
