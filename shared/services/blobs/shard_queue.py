"""Leaves shards of unread blobs to the queue, and reads them on the host that gets their message.

A shard is marked in storage: as waiting for its message, then as read by a host. So one host at a time reads a blob.
Where a mark is wrong, as after a lost message or a killed host, it ends soon, and the checkpoints' ETags keep two
readers from counting anything twice.
"""

import asyncio
from collections import defaultdict
from collections.abc import Mapping
from datetime import timedelta

from shared.domain.blobs.blobs import Entry, SeenBlob, in_turn, shard_of
from shared.domain.blobs.queued_shards import QueuedShard, ShardMessage, UnreadBlob
from shared.errors import CacheConflictError
from shared.services.blobs.blob_reader import BlobReader
from shared.services.blobs.blob_turns import BlobTurns
from shared.services.blobs.container_listing import IngestPartition

MANY = 500
"""Unread blobs of an ingest partition from which on hosts share them: some seconds of work."""
_BUDGET = timedelta(seconds=30)  # of a reading, less than its mark lasts
_TRIES = 5


class ShardQueue:
    """The shards of one container's ingest partitions that were left to the queue."""

    def __init__(self, reader: BlobReader) -> None:
        self._reader = reader
        self._shards = reader.stores.shards
        self._clock = reader.clock
        self._messages: list[ShardMessage] = []
        self._shared: set[str] = set()

    def is_shared(self, name: str) -> bool:
        """Returns whether other hosts may have read blobs of an ingest partition since the last sweep."""
        return name in self._shared

    def take_messages(self) -> list[ShardMessage]:
        """Returns messages about shards left to the queue since the last call."""
        messages, self._messages = self._messages, []
        return messages

    async def leave(
        self, name: str, ingest_partition: IngestPartition, known: Mapping[str, Entry], *, least: int = MANY
    ) -> bool:
        """Leaves unread blobs to the queue if there are at least `least`, or some are there already.

        A shard that a host is reading stays as it is. Raises StorageError.
        """
        unread = [blob for blob, _ in ingest_partition.left.values()]
        if self._reader.intake.at_once == 1 or (name not in self._shared and len(unread) < least):
            return False
        now, queued = await self._clock.now(), await self._shards.load_all(name)
        queued = {shard.number: shard for shard in await self._without_ended(name, queued, unread)}
        if not queued and len(unread) < least:
            self._shared.discard(name)
            return False
        self._shared.add(name)
        by_shard: dict[int, list[UnreadBlob]] = defaultdict(list)
        for blob in in_turn(unread, known):
            by_shard[shard_of(blob.name)].append(UnreadBlob(blob, known.get(blob.name)))
        found = [(queued.get(number) or QueuedShard(number, now), some) for number, some in sorted(by_shard.items())]
        free = [(shard, some) for shard, some in found if not shard.is_left_alone(now)]
        waiting = {shard.number for shard, _ in free if shard.is_waiting(now)}
        saved = await self._shards.save_all(name, [shard.with_blobs(some, now) for shard, some in free])
        self._messages += [ShardMessage(name, shard.number) for shard in saved if shard.number not in waiting]
        for shard in queued.values():
            ingest_partition.problems |= {
                blob: why for blob, why in shard.problems.items() if blob in ingest_partition.left
            }
        return True

    async def read(self, message: ShardMessage) -> None:
        """Reads the unread blobs of a shard, unless another host does; the next sweep finds what is left of them.

        Raises StorageError.
        """
        name, shard = message.ingest_partition, await self._claimed(message)
        if shard is None:
            return
        ingest_partition, turns = IngestPartition(), BlobTurns(self._reader)
        known = {one.blob.name: one.entry for one in shard.blobs}
        turns.known[name] = {blob: entry for blob, entry in known.items() if entry}
        for one in shard.blobs:
            ingest_partition.add(one.blob, one.entry, await self._clock.now())
        time = asyncio.get_running_loop().time
        until = time() + _BUDGET.total_seconds()
        await turns.read(name, ingest_partition, lambda: time() < until)
        await self._reader.intake.write_counts(name)
        try:
            if ingest_partition.problems:
                now = await self._clock.now()
                await self._shards.save(name, shard.given_back(ingest_partition.problems, now))
            else:
                await self._shards.delete(name, shard)
        except CacheConflictError:
            return  # this reading took too long, and the shard is another message's by now

    async def _claimed(self, message: ShardMessage) -> QueuedShard | None:
        """Marks a shard as read by this host; returns None if another host reads it, or has done so."""
        for _ in range(_TRIES):
            shard = await self._shards.load(message.ingest_partition, message.shard)
            now = await self._clock.now()
            if shard is None or shard.is_left_alone(now) or not shard.blobs:
                return None
            try:
                return await self._shards.save(message.ingest_partition, shard.claimed(now))
            except CacheConflictError:
                continue  # a sweep lists its blobs anew, or another host claims it
        return None

    async def _without_ended(
        self, name: str, queued: Mapping[int, QueuedShard], unread: list[SeenBlob]
    ) -> list[QueuedShard]:
        """Deletes shards that neither have unread blobs nor are read or waiting; returns the others."""
        now, wanted = await self._clock.now(), {shard_of(blob.name) for blob in unread}
        kept = []
        for shard in queued.values():
            if shard.number in wanted or shard.is_left_alone(now) or shard.is_waiting(now):
                kept.append(shard)
                continue
            try:
                await self._shards.delete(name, shard)
            except CacheConflictError:
                kept.append(shard)
        return kept
