"""Reads blobs of ingest partitions in turns, some side by side, so that none keeps others waiting.

The blobs of an ingest partition take turns, alternately the one that waited longest and the latest, so that neither
large, bad nor growing blobs keep others waiting. Some are read side by side if their intake allows, as most of the time
is waits for storage: one that is large, and several others.
"""

import asyncio
from collections.abc import Callable, Iterator
from itertools import count

from shared.domain.blobs.blobs import Entry, SeenBlob, in_turn
from shared.errors import BatchscopeError, CacheConflictError
from shared.log import logger
from shared.services.blobs.blob_reader import BlobReader, Progress
from shared.services.blobs.container_listing import IngestPartition

_LOG = logger(__name__)
_AT_ONCE, _LARGE_AT_ONCE = 16, 4  # blobs of all ingest partitions: those that take little memory, and others
_LARGE = 1 << 20  # bytes to read of a blob that takes much memory
_PIECES_A_TURN = 8
_COUNTED = 2  # seconds after which counts are written while others of an ingest partition are read on


class BlobTurns:
    """Reads blobs of one container; `known` are the entries of those seen in it, by ingest partition and name."""

    def __init__(self, reader: BlobReader) -> None:
        self.known: dict[str, dict[str, Entry]] = {}
        self._reader = reader
        self._gate = asyncio.Semaphore(_AT_ONCE)
        self._gate_of_large = asyncio.Semaphore(_LARGE_AT_ONCE)

    async def read(self, name: str, ingest_partition: IngestPartition, goes_on: Callable[[], bool]) -> None:
        """Reads the blobs of an ingest partition in turns until all are read or time is over."""
        known = self.known.setdefault(name, {})
        waiting = in_turn([blob for blob, _ in ingest_partition.left.values()], known)
        time = asyncio.get_running_loop().time
        counted = time()
        while waiting and goes_on():
            if time() >= counted + _COUNTED:
                await self._write_counts(name)
                counted = time()
            readers = self._readers(ingest_partition, waiting)
            found = await asyncio.gather(
                *(self._take_turns(name, ingest_partition, turns, gate, goes_on) for turns, gate in readers)
            )
            waiting = [blob for unfinished in found for blob in unfinished]

    async def _write_counts(self, name: str) -> None:
        """Writes counts, so that those of blobs that were read don't wait for others; failures are tried again."""
        try:
            await self._reader.intake.write_counts(name)
        except BatchscopeError as error:
            _LOG.warning("Counts of %s couldn't be written yet: %s", name, error)

    async def _take_turns(
        self,
        name: str,
        ingest_partition: IngestPartition,
        turns: Iterator[SeenBlob],
        gate: asyncio.Semaphore,
        goes_on: Callable[[], bool],
    ) -> list[SeenBlob]:
        """Gives blobs their turns one after another; returns those with more to read."""
        unfinished = []
        for blob in turns:
            async with gate:  # for one turn, so that no ingest partition waits for the end of another
                done = await self._turn_of(name, ingest_partition, blob, goes_on)
            if done and not done.is_done:
                unfinished.append(done.blob)
        return unfinished

    def _readers(
        self, ingest_partition: IngestPartition, waiting: list[SeenBlob]
    ) -> list[tuple[Iterator[SeenBlob], asyncio.Semaphore]]:
        """Returns the turns and the gate of each reader of an ingest partition; readers may share turns."""
        if self._reader.intake.at_once == 1:
            return [(iter(waiting), self._gate_of_large)]
        large = {blob.name for blob in waiting if ingest_partition.bytes_to_read(blob) >= _LARGE}
        few = [blob for blob in waiting if blob.name in large]
        many = [blob for blob in waiting if blob.name not in large]
        turns, number = iter(many), min(len(many), self._reader.intake.at_once - 1)
        readers = [(turns, self._gate)] * number
        return [(iter(few), self._gate_of_large), *readers] if few else readers

    async def _turn_of(
        self, name: str, ingest_partition: IngestPartition, blob: SeenBlob, goes_on: Callable[[], bool]
    ) -> Progress | None:
        """Reads some pieces of a blob, if there is time. Its errors are recorded and don't affect other blobs."""
        pieces = count(1)

        def more() -> bool:
            return next(pieces) < _PIECES_A_TURN and goes_on()

        if not goes_on():
            return None
        known = self.known.setdefault(name, {})
        try:
            done = await self._reader.read(name, blob, known.get(blob.name), more)
        except CacheConflictError:  # another host is reading it
            known.pop(blob.name, None)
        except BatchscopeError as error:
            ingest_partition.problems[blob.name] = str(error)
            _LOG.warning("The blob %s couldn't be read: %s", blob.name, error)
        except Exception as error:  # a defect in one blob mustn't stop the reading of others
            ingest_partition.problems[blob.name] = f"{type(error).__name__}: {error}"
            _LOG.exception("The reading of %s broke", blob.name)
        else:
            for forgotten in (ingest_partition.problems, ingest_partition.left, known):  # also where the blob is gone
                forgotten.pop(blob.name, None)
            if done:
                known[blob.name] = done.entry
                if done.left:
                    ingest_partition.left[blob.name] = done.blob, done.left
            return done
        return None
