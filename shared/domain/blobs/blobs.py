"""Growing blobs: how a list shows them, how far each was read, their shards, and where their rows are.

A blob that was deleted and re-created, or overwritten, is another *incarnation* under the same name, read from its
start. It shows in the creation time, in a size or number of blocks below those read, or in the bytes before the
checkpoint (the *anchor*), which never change in a growing blob. A blob that begins with all the bytes read was only
uploaded again, and reading continues.

A tool that uploads a longer version of a file writes a new blob under the same name. So a checksum of the bytes read is
stored. CRC-32 can be continued from one read to the next, unlike any stronger hash in the standard library; a forged
checksum only hides the forger's own data. Checksums of the first 1, 2, 4, … KiB allow a comparison with a blob that
became shorter, and for a large one, a comparison of only the first `MAX_MARK` bytes.
"""

import struct
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from hashlib import blake2b
from itertools import chain
from typing import NamedTuple
from zlib import crc32

from shared.domain.core.keys import SEPARATOR, key_of, name_key, partition_of

ANCHOR_BYTES = 64
MIN_MARK, MAX_MARK = 1 << 10, 1 << 25
"""Bytes of the first and the last mark; at most `MAX_MARK` bytes are read again."""
_DIGEST = 16
_DAY = 86_400  # seconds
SHARDS = 64
"""A fixed division of an account's blobs by a hash of their names, for work that hosts share."""
_SHARD_DIGITS = 8
UNREAD_TELEMETRY = partition_of("", "telemetry")
"""The ingest partition under which unread telemetry of unknown accounts is reported."""
RESTED = timedelta(hours=6)
"""After this long without a write, an incomplete unit at the end of a blob is final: nobody will complete it."""

type SessionKey = tuple[str, int]
"""A session within a partition: the incarnation, empty where the partition is only one's, and the session's number."""


class BlobRows(NamedTuple):
    """The address of an incarnation's rows. Those of a `group` share its partition; without one it has its own."""

    account_key: str
    incarnation: str
    group: str = ""

    @property
    def partition(self) -> str:
        return partition_of(self.account_key, self.group or self.incarnation)

    @property
    def owner(self) -> str:
        """Returns the incarnation where its keys contain it, empty in a partition of its own."""
        return self.incarnation if self.group else ""

    def key(self, kind: str) -> str:
        """Returns the key of a row that an incarnation has once."""
        return f"{kind}{SEPARATOR}{self.incarnation}" if self.group else kind

    def session_key(self, number: int) -> SessionKey:
        return self.owner, number


@dataclass(frozen=True, slots=True)
class SeenBlob:
    """A blob as a list or its properties show it.

    `blocks` is None in lists, and for blobs that aren't append blobs. A blob without `is_appended` is uploaded as a
    whole each time.
    """

    name: str
    created: datetime
    modified: datetime
    size: int
    etag: str
    is_sealed: bool = False
    blocks: int | None = None
    is_appended: bool = True


@dataclass(frozen=True, slots=True)
class Entry:
    """The stored state of a blob, which allows leaving an unchanged blob unopened.

    The blob was read to its end as of `etag`, unless that is empty. `number` counts incarnations with the same creation
    time. `modified` is the last known write. `read` is how many bytes had been read at `read_at`; it may be more by
    now. `row_etag` is the ETag of the entry's row, None for a new entry. `uploaded` is the creation time of the
    re-uploaded blob that continues the one of `created`, None while that one exists. Blobs of a `group` share the
    partition of their rows; without one, an incarnation has its own.
    """

    name: str
    created: datetime
    modified: datetime
    number: int = 0
    etag: str = ""
    row_etag: str | None = None
    read: int = 0
    uploaded: datetime | None = None
    read_at: datetime | None = None
    group: str = ""

    def is_of(self, blob: SeenBlob) -> bool:
        """Returns whether the blob has the known creation time."""
        return blob.created == (self.uploaded or self.created)

    def going_on(self, blob: SeenBlob) -> "Entry":
        """Returns the entry for a re-uploaded blob that continues where the previous one ended."""
        return replace(self, uploaded=None if blob.created == self.created else blob.created, modified=blob.modified)

    @property
    def incarnation(self) -> str:
        """Returns a key of the blob's current incarnation, of letters, digits and `-` only."""
        milliseconds = int(self.created.timestamp() * 1000)
        return f"{name_key(self.name)}-{milliseconds:x}-{self.number}"

    def rows(self, account_key: str) -> BlobRows:
        """Returns the address of the rows of a telemetry blob's present incarnation."""
        return BlobRows(account_key, self.incarnation, self.group)

    def is_up_to_date(self, blob: SeenBlob) -> bool:
        """Returns whether the blob is unchanged since it was read to its end."""
        return self.etag == blob.etag and self.is_of(blob)

    def unread(self, blob: SeenBlob) -> int:
        """Returns how many bytes of the blob are unread; it may be fewer by now."""
        return max(blob.size - self.read, 0) if self.is_of(blob) else blob.size

    def is_final(self, blob: SeenBlob, now: datetime) -> bool:
        """Returns whether no further writes to the blob are expected."""
        return blob.is_sealed or (self.is_up_to_date(blob) and now - (self.read_at or self.modified) >= RESTED)

    def read_to_end(self, blob: SeenBlob, read: int, now: datetime) -> "Entry":
        """Returns the entry of a blob that can't be read beyond `read` bytes now."""
        return replace(self, etag=blob.etag, modified=blob.modified, read=read, read_at=now)

    def anew(self, blob: SeenBlob, group: str) -> "Entry":
        """Returns the entry of another incarnation, with the same creation time or another."""
        number = self.number + 1 if self.is_of(blob) and not self.uploaded else 0
        return replace(
            self,
            created=blob.created,
            modified=blob.modified,
            number=number,
            etag="",
            read=0,
            uploaded=None,
            group=group,
        )


@dataclass(frozen=True, slots=True)
class PrefixChecksum:
    """The first `size` bytes of a blob: their checksum, and those of each power of two of KiB (`marks`)."""

    size: int = 0
    checksum: int = 0
    marks: tuple[int, ...] = ()

    def extended(self, more: bytes) -> "PrefixChecksum":
        """Returns the beginning extended by the bytes that follow."""
        view, size, checksum, marks = memoryview(more), self.size, self.checksum, list(self.marks)
        while (mark := MIN_MARK << len(marks)) <= min(MAX_MARK, self.size + len(more)):
            checksum = crc32(view[size - self.size : mark - self.size], checksum)
            size = mark
            marks.append(checksum)
        return PrefixChecksum(self.size + len(more), crc32(view[size - self.size :], checksum), tuple(marks))

    def within(self, size: int) -> "PrefixChecksum | None":
        """Returns the longest part with a known checksum, of at most `size` and `MAX_MARK` bytes; None without one."""
        if self.size <= min(size, MAX_MARK):
            return self
        count = min(len(self.marks), max(size // MIN_MARK, 0).bit_length())
        return PrefixChecksum(MIN_MARK << count - 1, self.marks[count - 1], self.marks[:count]) if count else None

    def pack(self) -> bytes:
        return struct.pack(f">{len(self.marks) + 1}I", self.checksum, *self.marks)

    @classmethod
    def unpack(cls, size: int, packed: bytes) -> "PrefixChecksum":
        """Returns the packed beginning of `size` bytes."""
        checksum, *marks = struct.unpack(f">{len(packed) // 4}I", packed)
        return cls(size, checksum, tuple(marks))


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The checkpoint of an incarnation, and counts of the units before it.

    `anchor` is the digest of the last bytes before `offset`. `skipping` means that these belong to an oversized unit,
    whose rest is skipped. `refused` of all `units` were bad. `etag` is the ETag of the blob that the checkpoint was
    read from. It is empty, and `beginning` None, for checkpoints of version 0.1.0.
    `row_etag` is the ETag of the checkpoint's row, None for a new one.
    """

    offset: int = 0
    anchor: str = ""
    blocks: int | None = None
    skipping: bool = False
    units: int = 0
    refused: int = 0
    etag: str = ""
    beginning: PrefixChecksum | None = None
    row_etag: str | None = field(default=None, compare=False)

    @property
    def anchor_bytes(self) -> int:
        return min(ANCHOR_BYTES, self.offset)

    def is_past(self, blob: SeenBlob) -> bool:
        """Returns whether the blob is smaller than the part already read, and so was re-created."""
        return blob.size < self.offset or (
            blob.blocks is not None and self.blocks is not None and blob.blocks < self.blocks
        )

    def advanced(
        self, read: bytes, blob: SeenBlob, *, units: int = 0, refused: int = 0, skipping: bool = False
    ) -> "Checkpoint":
        """Returns the checkpoint after `read`, which begins with the anchor's bytes."""
        beginning = self.beginning if self.offset else PrefixChecksum()
        return replace(
            self,
            offset=self.offset - self.anchor_bytes + len(read),
            anchor=digest(read[-ANCHOR_BYTES:]),
            blocks=self.blocks if blob.blocks is None else blob.blocks,
            skipping=skipping,
            units=self.units + units,
            refused=self.refused + refused,
            etag=blob.etag,
            beginning=beginning.extended(read[self.anchor_bytes :]) if beginning else None,
        )


def in_turn(blobs: Collection[SeenBlob], known: Mapping[str, Entry]) -> list[SeenBlob]:
    """Returns blobs in reading order: alternately the one that waited longest, and the latest."""

    def read_as_of(blob: SeenBlob) -> tuple[datetime, bool]:
        entry = known.get(blob.name)
        return (entry.modified, True) if entry else (blob.created, False)

    latest = sorted(blobs, key=lambda blob: blob.modified, reverse=True)
    longest = sorted(blobs, key=read_as_of)
    return list(dict.fromkeys(chain.from_iterable(zip(longest, latest, strict=True))))


def digest(content: bytes) -> str:
    return blake2b(content, digest_size=_DIGEST).hexdigest() if content else ""


def shard_of(blob_name: str) -> int:
    """Returns a blob's shard, from 0 to below `SHARDS`, the same on each host and for each incarnation."""
    return int(name_key(blob_name)[:_SHARD_DIGITS], 16) % SHARDS


def group_of(pool: str, node: str, created: datetime) -> str:
    """Returns the group of blobs whose names say the same node and pool, and that were created on the same day."""
    return f"{name_key(f'{key_of(pool)}\0{key_of(node)}')}-{int(created.timestamp()) // _DAY:x}"


def telemetry_ingest_partition(account_key: str) -> str:
    """Returns the ingest partition of an account's telemetry, as opposed to its logs."""
    return account_key + UNREAD_TELEMETRY


def account_in(ingest_partition: str) -> str:
    """Returns the account of an ingest partition of telemetry."""
    return ingest_partition.removesuffix(UNREAD_TELEMETRY)
