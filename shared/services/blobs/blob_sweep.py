"""Finds and reads the growth of all blobs of a container.

Event Grid announces a blob once, when it is created and mostly empty; sweeps find all later growth. Ingest partitions
are read side by side. Where very many blobs of one have grown, or time is over, its blobs are left to the queue, which
all hosts share. An unchanged blob costs only its line in the list. A long listing takes several sweeps; only the
complete one gives the number of blobs.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import count

from shared.domain.blobs.blobs import SeenBlob
from shared.domain.blobs.queued_shards import ShardMessage
from shared.domain.blobs.sweeps import PartitionSweep
from shared.errors import BatchscopeError, BlobError, CacheConflictError
from shared.log import logger
from shared.services.blobs.blob_reader import BlobReader
from shared.services.blobs.blob_turns import BlobTurns
from shared.services.blobs.container_listing import ContainerListing, IngestPartition
from shared.services.blobs.shard_queue import ShardQueue

_LOG = logger(__name__)
_WRITE_INTERVAL = timedelta(seconds=30)  # how often an unchanged result is written


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
        self._turns = BlobTurns(reader)
        self._queue = ShardQueue(reader)
        self._known = self._turns.known
        self._written: dict[str, PartitionSweep] = {}
        self._look = ContainerListing()
        self._time = asyncio.get_running_loop().time
        self._turn = asyncio.Lock()
        self._sweeps = count()

    @property
    def ingest_partitions(self) -> Collection[str]:
        return self._reader.intake.ingest_partitions

    def take_messages(self) -> list[ShardMessage]:
        """Returns messages about shards left to the queue since the last call."""
        return self._queue.take_messages()

    async def read_shard(self, message: ShardMessage) -> None:
        """Reads the unread blobs of a shard that a sweep left to the queue. Raises StorageError."""
        await self._queue.read(message)

    async def run(self, budget: timedelta) -> None:
        """Runs one sweep within the budget. Raises BlobError and StorageError where a result can't be stored.

        `take_messages` returns the work that didn't fit.
        """
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
            reads = (self._read(name, partition, goes_on) for name, partition in partitions)
            ends = await asyncio.gather(*reads, return_exceptions=True)
            await self._write_results(look)
            if failed := [end for end in ends if end]:
                raise failed[0]

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
            for name in filter(self._queue.is_shared, self._known):
                self._known[name] = await self._entries.load_all(name)
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
        """Reads the blobs of an ingest partition in turns, or leaves them to the queue: very many, or those left over.

        Raises StorageError.
        """
        if await self._queue.leave(name, ingest_partition, self._known[name]):
            return
        await self._turns.read(name, ingest_partition, goes_on)
        if ingest_partition.left and not goes_on():
            await self._queue.leave(name, ingest_partition, self._known[name], least=1)

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
