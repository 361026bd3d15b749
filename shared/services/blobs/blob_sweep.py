"""Finds and reads the growth of all blobs of a container.

Event Grid announces a blob once, when it is created and mostly empty; sweeps find all later growth. Ingest partitions
are read side by side, and so are some blobs of each if its intake allows, as most of the time is waits for storage: one
that is large, and several others. The blobs of an ingest partition take turns, alternately the one that waited longest
and the latest, so that neither large, bad nor growing blobs keep others waiting. An unchanged blob costs only its line
in the list. A long listing takes several sweeps; only the complete one gives the number of blobs.
"""

import asyncio
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import count

from shared.domain.blobs.blobs import Entry, SeenBlob, in_turn
from shared.domain.blobs.sweeps import PartitionSweep
from shared.errors import BatchscopeError, BlobError, CacheConflictError
from shared.log import logger
from shared.services.blobs.blob_reader import BlobReader, Progress

_LOG = logger(__name__)
_AT_ONCE, _LARGE_AT_ONCE = 16, 4  # blobs of all ingest partitions: those that take little memory, and others
_LARGE = 1 << 20  # bytes to read of a blob that takes much memory
_PIECES_A_TURN = 8
_WRITE_INTERVAL = timedelta(seconds=30)  # how often an unchanged result is written
_MAX_PROBLEMS = 10


@dataclass(slots=True)
class IngestPartition:
    """The blobs of an ingest partition in a listing, and the unread ones (`left`) with their unread bytes.

    `halves` wait for more to be appended: unchanged blobs that end in an incomplete unit. After a while without a write
    they are read as they are.
    """

    names: set[str] = field(default_factory=set)
    up_to_date: int = 0
    latest: datetime | None = None
    left: dict[str, tuple[SeenBlob, int]] = field(default_factory=dict)
    halves: list[tuple[SeenBlob, int]] = field(default_factory=list)
    problems: dict[str, str] = field(default_factory=dict)

    def add(self, blob: SeenBlob, entry: Entry | None, now: datetime) -> None:
        self.names.add(blob.name)
        self.latest = max(self.latest or blob.modified, blob.modified)
        unread = entry.unread(blob) if entry else blob.size
        if entry and entry.is_up_to_date(blob) and not (unread and entry.is_final(blob, now)):
            self.up_to_date += 1
            if unread:
                self.halves.append((blob, unread))
        else:
            self.left[blob.name] = blob, unread

    def bytes_to_read(self, blob: SeenBlob) -> int:
        """Returns how many bytes of an unread blob are read; of one that was uploaded anew, also those known."""
        return self.left[blob.name][1] if blob.is_appended else blob.size

    def swept(self, now: datetime) -> PartitionSweep:
        behind = [*self.left.values(), *self.halves]
        return PartitionSweep(
            at=now,
            blobs=len(self.names),
            up_to_date=self.up_to_date,
            latest=self.latest,
            behind_blobs=len(behind),
            behind_bytes=sum(left for _, left in behind),
            behind_since=min((blob.modified for blob, _ in behind), default=None),
            problems=tuple(f"{name}: {why}" for name, why in sorted(self.problems.items())[:_MAX_PROBLEMS]),
        )


@dataclass(slots=True)
class UnassignedBlobs:
    """Blobs in no ingest partition that may belong to a watched account, and the name and reason of the first."""

    blobs: int = 0
    problems: list[str] = field(default_factory=list)

    def add(self, name: str, why: str | None) -> None:
        self.blobs += why is not None
        if why and not self.problems:
            self.problems.append(f"{name} isn't read: {why}.")

    def swept(self, now: datetime) -> PartitionSweep:
        return PartitionSweep(now, self.blobs, problems=tuple(self.problems))


@dataclass(slots=True)
class ContainerListing:
    """A listing of the container; `marker` is where it continues, `is_whole` whether it is complete."""

    ingest_partitions: dict[str, IngestPartition] = field(default_factory=lambda: defaultdict(IngestPartition))
    of_nobody: UnassignedBlobs = field(default_factory=UnassignedBlobs)
    marker: str | None = None
    is_whole: bool = False


class BlobSweep:
    """Sweeps over the blobs of one container, without those last written before the `retention`.

    Blobs of unknown owners aren't read; they are reported under the ingest partition `unread`.
    """

    def __init__(self, reader: BlobReader, *, retention: timedelta, unread: str = "") -> None:
        self._reader = reader
        self._entries = reader.stores.entries
        self._clock = reader.clock
        self._retention = retention
        self._unread = unread
        self._known: dict[str, dict[str, Entry]] = {}
        self._written: dict[str, PartitionSweep] = {}
        self._look = ContainerListing()
        self._time = asyncio.get_running_loop().time
        self._turn = asyncio.Lock()
        self._sweeps = count()
        self._gate = asyncio.Semaphore(_AT_ONCE)
        self._gate_of_large = asyncio.Semaphore(_LARGE_AT_ONCE)

    async def run(self, budget: timedelta) -> None:
        """Runs one sweep within the budget. Raises BlobError and StorageError where a result can't be stored."""
        if self._turn.locked():
            return
        async with self._turn:
            began, seconds = self._time(), budget.total_seconds()
            try:
                look = await self._listed(lambda: self._time() < began + seconds / 2)
            except BatchscopeError as error:
                self._look = ContainerListing()  # half a page may be counted
                if isinstance(error, BlobError):
                    await self._write_listing_failure(str(error))
                raise

            def goes_on() -> bool:
                return self._time() < began + seconds

            partitions = deque(look.ingest_partitions.items())
            partitions.rotate(next(self._sweeps))  # each is the first once, even if few have a turn in a sweep
            await asyncio.gather(*(self._read(name, partition, goes_on) for name, partition in partitions))
            await self._write_results(look)

    async def announced(self, name: str, budget: timedelta) -> None:
        """Reads a blob that an event announces. Raises BlobError, StorageError."""
        ingest_partition, until = self._reader.intake.ingest_partition_of(name), self._time() + budget.total_seconds()
        if ingest_partition is None:
            return
        blob = await self._reader.container.look(name)
        if blob is None:
            return
        try:
            done = await self._reader.read(ingest_partition, blob, None, lambda: self._time() < until)
        except CacheConflictError:
            _LOG.info("The blob %s is being read by another host.", name)
            return
        await self._reader.intake.write_counts(ingest_partition)
        if done:
            self._known.get(ingest_partition, {})[name] = done.entry

    async def _listed(self, goes_on: Callable[[], bool]) -> ContainerListing:
        """Continues the listing in progress, or starts the next, for as many blobs as the time allows."""
        if self._look.is_whole:
            self._look = ContainerListing()
        look, now = self._look, await self._clock.now()
        async for page, marker in self._reader.container.pages(look.marker):
            for blob in page:
                if blob.modified >= now - self._retention:
                    await self._add(look, blob, now)
            look.marker = marker
            if not goes_on():
                break
        else:
            look.marker = None
        look.is_whole = look.marker is None
        return look

    async def _add(self, look: ContainerListing, blob: SeenBlob, now: datetime) -> None:
        name = self._reader.intake.ingest_partition_of(blob.name)
        if name is None:
            look.of_nobody.add(blob.name, self._reader.intake.why_unread(blob.name))
            return
        if name not in self._known:
            self._known[name] = await self._entries.load_all(name)
        look.ingest_partitions[name].add(blob, self._known[name].get(blob.name), now)

    async def _read(self, name: str, ingest_partition: IngestPartition, goes_on: Callable[[], bool]) -> None:
        """Reads the blobs of an ingest partition in turns until all are read or time is over."""
        waiting = in_turn([blob for blob, _ in ingest_partition.left.values()], self._known[name])
        while waiting and goes_on():
            readers = self._readers(ingest_partition, waiting)
            found = await asyncio.gather(
                *(self._take_turns(name, ingest_partition, turns, gate, goes_on) for turns, gate in readers)
            )
            waiting = [blob for unfinished in found for blob in unfinished]

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
        few = iter([blob for blob in waiting if blob.name in large])
        many = iter([blob for blob in waiting if blob.name not in large])
        return [(few, self._gate_of_large), *[(many, self._gate)] * (self._reader.intake.at_once - 1)]

    async def _turn_of(
        self, name: str, ingest_partition: IngestPartition, blob: SeenBlob, goes_on: Callable[[], bool]
    ) -> Progress | None:
        """Reads some pieces of a blob, if there is time. Its errors are recorded and don't affect other blobs."""
        pieces = count(1)

        def more() -> bool:
            return next(pieces) < _PIECES_A_TURN and goes_on()

        if not goes_on():
            return None
        known = self._known.setdefault(name, {})
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

    async def _write_results(self, look: ContainerListing) -> None:
        """Writes the result of every ingest partition, even if those of others fail."""
        now = await self._clock.now()
        writes = (self._write_result_of(name, look, now) for name in self._reader.intake.ingest_partitions)
        for error in await asyncio.gather(*writes, return_exceptions=True):
            if error:
                raise error
        if self._unread and look.is_whole:
            await self._write_unassigned(look.of_nobody.swept(now))

    async def _write_result_of(self, name: str, look: ContainerListing, now: datetime) -> None:
        """Writes the result of an ingest partition; until a listing is complete, the previous result counts."""
        ingest_partition, previous = look.ingest_partitions.get(name), self._written.get(name)
        if ingest_partition:
            await self._reader.intake.write_counts(name)
        if not look.is_whole:
            if previous:
                await self._write_result(name, replace(previous, at=now))
        elif ingest_partition:
            await self._write_result(name, ingest_partition.swept(now))
            known = self._known[name].items()
            self._known[name] = {blob: entry for blob, entry in known if blob in ingest_partition.names}
        else:
            await self._write_empty(name, now)

    async def _write_empty(self, name: str, now: datetime) -> None:
        """Writes that an ingest partition has no blobs any more; also on a host that isn't notified of them."""
        self._known.pop(name, None)
        previous = await self._entries.load_sweep(name)
        if previous:
            self._written[name] = previous
            await self._write_result(name, IngestPartition().swept(now))

    async def _write_listing_failure(self, why: str) -> None:
        """Writes for every ingest partition that the container couldn't be listed."""
        now = await self._clock.now()
        for name in self._reader.intake.ingest_partitions:
            previous = await self._entries.load_sweep(name) or PartitionSweep(now, 0)
            await self._write_result(name, replace(previous, at=now, problems=(why,)))

    async def _write_unassigned(self, found: PartitionSweep) -> None:
        """Writes which blobs aren't read, and logs it once."""
        previous = self._written.get(self._unread)
        if previous and previous.is_equivalent(found):
            return
        if found.blobs and not (previous and previous.blobs):
            _LOG.warning("Blobs that aren't read: %d. %s", found.blobs, found.problems[0])
        await self._entries.save_sweep(self._unread, found)
        self._written[self._unread] = found

    async def _write_result(self, name: str, sweep: PartitionSweep) -> None:
        """Writes an ingest partition's result if it is new or the last one is old."""
        previous = self._written.get(name)
        if previous and previous.is_equivalent(sweep) and sweep.at - previous.at < _WRITE_INTERVAL:
            return
        await self._entries.save_sweep(name, sweep)
        self._written[name] = sweep
