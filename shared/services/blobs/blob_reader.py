"""Reads what a blob has grown by, a piece at a time, each exactly once.

What the bytes mean is known to an `Intake`, one for each kind of blobs. The reader knows when a blob is another one
under the same name, where to go on, and that a piece counts when its place and its rows are written, together.

A blob that is written as a whole each time, or was created anew, goes on where reading stopped if it begins with what
was read. One that begins so and is shorter has nothing new.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from shared.clock import Clock
from shared.domain.blobs.beginnings import Beginning
from shared.domain.blobs.blobs import ANCHOR_BYTES, Entry, Place, SeenBlob, digest
from shared.domain.blobs.rejects import MOST_TOLD, Refusals
from shared.errors import BlobChangedError, BlobError
from shared.services.blobs.blob_intake import Contribution, Intake, Piece
from shared.stores.blobs.blob_entries import BlobEntryStore
from shared.stores.blobs.places import PlaceKey, PlaceStore, StoredPlace
from shared.stores.blobs.rejects import RejectStore

if TYPE_CHECKING:  # its library is slow to load, and of no use where no storage is configured
    from shared.stores.blobs.blobs import BlobContainer

_TRIES = 5
_SHARE = 4  # of a window: where less of it is left, the next one is fetched


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a blob was read, as it was seen last; `left` bytes of it weren't.

    It is done when it needn't be looked at until it grows: what is left then is the beginning of a unit.
    """

    entry: Entry
    blob: SeenBlob
    left: int

    @property
    def is_done(self) -> bool:
        return self.entry.sleeps(self.blob)


@dataclass(slots=True)
class _Opened:
    """An incarnation that is being read, and what was fetched of it from `start` on: a window may be many pieces.

    They are those of the blob as it was seen, whatever was written to it since. One that `is_final` has no half units.
    """

    lane: str
    key: PlaceKey
    entry: Entry
    blob: SeenBlob
    is_final: bool
    start: int = 0
    read: bytes = b""

    @property
    def is_whole(self) -> bool:
        """Whether nothing of the blob is left to be fetched."""
        return self.start + len(self.read) >= self.blob.size

    def held(self, place: Place, least: int) -> bytes:
        """The anchor of a place and what follows it; nothing where more could be fetched, and that is too little."""
        begin = place.offset - place.anchor_bytes - self.start
        is_enough = self.is_whole or len(self.read) - begin - place.anchor_bytes >= least
        return self.read[begin:] if is_enough else b""

    def piece(self, place: Place, body: bytes, window: int) -> Piece:
        is_last = self.is_final and place.offset + len(body) >= self.blob.size
        return Piece(self.lane, self.key, self.entry, place.offset, body, place.skipping, is_last, len(body) >= window)


class BlobReader:
    """The blobs of one container, of one kind."""

    def __init__(
        self,
        container: "BlobContainer",
        intake: Intake,
        *,
        entries: BlobEntryStore,
        places: PlaceStore,
        rejects: RejectStore,
        clock: Clock,
    ) -> None:
        self.container = container
        self.intake = intake
        self._entries = entries
        self._places = places
        self._rejects = rejects
        self._clock = clock

    async def read(
        self, lane: str, blob: SeenBlob, known: Entry | None, goes_on: Callable[[], bool]
    ) -> Progress | None:
        """Reads a blob until its end, or as long as it goes on; at least a piece. None where the blob is gone.

        Raises BlobError, StorageError, and CacheConflictError where another host is reading it: that one sees to it.
        """
        for _ in range(_TRIES):
            known = await self._entered(lane, blob, known)
            try:
                return await self._read(lane, blob, known, goes_on)
            except _MadeAnewError:
                known = await self._entries.save(lane, known.anew(blob))
            except BlobChangedError:
                seen = await self.container.look(blob.name)
                if seen is None:
                    return None
                blob = seen
        raise BlobError(f"{blob.name} was written {_TRIES} times while it was to be read; the next sweep goes on.")

    async def _entered(self, lane: str, blob: SeenBlob, known: Entry | None) -> Entry:
        """The entry as it is stored, which names the incarnation before anything of it is read."""
        known = known or await self._entries.load(lane, blob.name)
        return known or await self._entries.save(lane, Entry.new(blob))

    async def _read(self, lane: str, blob: SeenBlob, entry: Entry, goes_on: Callable[[], bool]) -> Progress:
        key = self.intake.place_key(lane, entry.incarnation)
        stored = await self._places.load(key)
        entry = await self._recognized(lane, blob, entry, stored.place)
        now = await self._clock.now()
        opened = _Opened(lane, key, entry, blob, entry.is_final(blob, now))
        while stored.place.offset < blob.size:
            after = await self._take(opened, stored)
            if after is None:
                break  # what is left is the beginning of a unit
            stored = after
            if stored.place.offset < blob.size and not goes_on():
                return Progress(replace(entry, read=stored.place.offset), blob, blob.size - stored.place.offset)
        if entry.etag != blob.etag or entry.read != stored.place.offset:
            entry = await self._entries.save(lane, entry.read_to_end(blob, stored.place.offset, now))
        return Progress(entry, blob, max(blob.size - stored.place.offset, 0))

    async def _recognized(self, lane: str, blob: SeenBlob, entry: Entry, place: Place) -> Entry:
        """The entry of a blob in which the place is one to go on at.

        Raises _MadeAnewError where it is another blob, and BlobChangedError where that can't be told of it as it was
        seen: another host may have read on meanwhile.
        """
        if entry.is_of(blob) and blob.is_appended and not place.is_past(blob):
            if place.offset == blob.size and entry.etag != blob.etag:
                await self._compare(blob, place)
            return entry
        if entry.is_of(blob) and place.etag == blob.etag:
            return entry
        if place.is_past(blob):
            seen = await self.container.look(blob.name)
            if seen is None or seen.etag != blob.etag:
                raise BlobChangedError(blob.name)
        if not await self._begins_alike(blob, place):
            raise _MadeAnewError
        return entry if entry.is_of(blob) else await self._entries.save(lane, entry.going_on(blob))

    async def _begins_alike(self, blob: SeenBlob, place: Place) -> bool:
        """Whether a blob begins with what was read, or with a part of that which is worth comparing, or is empty."""
        if not place.offset or not blob.size:
            return True
        known = place.beginning.within(blob.size) if place.beginning else None
        if known and not await self._has(blob, known):
            return False
        if blob.size >= place.offset:
            await self._compare(blob, place)
            return True
        return known is not None

    async def _has(self, blob: SeenBlob, beginning: Beginning) -> bool:
        found = Beginning()
        while found.size < beginning.size:
            until = min(found.size + self.intake.window, beginning.size)
            found = found.extended(await self.container.fetch(blob, found.size, until))
        return found.checksum == beginning.checksum

    async def _take(self, opened: _Opened, stored: StoredPlace) -> StoredPlace | None:
        """Takes in a piece; None where what is left is the beginning of a unit."""
        place, window = stored.place, self.intake.window
        if place.skipping and not self.intake.resumes:
            return await self._passed_over(opened, stored)
        for is_held in (True, False):  # a unit may be longer than what is left of a window
            read = opened.held(place, window // _SHARE) if is_held else await self._fetched(opened, place)
            if not read:
                continue
            piece = opened.piece(place, read[place.anchor_bytes :], window)
            done = await self.intake.take(piece)
            if done.consumed:
                return await self._stored(piece, opened.blob, stored, read, done)
            if piece.is_full:
                raise ValueError(f"nothing was taken of {len(piece.body)} bytes")
            if opened.is_whole:
                break
        return None

    async def _passed_over(self, opened: _Opened, stored: StoredPlace) -> StoredPlace:
        """Moves the place to the end of a blob whose rest is lost, of which only anchors are fetched."""
        blob, place = opened.blob, stored.place
        await self._compare(blob, place)
        last = await self.container.fetch(blob, max(blob.size - ANCHOR_BYTES, 0), blob.size)
        moved, _ = await self._places.advance(opened.key, stored, place.at_end(last, blob), ())
        self.intake.pass_over(opened.lane, blob.size - place.offset)
        return moved

    async def _compare(self, blob: SeenBlob, place: Place) -> None:
        """Raises _MadeAnewError where other bytes are before a place than were read there; fetches no more than those.

        Of a blob of the same size as before, as a sealed one, nothing else tells that it wasn't made anew.
        """
        start = place.offset - place.anchor_bytes
        if place.offset and digest(await self.container.fetch(blob, start, place.offset)) != place.anchor:
            raise _MadeAnewError

    async def _stored(
        self, piece: Piece, blob: SeenBlob, stored: StoredPlace, read: bytes, done: Contribution
    ) -> StoredPlace:
        """Moves the place, and writes what a piece, which is `read` with the anchor before it, comes to."""
        place = stored.place
        await self._refuse(piece, place, done.refused)
        after = place.advanced(
            read[: place.anchor_bytes + done.consumed],
            blob,
            units=done.units,
            refused=done.refused.count,
            skipping=done.skipping,
        )
        moved, etags = await self._places.advance(piece.key, stored, after, done.operations)
        done.stored(etags)
        return moved

    async def _fetched(self, opened: _Opened, place: Place) -> bytes:
        """The anchor and what follows it, which is held from now on."""
        blob, start = opened.blob, place.offset - place.anchor_bytes
        read = await self.container.fetch(blob, start, min(place.offset + self.intake.window, blob.size))
        if digest(read[: place.anchor_bytes]) != place.anchor:
            raise _MadeAnewError
        opened.start, opened.read = start, read
        return read

    async def _refuse(self, piece: Piece, place: Place, refused: Refusals) -> None:
        """Puts bad units aside, before their piece counts: a crash in between has them noted once more, as the same."""
        told = refused.told[: max(MOST_TOLD - place.refused, 0)]
        if told:
            await self._rejects.save(piece.lane, piece.entry, told, await self._clock.now())


class _MadeAnewError(Exception):
    """The blob isn't the incarnation that was read before."""
