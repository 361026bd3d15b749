"""The table `pooltelemetry`: values of nodes by pool, one partition per account and shard of blobs.

`!` is a shard's head: how far each blob is projected, and when each node was last heard of. `t` has the last minutes of
its blobs, for the host that goes on. `b<block>~<pool>~<part>` is a part of a block
(shared/domain/telemetry/pools/blocks.py), with two columns per name of metric and a list of the metrics. Every
transaction writes the head under its ETag, so a shard has one writer at a time, and its blocks need no ETags of their
own.
"""

from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec

from shared.domain.core.keys import SEPARATOR, partition_of
from shared.domain.telemetry.pools.block_changes import BlockKey, Parts
from shared.domain.telemetry.pools.blocks import MAX_PART, PackedPart
from shared.domain.telemetry.pools.node_minutes import BlobTail
from shared.domain.telemetry.pools.packed_tails import unpacked_tails
from shared.stores.tables.rows import (
    MAX_BINARY,
    Operation,
    Row,
    bytes_columns,
    bytes_of,
    json_columns,
    json_of,
    write_at_once,
    written,
)
from shared.stores.tables.tables import Tables, delete_rows, load_row, rows_between, rows_where

TABLE = "pooltelemetry"
_HEAD, _TAILS = "!", "t"
_MINUTES, _TOTALS = "___m", "___t"
_DOT = "__"  # in place of a dot in the name of a metric
_SOURCES, _METRICS = "sources", "metrics"
_AFTER = "~~"
_LAST = "c"  # behind the keys of all blocks
_MAX_BLOCKS, _MAX_BYTES = 20, 1_900_000  # of a transaction: four rows each, and base64 adds a third
_MAX_PROPERTIES, _MAX_SELECTED = -(-MAX_PART // MAX_BINARY), 8  # of a column, and names
_ROWS_AT_ONCE = 100
_SEEN = [f"seen{at}" for at in range((1 << 20) // MAX_BINARY)]  # a row holds a MiB
type LastSeen = Mapping[str, Mapping[str, int]]
"""The last minute with data of nodes, by the keys of pool and node; the key of an unknown pool is empty."""


class Projected(msgspec.Struct, frozen=True, array_like=True):
    """How far a blob is projected: the offset, and the minute since 1970 of the projection."""

    offset: int
    minute: int


@dataclass(frozen=True, slots=True)
class ShardHead:
    """A shard's head: the state of blobs by incarnation, and the last minute with data of nodes, by pool and node.

    Keys of pools and nodes are those of their ids; the key of an unknown pool is empty. `etag` is None before the first
    write.
    """

    blobs: Mapping[str, Projected] = field(default_factory=dict)
    seen: LastSeen = field(default_factory=dict)
    etag: str | None = None

    def offset_of(self, incarnation: str) -> int:
        """Returns how far a blob is projected, 0 for an unknown one."""
        known = self.blobs.get(incarnation)
        return known.offset if known else 0


@dataclass(frozen=True, slots=True)
class BlockQuery:
    """Names of metrics in blocks from `first` to `last`, both included, of a pool and of unknown pools, or of all.

    `minutes`: their minutes, instead of the totals of blocks.
    """

    names: Sequence[str]
    first: int
    last: int
    minutes: bool
    pool: str | None = None


class BlockColumn(NamedTuple):
    """A column of a block: the key of its pool, its number, the name of its metrics, packed sources and lines."""

    pool: str
    number: int
    name: str
    sources: bytes
    lines: bytes


class ListedMetrics(NamedTuple):
    """The packed metrics of a part of a block: the key of its pool, and packed sources if they were asked for."""

    pool: str
    sources: bytes
    metrics: bytes


class PoolTelemetryStore:
    def __init__(self, tables: Tables) -> None:
        self._table = tables[TABLE]

    async def load_head(self, account_key: str, shard: int) -> ShardHead:
        """Raises StorageError."""
        row = await load_row(self._table, _partition(account_key, shard), _HEAD)
        if row is None:
            return ShardHead()
        blobs = msgspec.convert(json_of(row, "blobs"), dict[str, Projected])
        return ShardHead(blobs, json_of(row, "seen"), row["etag"])

    async def load_seen(self, account_key: str, shard: int, pools: Collection[str]) -> LastSeen:
        """Returns when nodes of some pools had data, without the state of blobs: a shard may have thousands.

        Raises StorageError.
        """
        row = await load_row(self._table, _partition(account_key, shard), _HEAD, select=_SEEN)
        seen: LastSeen = json_of(row, "seen") if row else {}
        return {pool: nodes for pool, nodes in seen.items() if pool in pools}

    async def load_tails(self, account_key: str, shard: int) -> dict[str, BlobTail]:
        """Returns the tails of blobs by incarnation, as of the head."""
        row = await load_row(self._table, _partition(account_key, shard), _TAILS)
        return unpacked_tails(bytes_of(row, "tails")) if row else {}

    async def load_blocks(self, account_key: str, shard: int, first: int, last: int) -> dict[BlockKey, Parts]:
        """Returns the stored blocks of all pools, both ends included."""
        found: dict[BlockKey, dict[int, PackedPart]] = {}
        begin, end = _key(first), _key(last + 1)
        async for row in rows_between(self._table, _partition(account_key, shard), begin, end, at_once=_ROWS_AT_ONCE):
            number, pool, part = _place_of(row)
            found.setdefault((pool, number), {})[part] = _part_of_row(row)
        return dict(found)

    async def save(
        self, account_key: str, shard: int, head: ShardHead, blocks: Mapping[BlockKey, Parts], tails: bytes = b""
    ) -> str:
        """Overwrites blocks, and last the head and the packed `tails`, if any; returns the head's new ETag.

        Only the last of several transactions has the new states of blobs. Raises CacheConflictError if the stored head
        has another ETag, StorageError.
        """
        partition, etag = _partition(account_key, shard), head.etag
        groups = list(_groups(blocks))
        before = await self.load_head(account_key, shard) if len(groups) > 1 else head
        for number, group in enumerate(groups, 1):
            is_last = number == len(groups)
            row = _head_row(partition, head if is_last else before)
            others = [*_rows(partition, group), *([_tails_row(partition, tails)] if is_last and tails else [])]
            etags = await write_at_once(self._table, [*others, written(row, etag)])
            etag = etags[_HEAD]
        return etag or ""

    async def columns(self, account_key: str, shard: int, wanted: BlockQuery) -> AsyncIterator[BlockColumn]:
        """Yields the columns of metrics in blocks, in the order of blocks."""
        suffix = _MINUTES if wanted.minutes else _TOTALS
        parameters = {
            "partition": _partition(account_key, shard),
            "first": _key(wanted.first),
            "last": _key(wanted.last + 1),
        }
        text = "PartitionKey eq @partition and RowKey ge @first and RowKey lt @last"
        if wanted.pool is not None:
            text, parameters = f"{text} and (pool eq @pool or pool eq '')", {**parameters, "pool": wanted.pool}
        at_once = _ROWS_AT_ONCE if wanted.minutes else None
        rows = rows_where(self._table, text, parameters, _selected(wanted.names, suffix), at_once=at_once)
        async for row in rows:
            number, pool, _ = _place_of(row)
            for name in wanted.names:
                if packed := bytes_of(row, _column(name) + suffix):
                    yield BlockColumn(pool, number, name, bytes_of(row, _SOURCES), packed)

    async def metrics(
        self, account_key: str, shard: int, pool: str, first: int, *, with_sources: bool
    ) -> AsyncIterator[ListedMetrics]:
        """Yields the metrics of a pool and of unknown pools in blocks from `first` on."""
        text = "PartitionKey eq @partition and RowKey ge @first and RowKey lt @last and (pool eq @pool or pool eq '')"
        parameters = {
            "partition": _partition(account_key, shard), "first": _key(first), "last": _LAST, "pool": pool,
        }  # fmt: skip
        columns = (_METRICS, _SOURCES) if with_sources else (_METRICS,)
        selected = ["RowKey", *(f"{column}{at}" for column in columns for at in range(_MAX_PROPERTIES))]
        async for row in rows_where(self._table, text, parameters, selected):
            yield ListedMetrics(_place_of(row)[1], bytes_of(row, _SOURCES), bytes_of(row, _METRICS))

    async def delete_before(self, account_key: str, shard: int, block: int) -> int:
        """Deletes the blocks before one; returns the number of rows."""
        partition = _partition(account_key, shard)
        keys = [row["RowKey"] async for row in rows_between(self._table, partition, _key(0), _key(block), ["RowKey"])]
        await delete_rows(self._table, partition, keys)
        return len(keys)


def _head_row(partition: str, head: ShardHead) -> Row:
    blobs = {incarnation: [one.offset, one.minute] for incarnation, one in head.blobs.items()}
    return {
        "PartitionKey": partition,
        "RowKey": _HEAD,
        **json_columns("blobs", blobs),
        **json_columns("seen", head.seen),
    }


def _tails_row(partition: str, packed: bytes) -> Operation:
    row: Row = {"PartitionKey": partition, "RowKey": _TAILS, **bytes_columns("tails", packed)}
    return ("upsert", row, {"mode": "replace"})


def _groups(blocks: Mapping[BlockKey, Parts]) -> Iterator[list[tuple[BlockKey, Parts]]]:
    """Yields as many blocks together as fit into a transaction; an empty group without blocks."""
    group: list[tuple[BlockKey, Parts]] = []
    size = 0
    for key, parts in sorted(blocks.items()):
        more = sum(part.size for part in parts.values())
        if group and (len(group) >= _MAX_BLOCKS or size + more > _MAX_BYTES):
            yield group
            group, size = [], 0
        group.append((key, parts))
        size += more
    yield group


def _rows(partition: str, blocks: Iterable[tuple[BlockKey, Parts]]) -> Iterator[Operation]:
    """Yields operations that overwrite parts of blocks, also those that are empty now."""
    for (pool, number), parts in blocks:
        for at, part in parts.items():
            row: Row = {"PartitionKey": partition, "RowKey": f"{_key(number)}{pool}{SEPARATOR}{at}", "pool": pool}
            row |= bytes_columns(_SOURCES, part.sources) | bytes_columns(_METRICS, part.metrics)
            for suffix, columns in ((_MINUTES, part.minutes), (_TOTALS, part.totals)):
                for name, packed in columns.items():
                    row |= bytes_columns(_column(name) + suffix, packed)
            yield ("upsert", row, {"mode": "replace"})


def _part_of_row(row: Row) -> PackedPart:
    """Returns a row's columns by the names of metrics."""
    found: dict[str, dict[str, bytes]] = {_MINUTES: {}, _TOTALS: {}}
    for property_name in row:
        for suffix, columns in found.items():
            if property_name.endswith(f"{suffix}0"):
                column = property_name.removesuffix("0")
                columns[column.removesuffix(suffix).replace(_DOT, ".")] = bytes_of(row, column)
    return PackedPart(bytes_of(row, _SOURCES), found[_MINUTES], found[_TOTALS], bytes_of(row, _METRICS))


def _partition(account_key: str, shard: int) -> str:
    return partition_of(account_key, f"{shard:02x}")


def _key(block: int) -> str:
    """Returns the beginning of the keys of a block."""
    return f"b{block:07x}{SEPARATOR}"


def _place_of(row: Row) -> tuple[int, str, int]:
    """Returns the number of a row's block, the key of its pool, and the number of the part."""
    number, pool, part = row["RowKey"][1:].split(SEPARATOR)
    return int(number, 16), pool, int(part)


def _selected(names: Sequence[str], suffix: str) -> list[str] | None:
    """Returns the columns to request; None for all if there are many, as URLs have a maximum length."""
    if len(names) > _MAX_SELECTED:
        return None
    columns = (_SOURCES, *(_column(name) + suffix for name in names))
    return ["RowKey", *(f"{column}{at}" for column in columns for at in range(_MAX_PROPERTIES))]


def _column(name: str) -> str:
    return name.replace(".", _DOT)
