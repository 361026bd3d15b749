"""What a reader of blobs hands over, what it gets back, and from whom: an `Intake` for each kind of blobs."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from shared.domain.blobs.blobs import Entry
from shared.domain.blobs.rejects import Refusals
from shared.stores.blobs.places import PlaceKey
from shared.stores.tables.unit_writes import Etags, Operation


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes of an incarnation from `offset` on, for the partition of `key`.

    They begin where a unit does, or else within one that is passed over (`skipping`). After the `is_last` piece the
    blob never goes on; of one that `is_full` no more can be handed over at once.
    """

    lane: str
    key: PlaceKey
    entry: Entry
    offset: int
    body: bytes
    skipping: bool
    is_last: bool
    is_full: bool


def _nothing(_: Etags) -> None:
    return


@dataclass(frozen=True, slots=True)
class Contribution:
    """What the first `consumed` bytes of a piece come to; the rest is handed over again, with what follows it.

    0: they are the beginning of a unit, and more is needed. `operations` go into the transaction that moves the place:
    `MOST_BESIDE` at most, in its partition. `refused` of the `units` are bad; `skipping`: what follows is the rest of
    one of them. `stored` is called with the new ETags once the piece counts.
    """

    consumed: int
    units: int = 0
    operations: Sequence[Operation] = ()
    refused: Refusals = field(default_factory=Refusals)
    skipping: bool = False
    stored: Callable[[Etags], None] = field(default=_nothing)


class Intake(Protocol):
    """A kind of blobs: which there are, where what they say is kept, and what their bytes mean."""

    @property
    def window(self) -> int:
        """The most bytes of a piece: as many as the largest unit may have, or more."""

    @property
    def lanes(self) -> Collection[str]:
        """All that `lane_of` may give."""

    def lane_of(self, blob_name: str) -> str | None:
        """What the blob is read one after the other with; None where it isn't of this kind."""

    def why_unread(self, blob_name: str) -> str | None:
        """Of a blob without a lane: why it isn't read, as the end of a sentence, though it may be somebody's here."""

    def place_key(self, lane: str, incarnation: str) -> PlaceKey:
        """Where the place of an incarnation is kept: in the partition that takes what it says."""

    @property
    def resumes(self) -> bool:
        """Whether the next unit can be found behind one that is passed over; else the rest of its blob is lost."""

    def pass_over(self, lane: str, size: int) -> None:
        """Is told of so many bytes that are lost, and aren't read."""

    async def take(self, piece: Piece) -> Contribution:
        """What a piece comes to; something has to of one that is full. Raises StorageError."""

    async def tell(self, lane: str) -> None:
        """Notes what was counted of a lane and isn't noted yet, when it was read for a while. Raises StorageError."""
