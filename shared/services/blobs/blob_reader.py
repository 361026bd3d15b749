"""Reads the growth of a blob piece by piece, each exactly once.

An `Intake`, one for each kind of blobs, decodes the bytes. The reader recognizes another blob under the same name, and
finds where to continue. It writes a piece's rows and the new checkpoint in one transaction.

A blob that is uploaded as a whole each time, or was re-created, continues where reading stopped if it begins with the
bytes read. A shorter blob that begins with them has nothing new.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from shared.clock import Clock
from shared.domain.blobs.blobs import Checkpoint, Entry, PrefixChecksum, SeenBlob, digest
from shared.domain.blobs.rejects import MAX_REJECTS, BadUnits
from shared.errors import BlobChangedError, BlobError, CacheConflictError
from shared.recent_cache import RecentCache
from shared.services.blobs.blob_intake import Intake, Piece, PieceResult
from shared.services.blobs.ingestion_stores import IngestionStores
from shared.stores.blobs.checkpoints import CheckpointKey

if TYPE_CHECKING:  # its library is slow to load, and unused without a configured storage
    from shared.stores.blobs.blobs import BlobContainer

_TRIES = 5
_MAX_CHECKPOINTS = 10_000  # cached; a KB each
_SHARE = 4  # of a window: when less of it is left, the next one is fetched


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a blob was read, as it was last seen; `left` bytes are unread.

    `is_done` means that the blob needn't be polled until it grows: the unread bytes begin an incomplete unit.
    """

    entry: Entry
    blob: SeenBlob
    left: int

    @property
    def is_done(self) -> bool:
        return self.entry.is_up_to_date(self.blob)


@dataclass(slots=True)
class _Opened:
    """An incarnation that is being read, and its window: the bytes fetched from `start` on, often many pieces.

    They belong to the blob as it was seen; later writes don't show. A blob that `is_final` has no incomplete units.
    """

    ingest_partition: str
    key: CheckpointKey
    entry: Entry
    blob: SeenBlob
    is_final: bool
    start: int = 0
    read: bytes = b""

    @property
    def is_whole(self) -> bool:
        """Returns whether the blob has been fetched to its end."""
        return self.start + len(self.read) >= self.blob.size

    def held(self, checkpoint: Checkpoint, least: int) -> bytes:
        """Returns the anchor of a checkpoint and the bytes after it.

        Returns nothing if fewer than `least` bytes are left after the anchor and more could be fetched.
        """
        begin = checkpoint.offset - checkpoint.anchor_bytes - self.start
        is_enough = self.is_whole or len(self.read) - begin - checkpoint.anchor_bytes >= least
        return self.read[begin:] if is_enough else b""

    def piece(self, checkpoint: Checkpoint, body: bytes, window: int) -> Piece:
        is_last = self.is_final and checkpoint.offset + len(body) >= self.blob.size
        offset, skipping, is_full = checkpoint.offset, checkpoint.skipping, len(body) >= window
        return Piece(self.ingest_partition, self.key, self.entry, offset, body, skipping, is_last, is_full)


@dataclass(frozen=True, slots=True)
class BlobReader:
    """Reads blobs of one kind in one container."""

    container: "BlobContainer"
    intake: Intake
    stores: IngestionStores
    clock: Clock
    _checkpoints: RecentCache[CheckpointKey, tuple[str | None, Checkpoint]] = field(
        default_factory=lambda: RecentCache(_MAX_CHECKPOINTS), init=False
    )

    async def read(
        self, ingest_partition: str, blob: SeenBlob, known: Entry | None, goes_on: Callable[[], bool]
    ) -> Progress | None:
        """Reads a blob to its end, or until `goes_on` returns False, but at least a piece; None if it is gone.

        Raises BlobError, StorageError, and CacheConflictError if another host is reading the blob.
        """
        for _ in range(_TRIES):
            known = await self._entered(ingest_partition, blob, known)
            key = self.intake.checkpoint_key(ingest_partition, known)
            remembered = self._remembered(key, known)
            try:
                checkpoint = remembered or await self.stores.checkpoints.load(key)
                return await self._read(ingest_partition, blob, known, checkpoint, goes_on)
            except CacheConflictError:
                if not remembered:
                    raise
                known = None  # another host has read on since
            except _MadeAnewError:
                known = await self.stores.entries.save(
                    ingest_partition, known.anew(blob, await self.intake.group_of(ingest_partition, blob))
                )
            except BlobChangedError:
                seen = await self.container.look(blob.name)
                if seen is None:
                    return None
                blob = seen
        raise BlobError(f"{blob.name} was written {_TRIES} times while it was to be read; the next sweep goes on.")

    async def _entered(self, ingest_partition: str, blob: SeenBlob, known: Entry | None) -> Entry:
        """Returns the stored entry, which names the incarnation before any of it is read."""
        known = known or await self.stores.entries.load(ingest_partition, blob.name)
        if known:
            return known
        entry = Entry(blob.name, blob.created, blob.modified, group=await self.intake.group_of(ingest_partition, blob))
        return await self.stores.entries.save(ingest_partition, entry)

    async def _read(
        self, ingest_partition: str, blob: SeenBlob, entry: Entry, checkpoint: Checkpoint, goes_on: Callable[[], bool]
    ) -> Progress:
        key = self.intake.checkpoint_key(ingest_partition, entry)
        entry = await self._recognized(ingest_partition, blob, entry, checkpoint)
        now = await self.clock.now()
        opened = _Opened(ingest_partition, key, entry, blob, entry.is_final(blob, now))
        while checkpoint.offset < blob.size:
            after = await self._take(opened, checkpoint)
            if after is None:
                break  # the rest is the beginning of a unit
            checkpoint = after
            if checkpoint.offset < blob.size and not goes_on():
                self._remember(key, entry, checkpoint)
                return Progress(replace(entry, read=checkpoint.offset), blob, blob.size - checkpoint.offset)
        if entry.etag != blob.etag or entry.read != checkpoint.offset:
            entry = await self.stores.entries.save(ingest_partition, entry.read_to_end(blob, checkpoint.offset, now))
        self._remember(key, entry, checkpoint)
        return Progress(entry, blob, max(blob.size - checkpoint.offset, 0))

    def _remembered(self, key: CheckpointKey, entry: Entry) -> Checkpoint | None:
        """Returns the checkpoint that this host left with an entry."""
        etag, checkpoint = self._checkpoints.pop(key) or (None, None)
        return checkpoint if etag == entry.row_etag else None

    def _remember(self, key: CheckpointKey, entry: Entry, checkpoint: Checkpoint) -> None:
        """Caches a checkpoint for the next read, whose transaction fails if another host has advanced it since."""
        self._checkpoints.put(key, (entry.row_etag, checkpoint))

    async def _recognized(self, ingest_partition: str, blob: SeenBlob, entry: Entry, checkpoint: Checkpoint) -> Entry:
        """Returns the entry of a blob that can be read from the checkpoint.

        Raises _MadeAnewError for another blob. Raises BlobChangedError where the blob as it was seen doesn't decide it,
        as another host may have continued meanwhile.
        """
        if entry.is_of(blob) and blob.is_appended and not checkpoint.is_past(blob):
            if checkpoint.offset == blob.size and entry.etag != blob.etag:
                await self._compare(blob, checkpoint)
            return entry
        if entry.is_of(blob) and checkpoint.etag == blob.etag:
            return entry
        if checkpoint.is_past(blob):
            seen = await self.container.look(blob.name)
            if seen is None or seen.etag != blob.etag:
                raise BlobChangedError(blob.name)
        if not await self._begins_alike(blob, checkpoint):
            raise _MadeAnewError
        return entry if entry.is_of(blob) else await self.stores.entries.save(ingest_partition, entry.going_on(blob))

    async def _begins_alike(self, blob: SeenBlob, checkpoint: Checkpoint) -> bool:
        """Returns whether a blob is empty, or begins with the bytes read or with a part large enough to compare."""
        if not checkpoint.offset or not blob.size:
            return True
        known = checkpoint.beginning.within(blob.size) if checkpoint.beginning else None
        if known and not await self._has(blob, known):
            return False
        if blob.size >= checkpoint.offset:
            await self._compare(blob, checkpoint)
            return True
        return known is not None

    async def _has(self, blob: SeenBlob, beginning: PrefixChecksum) -> bool:
        found = PrefixChecksum()
        while found.size < beginning.size:
            until = min(found.size + self.intake.window, beginning.size)
            found = found.extended(await self.container.fetch(blob, found.size, until))
        return found.checksum == beginning.checksum

    async def _take(self, opened: _Opened, checkpoint: Checkpoint) -> Checkpoint | None:
        """Ingests a piece; returns None if the rest is the beginning of a unit."""
        window = self.intake.window
        for is_held in (True, False):  # a unit may be longer than the rest of a window
            read = opened.held(checkpoint, window // _SHARE) if is_held else await self._fetched(opened, checkpoint)
            if not read:
                continue
            piece = opened.piece(checkpoint, read[checkpoint.anchor_bytes :], window)
            done = await self.intake.take(piece)
            if done.consumed:
                return await self._stored(piece, opened.blob, checkpoint, read, done)
            if piece.is_full:
                raise ValueError(f"nothing was taken of {len(piece.body)} bytes")
            if opened.is_whole:
                break
        return None

    async def _compare(self, blob: SeenBlob, checkpoint: Checkpoint) -> None:
        """Raises _MadeAnewError if the bytes before a checkpoint aren't those read there; fetches only these bytes.

        For a blob of unchanged size, such as a sealed one, only this comparison shows that it wasn't re-created.
        """
        start, end = checkpoint.offset - checkpoint.anchor_bytes, checkpoint.offset
        if end and digest(await self.container.fetch(blob, start, end)) != checkpoint.anchor:
            raise _MadeAnewError

    async def _stored(
        self, piece: Piece, blob: SeenBlob, checkpoint: Checkpoint, read: bytes, done: PieceResult
    ) -> Checkpoint:
        """Advances the checkpoint and writes the rows of a piece; `read` is the anchor and the piece."""
        await self._refuse(piece, checkpoint, done.refused)
        taken, refused = read[: checkpoint.anchor_bytes + done.consumed], done.refused.count
        after = checkpoint.advanced(taken, blob, units=done.units, refused=refused, skipping=done.skipping)
        moved, etags = await self.stores.checkpoints.advance(piece.key, checkpoint, after, done.operations)
        done.stored(etags)
        return moved

    async def _fetched(self, opened: _Opened, checkpoint: Checkpoint) -> bytes:
        """Fetches the anchor and the bytes after it, and keeps them as the window."""
        blob, start = opened.blob, checkpoint.offset - checkpoint.anchor_bytes
        read = await self.container.fetch(blob, start, min(checkpoint.offset + self.intake.window, blob.size))
        if digest(read[: checkpoint.anchor_bytes]) != checkpoint.anchor:
            raise _MadeAnewError
        opened.start, opened.read = start, read
        return read

    async def _refuse(self, piece: Piece, checkpoint: Checkpoint, refused: BadUnits) -> None:
        """Stores rejected units before their piece counts; after a crash in between, they are written again."""
        stored = refused.first[: max(MAX_REJECTS - checkpoint.refused, 0)]
        if stored:
            await self.stores.rejects.save(piece.ingest_partition, piece.entry, stored, await self.clock.now())


class _MadeAnewError(Exception):
    """The blob isn't the incarnation that was read before."""
