"""Projects the minutes of blobs' steps to the rows of pools, a shard of blobs at a time.

A step is stored first, in the partition of its blob, and its minutes wait here until `write`. If a host dies in
between, the head of the shard is behind the blob: the next projection of the blob finds the gap and reads the minutes
from the blob's own rows. Minutes are always overwritten as a whole, so the same rows result from any order, repetition
or crash.
"""

import asyncio
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from shared.clock import Clock
from shared.domain.blobs.blobs import Entry, digest
from shared.domain.blobs.shards import shard_of
from shared.domain.core.keys import partition_of
from shared.domain.core.stamps import to_milliseconds
from shared.domain.telemetry.pools.blob_minutes import BlobMinutes, BlobTail, Minutes, StepMinutes
from shared.domain.telemetry.pools.block_changes import BlockKey, Parts, changed, changes_of, latest_of
from shared.domain.telemetry.pools.blocks import BlockChange
from shared.errors import BatchscopeError, CacheConflictError
from shared.services.blobs.ingestion_stores import IngestionStores, telemetry_ingest_partition
from shared.services.telemetry.node_sessions import some_at_once
from shared.services.telemetry.stored_minutes import stored_minutes
from shared.stores.telemetry.pool_telemetry import Projected, ShardHead

_TRIES = 5
_SHARDS_AT_ONCE, _BLOBS_AT_ONCE = 8, 4
_LOOKBACK = timedelta(hours=1)
"""How far back the minutes of a blob are read where the head of its shard lacks some; and how far a clock is ahead."""
_KEPT = timedelta(hours=2)  # how long the head of a shard knows a blob
_CHECKED = timedelta(minutes=30)
_LONGER = timedelta(days=1)  # than blocks, so that the head leads to those that expire
_BLOCKS_TOGETHER = 50  # read in one request
_CACHED_BLOCKS, _MAX_CACHED = 2, 32 << 20  # of a pool, and bytes of all
_MAX_TAILS = 20_000  # blobs
_MAX_WAITING = 40_000  # minutes of nodes: a KB each
_UNKNOWN_POOL = ""
_BLOB_DIGITS = 8  # of an incarnation's digest: those of a node's blobs differ


@dataclass(slots=True)
class _Shard:
    """A shard's head and latest blocks, as this host wrote them."""

    head: ShardHead
    blocks: Mapping[BlockKey, Parts] = field(default_factory=dict)

    @property
    def size(self) -> int:
        return sum(part.size for parts in self.blocks.values() for part in parts.values())


type _Waiting = dict[str, BlobMinutes]
"""Minutes of blobs by incarnation."""


class PoolProjection:
    """The projection of all accounts' blobs; `retention` is that of the rows of pools."""

    def __init__(self, stores: IngestionStores, clock: Clock, retention: timedelta) -> None:
        self._stores = stores
        self._clock = clock
        self._retention = retention
        self._waiting: dict[str, dict[int, _Waiting]] = {}
        self._number_waiting = 0
        self._tails: dict[str, BlobTail] = {}
        self._shards: dict[tuple[str, int], _Shard] = {}
        self._checked: dict[str, datetime] = {}
        self._turns: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    def note(self, account_key: str, entry: Entry, step: StepMinutes) -> None:
        """Takes the minutes of a blob's stored step."""
        partition = partition_of(account_key, entry.incarnation)
        tail = self._tails.pop(partition, None) or BlobTail()
        minutes = tail.completed(step)
        if len(self._tails) >= _MAX_TAILS:
            self._tails.clear()
        self._tails[partition] = tail
        known = self._of_shard(account_key, shard_of(entry.name))
        before = known.get(entry.incarnation)
        known[entry.incarnation] = self._bounded(before.followed_by(minutes) if before else minutes)

    async def write(self, account_key: str) -> None:
        """Projects everything that waits; what fails waits on. Raises StorageError, CacheConflictError."""
        async with self._turns[account_key]:
            await self._check(account_key)
            waiting = self._waiting.pop(account_key, {})
            self._number_waiting = 0 if not self._waiting else self._number_waiting
            failed: list[BatchscopeError] = []

            async def projected(shard: int) -> None:
                try:
                    await self._project(account_key, shard, waiting[shard])
                except BatchscopeError as error:
                    failed.append(error)
                    self._wait_on(account_key, shard, waiting[shard])

            await some_at_once(projected, sorted(waiting), _SHARDS_AT_ONCE)
            if failed:
                raise failed[0]

    def _of_shard(self, account_key: str, shard: int) -> _Waiting:
        return self._waiting.setdefault(account_key, {}).setdefault(shard, {})

    def _bounded(self, minutes: BlobMinutes) -> BlobMinutes:
        """Returns minutes without values if too many wait; these are read from the blob's rows then."""
        self._number_waiting += len(minutes.values)
        return minutes.without_values() if self._number_waiting > _MAX_WAITING else minutes

    def _wait_on(self, account_key: str, shard: int, waiting: _Waiting) -> None:
        """Puts minutes back before those that came since."""
        known = self._of_shard(account_key, shard)
        for incarnation, minutes in waiting.items():
            later = known.get(incarnation)
            known[incarnation] = minutes.followed_by(later) if later else minutes

    async def _check(self, account_key: str) -> None:
        """Lets blobs of the last hour wait whose last steps no host has projected; at start and every half hour."""
        now = await self._clock.now()
        last = self._checked.get(account_key)
        if last and now - last < _CHECKED:
            return
        entries = await self._stores.entries.load_all(telemetry_ingest_partition(account_key))
        waiting = {name for some in self._waiting.get(account_key, {}).values() for name in some}
        recent = [
            entry
            for entry in entries.values()
            if entry.read and entry.modified >= now - _LOOKBACK and entry.incarnation not in waiting
        ]
        shards = sorted({shard_of(entry.name) for entry in recent})
        heads = await some_at_once(lambda shard: self._stores.pool_telemetry.load_head(account_key, shard), shards)
        known = dict(zip(shards, heads, strict=True))
        for entry in recent:
            shard = shard_of(entry.name)
            if known[shard].offset_of(entry.incarnation) < entry.read:
                self._wait_on(account_key, shard, {entry.incarnation: BlobMinutes(None, entry.read)})
        self._checked[account_key] = now

    async def _project(self, account_key: str, shard: int, waiting: _Waiting) -> None:
        for _ in range(_TRIES - 1):
            try:
                await self._write(account_key, shard, waiting)
            except CacheConflictError:  # another host projected blobs of the shard
                continue
            return
        await self._write(account_key, shard, waiting)

    async def _write(self, account_key: str, shard: int, waiting: _Waiting) -> None:
        now, store = await self._clock.now(), self._stores.pool_telemetry
        known = self._shards.pop((account_key, shard), None) or _Shard(await store.load_head(account_key, shard))
        head, minute = known.head, _minute(now)
        behind = {name: one for name, one in waiting.items() if head.offset_of(name) < one.end or one.is_renamed}
        found = await some_at_once(
            lambda name: self._values(account_key, name, behind[name], head, now), behind, _BLOBS_AT_ONCE
        )
        changes: dict[BlockKey, list[BlockChange]] = defaultdict(list)
        seen = {pool: dict(nodes) for pool, nodes in head.seen.items()}
        for name, values in zip(behind, found, strict=True):
            pools = {_UNKNOWN_POOL} if behind[name].is_renamed else ()
            for key, change in changes_of(digest(name.encode())[:_BLOB_DIGITS], values, pools):
                changes[key].append(change)
            for minute_of_node, nodes in values.items():
                for pool, node in nodes:
                    last = seen.setdefault(pool, {})
                    last[node] = max(last.get(node, 0), minute_of_node)
        if behind:
            blocks = await self._blocks(account_key, shard, known, changes)
            packed = await asyncio.to_thread(changed, blocks, changes)
            blobs = {**head.blobs, **{name: Projected(one.end, minute) for name, one in behind.items()}}
            oldest = _minute(now - self._retention - _LONGER)
            head = replace(head, blobs=_since(blobs, _minute(now - _KEPT)), seen=_recent(seen, oldest))
            head = replace(head, etag=await store.save(account_key, shard, head, packed))
            known = _Shard(head, latest_of({**known.blocks, **packed}, _CACHED_BLOCKS))
        if sum(one.size for one in self._shards.values()) > _MAX_CACHED:
            self._shards.clear()
        self._shards[account_key, shard] = known

    async def _values(
        self, account_key: str, incarnation: str, minutes: BlobMinutes, head: ShardHead, now: datetime
    ) -> Minutes:
        """Returns the minutes to project, with those from the blob's own rows that aren't known here."""
        is_gap = head.offset_of(incarnation) != minutes.begin
        unread = {*minutes.unread, *(minutes.values if is_gap else ())}
        since = 0 if minutes.is_renamed else _minute(now - _LOOKBACK) if is_gap else None
        if not unread and since is None:
            return minutes.values
        partition, until = partition_of(account_key, incarnation), _minute(now + _LOOKBACK)
        stored, newest = await stored_minutes(self._stores.telemetry, partition, unread, since, until)
        if tail := self._tails.get(partition):
            tail.learn(newest)
        return {**minutes.values, **{minute: {} for minute in unread}, **stored}

    async def _blocks(
        self, account_key: str, shard: int, known: _Shard, wanted: Collection[BlockKey]
    ) -> dict[BlockKey, Parts]:
        """Returns blocks as stored, without those that don't exist."""
        found = {key: known.blocks[key] for key in wanted if key in known.blocks}
        if known.head.etag is None:
            return found
        numbers = sorted({number for _, number in set(wanted) - found.keys()})
        while numbers:
            some = [number for number in numbers if number < numbers[0] + _BLOCKS_TOGETHER]
            stored = await self._stores.pool_telemetry.load_blocks(account_key, shard, some[0], some[-1])
            found |= {key: parts for key, parts in stored.items() if key in wanted and key not in found}
            del numbers[: len(some)]
        return found


def _since(blobs: Mapping[str, Projected], minute: int) -> dict[str, Projected]:
    return {name: one for name, one in blobs.items() if one.minute >= minute}


def _recent(seen: Mapping[str, Mapping[str, int]], minute: int) -> dict[str, dict[str, int]]:
    """Returns nodes with data since a minute, by pool."""
    kept = {pool: {node: last for node, last in nodes.items() if last >= minute} for pool, nodes in seen.items()}
    return {pool: nodes for pool, nodes in kept.items() if nodes}


def _minute(moment: datetime) -> int:
    return to_milliseconds(moment) // 60_000
