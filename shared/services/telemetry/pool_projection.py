"""Projects the minutes of blobs' steps to the rows of pools, a shard of blobs at a time.

A step is stored first, in the partition of its blob, and its minutes wait here until `write`. If a host dies in
between, the shard's rows are behind the blob: the next projection of the blob finds the gap and reads the minutes from
the blob's own rows. Minutes are always overwritten as a whole, so the same rows result from any order, repetition
or crash.
"""

import asyncio
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from shared.clock import Clock
from shared.domain.blobs.blobs import BlobRows, digest, shard_of, telemetry_ingest_partition
from shared.domain.core.stamps import to_milliseconds
from shared.domain.telemetry.pools.block_changes import BlockKey, Parts, changed, changes_of, latest_of
from shared.domain.telemetry.pools.blocks import BlockChange
from shared.domain.telemetry.pools.node_minutes import BlobMinutes, BlobTail, Minutes, StepMinutes
from shared.domain.telemetry.pools.packed_tails import packed_tails
from shared.errors import BatchscopeError, CacheConflictError
from shared.services.blobs.ingestion_stores import IngestionStores
from shared.services.telemetry.node_sessions import some_at_once
from shared.services.telemetry.stored_minutes import stored_minutes
from shared.stores.telemetry.pool_telemetry import Projected, ShardHead

_TRIES = 5
_SHARDS_AT_ONCE, _BLOBS_AT_ONCE = 8, 4
_LOOKBACK = timedelta(hours=1)
"""How far back the minutes of a blob are read where the head of its shard lacks some; and how far a clock is ahead."""
_KEPT = timedelta(hours=2)  # how long the head of a shard knows a blob
_CHECKED = timedelta(minutes=30)
_WRITTEN = timedelta(minutes=10)  # how long the minutes of a blob's tail are kept
_LONGER = timedelta(days=1)  # than blocks, so that the head leads to those that expire
_BLOCKS_TOGETHER = 50  # read in one request
_CACHED_BLOCKS, _MAX_CACHED = 2, 32 << 20  # of a pool, and bytes of all
_MAX_WAITING = 40_000  # minutes of nodes: a KB each
_UNKNOWN_POOL = ""
_BLOB_DIGITS = 8  # of an incarnation's digest: those of a node's blobs differ


@dataclass(slots=True)
class _Shard:
    """A shard's head, the tails of its blobs and the latest blocks, as this host read or wrote them."""

    head: ShardHead
    tails: Mapping[str, BlobTail]
    blocks: Mapping[BlockKey, Parts] = field(default_factory=dict)

    @property
    def size(self) -> int:
        return sum(part.size for parts in self.blocks.values() for part in parts.values())


type _Waiting = dict[BlobRows, list[StepMinutes]]
"""Steps of blobs, in order."""


class PoolProjection:
    """The projection of all accounts' blobs; `retention` is that of the rows of pools."""

    def __init__(self, stores: IngestionStores, clock: Clock, retention: timedelta) -> None:
        self._stores = stores
        self._clock = clock
        self._retention = retention
        self._waiting: dict[str, dict[int, _Waiting]] = {}
        self._number_waiting = 0
        self._shards: dict[tuple[str, int], _Shard] = {}
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

    def _waiting_of(self, account_key: str, shard: int) -> _Waiting:
        return self._waiting.setdefault(account_key, {}).setdefault(shard, {})

    def _wait_on(self, account_key: str, shard: int, waiting: _Waiting) -> None:
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

    async def _project(self, account_key: str, shard: int, waiting: _Waiting) -> None:
        for _ in range(_TRIES - 1):
            try:
                await self._write(account_key, shard, waiting)
            except CacheConflictError:  # another host projected blobs of the shard
                continue
            return
        await self._write(account_key, shard, waiting)

    async def _write(self, account_key: str, shard: int, waiting: _Waiting) -> None:
        now = await self._clock.now()
        cached = self._shards.pop((account_key, shard), None)
        known = cached or await self._opened(account_key, shard)
        tails, minutes = _completed(known, waiting)
        if cached and any(one.is_gap for one in minutes.values()):  # another host may have gone on
            known = await self._opened(account_key, shard)
            tails, minutes = _completed(known, waiting)
        values = await some_at_once(
            lambda blob: self._values(blob, minutes[blob], tails[blob], now), minutes, _BLOBS_AT_ONCE
        )
        changes: dict[BlockKey, list[BlockChange]] = defaultdict(list)
        for blob, some in zip(minutes, values, strict=True):
            pools = {_UNKNOWN_POOL} if minutes[blob].is_renamed else ()
            for key, change in changes_of(digest(blob.incarnation.encode())[:_BLOB_DIGITS], some, pools):
                changes[key].append(change)
        if minutes:
            blocks = await self._blocks(account_key, shard, known, changes)
            packed = await asyncio.to_thread(changed, blocks, changes)
            named = {blob.incarnation: tail for blob, tail in tails.items()}
            projected = {name: Projected(tail.end, _minute(now)) for name, tail in named.items()}
            blobs = _since({**known.head.blobs, **projected}, _minute(now - _KEPT))
            last = _seen_in(known.head.seen, zip(minutes.values(), values, strict=True), _minute(now))
            seen = _recent(last, _minute(now - self._retention - _LONGER))
            written = _minute(now - _WRITTEN)
            latest = {
                name: tail if blobs[name].minute >= written else tail.without_minutes()
                for name, tail in {**known.tails, **named}.items()
                if name in blobs
            }
            kept = await asyncio.to_thread(packed_tails, latest, written)
            head = ShardHead(blobs, seen, known.head.etag)
            etag = await self._stores.pool_telemetry.save(account_key, shard, head, packed, kept)
            known = _Shard(replace(head, etag=etag), latest, latest_of({**known.blocks, **packed}, _CACHED_BLOCKS))
        if sum(one.size for one in self._shards.values()) > _MAX_CACHED:
            self._shards.clear()
        self._shards[account_key, shard] = known

    async def _opened(self, account_key: str, shard: int) -> _Shard:
        """Returns a shard as stored; if its tails are newer than the head, the head can't be written."""
        store = self._stores.pool_telemetry
        head = await store.load_head(account_key, shard)
        return _Shard(head, await store.load_tails(account_key, shard) if head.etag else {})

    async def _values(self, blob: BlobRows, minutes: BlobMinutes, tail: BlobTail, now: datetime) -> Minutes:
        """Returns the minutes to project, with those from the blob's own rows that aren't known here."""
        since = 0 if minutes.is_renamed else _minute(now - _LOOKBACK) if minutes.is_gap else None
        if not minutes.unread and since is None:
            return minutes.values
        until = _minute(now + _LOOKBACK)
        stored, newest = await stored_minutes(self._stores.telemetry, blob, minutes.unread, since, until)
        tail.learn(newest)
        return {**minutes.values, **{minute: {} for minute in minutes.unread}, **stored}

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


def _completed(shard: _Shard, waiting: _Waiting) -> tuple[dict[BlobRows, BlobTail], dict[BlobRows, BlobMinutes]]:
    """Returns the minutes of blobs that the shard lacks, and their tails behind them."""
    behind = {blob: steps for blob, steps in waiting.items() if _is_behind(shard.head, blob.incarnation, steps)}
    tails = {blob: replace(shard.tails.get(blob.incarnation, BlobTail())) for blob in behind}
    return tails, {blob: tails[blob].completed(steps) for blob, steps in behind.items()}


def _is_behind(head: ShardHead, incarnation: str, steps: Sequence[StepMinutes]) -> bool:
    return head.offset_of(incarnation) < steps[-1].end or any(step.is_renamed for step in steps)


def _number_of(waiting: _Waiting) -> int:
    return sum(len(step.values) for steps in waiting.values() for step in steps)


def _seen_in(
    before: Mapping[str, Mapping[str, int]], projected: Iterable[tuple[BlobMinutes, Minutes]], now: int
) -> dict[str, dict[str, int]]:
    """Returns the last minute with data of each node, by pool.

    A minute ahead of `now` counts as now if a step has just brought it. From stored rows it only counts for a node
    without any other, as nobody remembers when it came.
    """
    seen = {pool: dict(nodes) for pool, nodes in before.items()}
    for brought, values in projected:
        for minute, nodes in values.items():
            is_dated = minute <= now or minute in brought.values
            for pool, node in nodes:
                last = seen.setdefault(pool, {})
                if is_dated or node not in last:
                    last[node] = max(last.get(node, 0), min(minute, now))
    return seen


def _since(blobs: Mapping[str, Projected], minute: int) -> dict[str, Projected]:
    return {name: one for name, one in blobs.items() if one.minute >= minute}


def _recent(seen: Mapping[str, Mapping[str, int]], minute: int) -> dict[str, dict[str, int]]:
    """Returns nodes with data since a minute, by pool."""
    kept = {pool: {node: last for node, last in nodes.items() if last >= minute} for pool, nodes in seen.items()}
    return {pool: nodes for pool, nodes in kept.items() if nodes}


def _minute(moment: datetime) -> int:
    return to_milliseconds(moment) // 60_000
