"""Units of blobs that couldn't be taken in, and as what they are kept."""

from dataclasses import dataclass, field
from datetime import datetime

MOST_TOLD = 100
"""Bad units of a blob that are kept; all are counted."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A bad unit: where it begins in its blob, the byte in it where that shows, why, in a sentence, and its start."""

    offset: int
    position: int
    reason: str
    sample: bytes


@dataclass(slots=True)
class Refusals:
    """Bad units of a piece: how many there are, and the first of them, as all may be bad."""

    count: int = 0
    told: list[Refusal] = field(default_factory=list)

    @property
    def has_room(self) -> bool:
        """Whether one more would be told."""
        return len(self.told) < MOST_TOLD

    def add(self, refusal: Refusal) -> None:
        self.count += 1
        if self.has_room:
            self.told.append(refusal)


@dataclass(frozen=True, slots=True)
class Reject:
    """A refused unit as it is kept: of which blob, and when that was noted. `key` orders rejects."""

    key: str
    blob: str
    refusal: Refusal
    at: datetime
