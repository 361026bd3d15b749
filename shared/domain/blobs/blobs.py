"""Blobs that grow, and how far each has been read: what a blob looks like, where to go on in it, what is in a piece.

A blob that is deleted and made again, or written over, is another *incarnation* under the same name: it is read from
its start. What tells is its creation time, a size or a number of blocks below what was read already, and the bytes
before the place where reading goes on (the *anchor*), which never change in a blob that only grows. One that begins
with all that was read (beginnings.py) was only uploaded anew, and reading goes on.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import blake2b
from itertools import chain

from shared.domain.blobs.beginnings import Beginning

ANCHOR_BYTES = 64
_DIGEST = 16
RESTED = timedelta(hours=6)
"""After this long without a write half a unit at the end of a blob is taken for what it is: nobody ends it any more."""


@dataclass(frozen=True, slots=True)
class SeenBlob:
    """A blob as a list or a look at it shows it. `blocks` is None in lists, and for other than append blobs.

    One that isn't `appended` to is uploaded as a whole each time.
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
    """What is kept of a blob so that it needn't be opened while it sleeps.

    All of it had been read as of `etag`, unless that is empty; `number` counts its incarnations that creation times
    don't tell apart. `modified` is when it was written last, as far as is known, and `read` how many bytes were read,
    or more by now, at `read_at`. `row_etag` is that of the entry itself, None where it is new. `uploaded` is the
    creation time of the blob that goes on where the one of `created` ended, None as long as that is there itself.
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

    @classmethod
    def new(cls, blob: SeenBlob) -> "Entry":
        """That of a blob that was never seen."""
        return cls(blob.name, blob.created, blob.modified)

    def is_of(self, blob: SeenBlob) -> bool:
        """Whether the blob was created when the one that is known was."""
        return blob.created == (self.uploaded or self.created)

    def going_on(self, blob: SeenBlob) -> "Entry":
        """As of a blob that was uploaded anew and goes on where the one before ended."""
        return replace(self, uploaded=None if blob.created == self.created else blob.created, modified=blob.modified)

    @property
    def incarnation(self) -> str:
        """A key of the blob's present life; letters, digits and `-` only."""
        milliseconds = int(self.created.timestamp() * 1000)
        return f"{name_key(self.name)}-{milliseconds:x}-{self.number}"

    def sleeps(self, blob: SeenBlob) -> bool:
        """True where nothing has happened to the blob since it was read to its end."""
        return self.etag == blob.etag and self.is_of(blob)

    def unread(self, blob: SeenBlob) -> int:
        """How many bytes of the blob are left, or less by now."""
        return max(blob.size - self.read, 0) if self.is_of(blob) else blob.size

    def is_final(self, blob: SeenBlob, now: datetime) -> bool:
        """Whether nothing is expected to be written to a blob any more."""
        return blob.is_sealed or (self.sleeps(blob) and now - (self.read_at or self.modified) >= RESTED)

    def read_to_end(self, blob: SeenBlob, read: int, now: datetime) -> "Entry":
        """As of a blob of which nothing more can be read than so many bytes."""
        return replace(self, etag=blob.etag, modified=blob.modified, read=read, read_at=now)

    def anew(self, blob: SeenBlob) -> "Entry":
        """Another incarnation, of the same creation time or not."""
        number = self.number + 1 if self.is_of(blob) and not self.uploaded else 0
        return replace(
            self, created=blob.created, modified=blob.modified, number=number, etag="", read=0, uploaded=None
        )


@dataclass(frozen=True, slots=True)
class Place:
    """Where to go on in an incarnation, and what was found before.

    `anchor` is the digest of the last bytes before `offset`. `skipping` says that they belong to a unit too large,
    whose rest is passed over. `refused` of all `units` were bad. `etag` is that of the blob in which it is the place;
    empty, as `beginning` is None, in one of before these were kept, or where bytes were passed over unread.
    """

    offset: int = 0
    anchor: str = ""
    blocks: int | None = None
    skipping: bool = False
    units: int = 0
    refused: int = 0
    etag: str = ""
    beginning: Beginning | None = None

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
        beginning = self.beginning if self.offset else Beginning()
        return Place(
            offset=self.offset - self.anchor_bytes + len(read),
            anchor=digest(read[-ANCHOR_BYTES:]),
            blocks=self.blocks if blob.blocks is None else blob.blocks,
            skipping=skipping,
            units=self.units + units,
            refused=self.refused + refused,
            etag=blob.etag,
            beginning=beginning.extended(read[self.anchor_bytes :]) if beginning else None,
        )

    def at_end(self, last: bytes, blob: SeenBlob) -> "Place":
        """The end of a blob, whose `last` bytes are the anchor; what is before it was passed over."""
        blocks = self.blocks if blob.blocks is None else blob.blocks
        return replace(self, offset=blob.size, anchor=digest(last), blocks=blocks, etag=blob.etag, beginning=None)


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
