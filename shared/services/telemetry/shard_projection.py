"""What of a shard of blobs is to be written, from the steps that wait and what is stored."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from shared.domain.blobs.blobs import BlobRows, digest
from shared.domain.core.stamps import to_milliseconds
from shared.domain.telemetry.pools.block_changes import BlockKey, Parts, changes_of
from shared.domain.telemetry.pools.blocks import BlockChange
from shared.domain.telemetry.pools.node_minutes import BlobMinutes, BlobTail, Minutes, StepMinutes
from shared.domain.telemetry.pools.packed_tails import packed_tails
from shared.stores.telemetry.pool_telemetry import Projected, ShardHead

_KEPT = timedelta(hours=2)  # how long the head of a shard knows a blob
_ALWAYS_KEPT = 200  # blobs that it knows as long as their minutes are kept, the latest ones
_WRITTEN = timedelta(minutes=10)  # how long the minutes of a blob's tail are kept
_LONGER = timedelta(days=1)  # than blocks, so that the head leads to those that expire
_UNKNOWN_POOL = ""
_BLOB_DIGITS = 8  # of an incarnation's digest: those of a node's blobs differ
BLOCKS_TOGETHER = 50
"""Numbers of blocks that are read in one request, and are in memory at the same time."""


@dataclass(slots=True)
class Shard:
    """A shard's head, the tails of its blobs and the latest blocks, as this host read or wrote them.

    `packed` are tails that are to be written.
    """

    head: ShardHead
    tails: Mapping[str, BlobTail]
    blocks: Mapping[BlockKey, Parts] = field(default_factory=dict)
    packed: bytes = b""

    @property
    def size(self) -> int:
        return sum(part.size for parts in self.blocks.values() for part in parts.values())


type Waiting = dict[BlobRows, list[StepMinutes]]
"""Steps of blobs, in order."""
type Changes = dict[BlockKey, list[BlockChange]]


def completed(shard: Shard, waiting: Waiting) -> tuple[dict[BlobRows, BlobTail], dict[BlobRows, BlobMinutes]]:
    """Returns the minutes of blobs that the shard lacks, and their tails behind them."""
    behind = {blob: steps for blob, steps in waiting.items() if _is_behind(shard.head, blob.incarnation, steps)}
    tails = {blob: replace(shard.tails.get(blob.incarnation, BlobTail())) for blob in behind}
    return tails, {blob: tails[blob].completed(steps) for blob, steps in behind.items()}


def blob_changes(minutes: Mapping[BlobRows, BlobMinutes], values: Iterable[Minutes]) -> Changes:
    """Returns the changes by the values of blobs, in the order of `minutes`."""
    changes: Changes = defaultdict(list)
    for blob, some in zip(minutes, values, strict=True):
        pools = {_UNKNOWN_POOL} if minutes[blob].is_renamed else ()
        for key, change in changes_of(digest(blob.incarnation.encode())[:_BLOB_DIGITS], some, pools):
            changes[key].append(change)
    return changes


def portions(changes: Changes) -> list[Changes]:
    """Returns changes in the order of blocks, those of some blocks together; at least one portion, maybe empty."""
    found: dict[int, Changes] = {0: {}}
    for at, number in enumerate(sorted({number for _, number in changes})):
        found.setdefault(at // BLOCKS_TOGETHER, {}).update(
            {key: some for key, some in changes.items() if key[1] == number}
        )
    return list(found.values())


def following(
    known: Shard,
    tails: Mapping[str, BlobTail],
    projected: Iterable[tuple[BlobMinutes, Minutes]],
    now: datetime,
    retention: timedelta,
) -> Shard:
    """Returns a shard with further tails of blobs, and without what its head need not have any more."""
    named = {name: Projected(tail.end, minute_of(now)) for name, tail in tails.items()}
    kept, expired = minute_of(now - _KEPT), minute_of(now - retention - _LONGER)
    blobs = _since({**known.head.blobs, **named}, kept, expired)
    seen = _recent(_seen_in(known.head.seen, projected, minute_of(now)), expired)
    written = minute_of(now - _WRITTEN)
    latest = {
        name: tail if blobs[name].minute >= written else tail.without_minutes()
        for name, tail in {**known.tails, **tails}.items()
        if name in blobs
    }
    return Shard(ShardHead(blobs, seen), latest, packed=packed_tails(latest, written))


def _is_behind(head: ShardHead, incarnation: str, steps: Sequence[StepMinutes]) -> bool:
    return head.offset_of(incarnation) < steps[-1].end or any(step.is_renamed for step in steps)


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


def _since(blobs: Mapping[str, Projected], minute: int, expired: int) -> dict[str, Projected]:
    """Returns blobs projected since a minute, and the latest ones unless they are `expired`."""
    latest = sorted(blobs.items(), key=lambda one: one[1].minute, reverse=True)
    return {
        name: one for at, (name, one) in enumerate(latest) if one.minute >= (expired if at < _ALWAYS_KEPT else minute)
    }


def _recent(seen: Mapping[str, Mapping[str, int]], minute: int) -> dict[str, dict[str, int]]:
    """Returns nodes with data since a minute, by pool."""
    kept = {pool: {node: last for node, last in nodes.items() if last >= minute} for pool, nodes in seen.items()}
    return {pool: nodes for pool, nodes in kept.items() if nodes}


def minute_of(moment: datetime) -> int:
    return to_milliseconds(moment) // 60_000
