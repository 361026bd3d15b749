"""The interface between the reader of blobs and an `Intake`, which exists for each kind of blobs."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from shared.domain.blobs.blobs import Entry, SeenBlob
from shared.domain.blobs.rejects import BadUnits
from shared.stores.blobs.checkpoints import CheckpointKey
from shared.stores.tables.rows import Etags, Operation


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes of an incarnation from `offset` on, for the partition of `key`.

    They begin at a unit, or else within a skipped one (`skipping`). The blob never grows after the `is_last` piece. A
    piece that `is_full` has the maximum size.
    """

    ingest_partition: str
    key: CheckpointKey
    entry: Entry
    offset: int
    body: bytes
    skipping: bool
    is_last: bool
    is_full: bool


@dataclass(frozen=True, slots=True)
class PieceResult:
    """The result of the first `consumed` bytes of a piece; the rest is passed again with the bytes that follow it.

    `consumed` 0: the piece is the beginning of a unit, and more bytes are needed. At most `MAX_BESIDE` `operations`,
    in the checkpoint's partition, go into the transaction that advances it. `refused` of the `units` are bad; with
    `skipping`, the rest of a bad unit follows. `stored` is called with the new ETags once the transaction has
    succeeded.
    """

    consumed: int
    units: int = 0
    operations: Sequence[Operation] = ()
    refused: BadUnits = field(default_factory=BadUnits)
    skipping: bool = False
    stored: Callable[[Etags], None] = lambda _: None


class Intake(Protocol):
    """A kind of blobs: it selects them, decodes their bytes and names the partition for the results.

    `window` is the maximum size of a piece in bytes, at least that of the largest unit. `at_once` is how many blobs of
    an ingest partition are read at the same time: one, if their transactions share rows.
    """

    window: int
    at_once: int = 1

    @property
    def ingest_partitions(self) -> Collection[str]:
        """All possible results of `ingest_partition_of`."""

    def ingest_partition_of(self, blob_name: str) -> str | None:
        """Returns the blob's ingest partition, whose blobs are read in turns, or None for a blob of another kind."""

    def why_unread(self, blob_name: str) -> str | None:  # noqa: ARG002 - for those that override it
        """Returns why a blob without an ingest partition isn't read, as a sentence's end; None if it is others'."""
        return None

    async def group_of(self, ingest_partition: str, blob: SeenBlob) -> str:
        """Returns the group of blobs that share a partition for their rows; empty for a partition of its own.

        Raises StorageError.
        """

    def checkpoint_key(self, ingest_partition: str, entry: Entry) -> CheckpointKey:
        """Returns the key of an incarnation's checkpoint, in the partition of its rows."""

    async def take(self, piece: Piece) -> PieceResult:
        """Returns the contribution of a piece; a full piece must have one. Raises StorageError."""

    async def write_counts(self, ingest_partition: str) -> None:  # noqa: ARG002 - the same
        """Writes counts that pieces' transactions don't include, after blobs were read for a while.

        Raises StorageError.
        """
        return
