"""Blobs that grow, and how far each has been read: what a blob looks like, where to go on in it, what is in a piece.

A blob that is deleted and made again, or written over, is another *incarnation* under the same name: it is read from
its start. What tells is its creation time, a size or a number of blocks below what was read already, and the bytes
before the place where reading goes on (the *anchor*), which never change in a blob that only grows.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import blake2b
from itertools import chain

ANCHOR_BYTES = 64
_DIGEST = 16


@dataclass(frozen=True, slots=True)
class SeenBlob:
    """A blob as a list or a look at it shows it. `blocks` is None in lists, and for other than append blobs."""

    name: str
    created: datetime
    modified: datetime
    size: int
    etag: str
    is_sealed: bool = False
    blocks: int | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """What is kept of a blob so that it needn't be opened while it sleeps.

    All of it had been read as of `etag`, unless that is empty; `number` counts its incarnations that creation times
    don't tell apart. `modified` is when it was written last, as far as is known, and `read` how many bytes were read,
    or more by now. `row_etag` is that of the entry itself, None where it is new.
    """

    name: str
    created: datetime
    modified: datetime
    number: int = 0
    etag: str = ""
    row_etag: str | None = None
    read: int = 0

    @classmethod
    def of(cls, blob: SeenBlob, before: "Entry | None") -> "Entry":
        """The entry of a blob, which knows the incarnation before where there was one."""
        if before is None:
            return cls(blob.name, blob.created, blob.modified)
        if before.created == blob.created:
            return before
        return replace(before, created=blob.created, modified=blob.modified, number=0, etag="", read=0)

    @property
    def incarnation(self) -> str:
        """A key of the blob's present life; letters, digits and `-` only."""
        milliseconds = int(self.created.timestamp() * 1000)
        return f"{name_key(self.name)}-{milliseconds:x}-{self.number}"

    def sleeps(self, blob: SeenBlob) -> bool:
        """True where nothing has happened to the blob since it was read to its end."""
        return self.etag == blob.etag and self.created == blob.created

    def unread(self, blob: SeenBlob) -> int:
        """How many bytes of the blob are left, or less by now."""
        return max(blob.size - self.read, 0) if self.created == blob.created else blob.size

    def read_to_end(self, blob: SeenBlob, read: int) -> "Entry":
        """As of a blob of which nothing more can be read than so many bytes."""
        return replace(self, etag=blob.etag, modified=blob.modified, read=read)

    def anew(self) -> "Entry":
        """Another incarnation of the same creation time."""
        return replace(self, number=self.number + 1, etag="", read=0)


@dataclass(frozen=True, slots=True)
class Place:
    """Where to go on in an incarnation, and what was found before.

    `anchor` is the digest of the last bytes before `offset`. `skipping` says that they belong to a unit too large,
    whose rest is passed over. `refused` of all `units` were bad.
    """

    offset: int = 0
    anchor: str = ""
    blocks: int | None = None
    skipping: bool = False
    units: int = 0
    refused: int = 0

    @property
    def anchor_bytes(self) -> int:
        return min(ANCHOR_BYTES, self.offset)

    def is_past(self, blob: SeenBlob) -> bool:
        """True where the blob is smaller than what was read of it: it was made anew."""
        return blob.size < self.offset or (
            blob.blocks is not None and self.blocks is not None and blob.blocks < self.blocks
        )

    def advanced(
        self, read: bytes, blob: SeenBlob, *, units: int = 0, refused: int = 0, skipping: bool = False
    ) -> "Place":
        """The place after `read`, which begins with the anchor's bytes."""
        return Place(
            offset=self.offset - self.anchor_bytes + len(read),
            anchor=digest(read[-ANCHOR_BYTES:]),
            blocks=self.blocks if blob.blocks is None else blob.blocks,
            skipping=skipping,
            units=self.units + units,
            refused=self.refused + refused,
        )

    def at_end(self, last: bytes, blob: SeenBlob) -> "Place":
        """The end of a blob, whose `last` bytes are the anchor; what is before it was passed over."""
        blocks = self.blocks if blob.blocks is None else blob.blocks
        return replace(self, offset=blob.size, anchor=digest(last), blocks=blocks)


@dataclass(frozen=True, slots=True)
class Unit:
    """What is decoded as a whole, a line or a frame: from `start` to `end` in its piece."""

    start: int
    end: int
    content: bytes


def in_turn(blobs: Collection[SeenBlob], known: Mapping[str, Entry]) -> list[SeenBlob]:
    """The order in which blobs are read: by turns the one that has waited longest, and the latest."""

    def read_as_of(blob: SeenBlob) -> tuple[datetime, bool]:
        entry = known.get(blob.name)
        return (entry.modified, True) if entry else (blob.created, False)

    latest = sorted(blobs, key=lambda blob: blob.modified, reverse=True)
    longest = sorted(blobs, key=read_as_of)
    return list(dict.fromkeys(chain.from_iterable(zip(longest, latest, strict=True))))


def name_key(name: str) -> str:
    """A table key for a blob's name, which may be longer than a key and hold what none may."""
    return blake2b(name.encode(errors="surrogatepass"), digest_size=_DIGEST).hexdigest()


def digest(content: bytes) -> str:
    return blake2b(content, digest_size=_DIGEST).hexdigest() if content else ""


def cut_lines(piece: bytes, *, last: bool) -> Iterator[Unit]:
    """Lines without their ends (LF or CRLF), the empty ones too; after the `last` piece a line needs no end."""
    start = 0
    while (end := piece.find(b"\n", start)) >= 0 or (last and start < len(piece)):
        after = end + 1 if end >= 0 else len(piece)
        yield Unit(start, after, piece[start:after].strip())
        start = after


def resume_lines(piece: bytes) -> int | None:
    """Where the next line begins in a piece that begins within one; None where it doesn't."""
    return piece.find(b"\n") + 1 or None
