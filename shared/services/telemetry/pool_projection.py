"""Projects the minutes of blobs' steps to the rows of pools, a shard of blobs at a time.

A step is stored first, in the partition of its blob, and its minutes wait here until `write`. If a host dies in
between, the shard's rows are behind the blob: the next projection of the blob finds the gap and reads the hours of the
missed steps, however late their samples, from the blob's own rows. Minutes are always overwritten as a whole, so the
same rows result from any order, repetition or crash.
"""

import asyncio
from collections import defaultdict
from collections.abc import Collection
from dataclasses import replace
from datetime import datetime, timedelta

from shared.clock import Clock
from shared.domain.blobs.blobs import BlobRows, shard_of, telemetry_ingest_partition
from shared.domain.telemetry.pools.block_changes import BlockKey, Parts, changed, latest_of
from shared.domain.telemetry.pools.node_minutes import BlobMinutes, BlobTail, Minutes, StepMinutes
from shared.domain.telemetry.rollups.rollups import MINUTES_AN_HOUR
from shared.errors import BatchscopeError, CacheConflictError
from shared.services.blobs.ingestion_stores import IngestionStores
from shared.services.telemetry.node_sessions import some_at_once
from shared.services.telemetry.shard_projection import (
    BLOCKS_TOGETHER,
    Changes,
    Shard,
    Waiting,
    blob_changes,
    completed,
    following,
    minute_of,
    portions,
)
from shared.services.telemetry.stored_minutes import missed_hours, stored_minutes

_TRIES = 5
_SHARDS_AT_ONCE, _BLOBS_AT_ONCE = 8, 4
_LOOKBACK = timedelta(hours=1)  # since when grown blobs are compared with heads
_AHEAD = timedelta(hours=1)  # how far a node's clock may be ahead
_MAX_UNKNOWN_ROWS = 1_000  # that are read of a blob that the head doesn't know: more than a host leaves behind
_GAPS_TOGETHER = 8  # blobs with missed steps in a projection: their minutes take memory
_CHECKED = timedelta(minutes=30)
_CACHED_BLOCKS, _MAX_CACHED = 2, 32 << 20  # of a pool, and bytes of all
_MAX_WAITING = 40_000  # minutes of nodes: a KB each


class PoolProjection:
    """The projection of all accounts' blobs; `retention` is that of the rows of pools."""

    def __init__(self, stores: IngestionStores, clock: Clock, retention: timedelta) -> None:
        self._stores = stores
        self._clock = clock
        self._retention = retention
        self._waiting: dict[str, dict[int, Waiting]] = {}
        self._number_waiting = 0
        self._shards: dict[tuple[str, int], Shard] = {}
        self._checked: dict[str, datetime] = {}
        self._turns: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    def note(self, name: str, blob: BlobRows, step: StepMinutes) -> None:
        """Takes the minutes of a blob's stored step; if too many wait, they are read from the blob's rows later."""
        if self._number_waiting + len(step.values) > _MAX_WAITING:
            step = step.without_values()
        self._number_waiting += len(step.values)
        self._waiting_of(blob.account_key, shard_of(name)).setdefault(blob, []).append(step)

    async def write(self, account_key: str) -> None:
        """Projects everything that waits; what fails waits on. Raises StorageError, CacheConflictError."""
        async with self._turns[account_key]:
            await self._check(account_key)
            waiting = self._waiting.pop(account_key, {})
            failed: list[BatchscopeError] = []

            async def projected(shard: int) -> None:
                try:
                    await self._project(account_key, shard, waiting[shard])
                except BatchscopeError as error:
                    failed.append(error)
                    self._wait_on(account_key, shard, waiting[shard])
                else:
                    self._number_waiting -= _number_of(waiting[shard])

            await some_at_once(projected, sorted(waiting), _SHARDS_AT_ONCE)
            if failed:
                raise failed[0]

    def _waiting_of(self, account_key: str, shard: int) -> Waiting:
        return self._waiting.setdefault(account_key, {}).setdefault(shard, {})

    def _wait_on(self, account_key: str, shard: int, waiting: Waiting) -> None:
        """Puts steps back before those that came since."""
        known = self._waiting_of(account_key, shard)
        for blob, steps in waiting.items():
            known[blob] = [*steps, *known.get(blob, ())]

    async def _check(self, account_key: str) -> None:
        """Lets blobs of the last hour wait whose last steps no host has projected; at start and every half hour."""
        now = await self._clock.now()
        last = self._checked.get(account_key)
        if last and now - last < _CHECKED:
            return
        entries = await self._stores.entries.load_all(telemetry_ingest_partition(account_key))
        waiting = {blob.incarnation for some in self._waiting.get(account_key, {}).values() for blob in some}
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
                step = StepMinutes(entry.read, entry.read)
                self._wait_on(account_key, shard, {entry.rows(account_key): [step]})
        self._checked[account_key] = now

    async def _project(self, account_key: str, shard: int, waiting: Waiting) -> None:
        conflicts = 0
        while waiting:
            try:
                waiting = await self._write(account_key, shard, waiting)
            except CacheConflictError:  # another host projected blobs of the shard
                conflicts += 1
                if conflicts == _TRIES:
                    raise

    async def _write(self, account_key: str, shard: int, waiting: Waiting) -> Waiting:
        """Projects steps of a shard; returns those that are left for the next time."""
        now = await self._clock.now()
        cached = self._shards.pop((account_key, shard), None)
        known = cached or await self._opened(account_key, shard)
        tails, minutes = completed(known, waiting)
        if cached and any(one.is_gap for one in minutes.values()):  # another host may have gone on
            known = await self._opened(account_key, shard)
            tails, minutes = completed(known, waiting)
        left = [blob for blob, one in minutes.items() if one.is_gap or one.is_renamed][_GAPS_TOGETHER:]
        minutes = {blob: one for blob, one in minutes.items() if blob not in left}
        if minutes:
            values = await some_at_once(
                lambda blob: self._values(blob, minutes[blob], tails[blob], known, now), minutes, _BLOBS_AT_ONCE
            )
            named = {blob.incarnation: tails[blob] for blob in minutes}
            *others, last = portions(blob_changes(minutes, values))
            for some in others:
                known = await self._saved(account_key, shard, known, some, known)
            brought = list(zip(minutes.values(), values, strict=True))
            then = await asyncio.to_thread(following, known, named, brought, now, self._retention)
            known = await self._saved(account_key, shard, known, last, then)
        if sum(one.size for one in self._shards.values()) > _MAX_CACHED:
            self._shards.clear()
        self._shards[account_key, shard] = known
        return {blob: waiting[blob] for blob in left}

    async def _opened(self, account_key: str, shard: int) -> Shard:
        """Returns a shard as stored; if its tails are newer than the head, the head can't be written."""
        store = self._stores.pool_telemetry
        head = await store.load_head(account_key, shard)
        return Shard(head, await store.load_tails(account_key, shard) if head.etag else {})

    async def _values(
        self, blob: BlobRows, minutes: BlobMinutes, tail: BlobTail, known: Shard, now: datetime
    ) -> Minutes:
        """Returns the minutes to project, with those from the blob's own rows that aren't known here.

        Where steps were missed, these are the hours that they added to, and of a renamed session all hours.
        """
        store, missed = self._stores.telemetry, set[int]()
        if minutes.is_gap or minutes.is_renamed:
            before = known.tails.get(blob.incarnation)
            since = before.end if before and not minutes.is_renamed else 0
            hours = range(_hour(now - self._retention), _hour(now + _AHEAD) + 1)
            most = None if before or minutes.is_renamed else _MAX_UNKNOWN_ROWS
            missed = await missed_hours(store, blob, since, hours, most)
        elif not minutes.unread:
            return minutes.values
        stored, newest = await stored_minutes(store, blob, minutes.unread, missed)
        tail.learn(newest)
        return {**minutes.values, **{minute: {} for minute in minutes.unread}, **stored}

    async def _saved(self, account_key: str, shard: int, known: Shard, changes: Changes, then: Shard) -> Shard:
        """Writes changed blocks of a shard, and the head and the tails of the shard `then`."""
        blocks = await self._blocks(account_key, shard, known, changes)
        packed = await asyncio.to_thread(changed, blocks, changes)
        head = replace(then.head, etag=known.head.etag)
        etag = await self._stores.pool_telemetry.save(account_key, shard, head, packed, then.packed)
        cached = latest_of({**known.blocks, **packed}, _CACHED_BLOCKS)
        return Shard(replace(head, etag=etag), then.tails, cached)

    async def _blocks(
        self, account_key: str, shard: int, known: Shard, wanted: Collection[BlockKey]
    ) -> dict[BlockKey, Parts]:
        """Returns blocks as stored, without those that don't exist."""
        found = {key: known.blocks[key] for key in wanted if key in known.blocks}
        if known.head.etag is None:
            return found
        numbers = sorted({number for _, number in set(wanted) - found.keys()})
        while numbers:
            some = [number for number in numbers if number < numbers[0] + BLOCKS_TOGETHER]
            stored = await self._stores.pool_telemetry.load_blocks(account_key, shard, some[0], some[-1])
            found |= {key: parts for key, parts in stored.items() if key in wanted and key not in found}
            del numbers[: len(some)]
        return found


def _number_of(waiting: Waiting) -> int:
    return sum(len(step.values) for steps in waiting.values() for step in steps)


def _hour(moment: datetime) -> int:
    return minute_of(moment) // MINUTES_AN_HOUR
