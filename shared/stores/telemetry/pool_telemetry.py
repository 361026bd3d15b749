"""The table `pooltelemetry`: values of nodes by pool, one partition per account and shard of blobs.

`!` is a shard's head: how far each blob is projected, and when each node was last heard of. `b<pool>~<block>~<part>` is
a part of a block (shared/domain/telemetry/pools/blocks.py), with two columns per name of metric. Every transaction
writes the head under its ETag, so a shard has one writer at a time, and its blocks need no ETags of their own.
"""

from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import msgspec

from shared.domain.core.keys import SEPARATOR, partition_of
from shared.domain.telemetry.pools.block_changes import BlockKey, Parts
from shared.domain.telemetry.pools.blocks import PackedPart, part_of
from shared.stores.tables.tables import (
    Row,
    Tables,
    bytes_columns,
    bytes_of,
    delete_rows,
    json_columns,
    json_of,
    load_row,
    rows_between,
)
from shared.stores.tables.unit_writes import Operation, write_at_once, written

TABLE = "pooltelemetry"
_HEAD = "!"
_MINUTES, _TOTALS = "___m", "___t"
_DOT = "__"  # in place of a dot in the name of a metric
_SOURCES = "sources"
_AFTER = "~~"
_MAX_BLOCKS, _MAX_BYTES = 20, 2_200_000  # of a transaction: four rows each, and base64 adds a third
_MAX_PROPERTIES = 12  # of 64 KiB, of a column
_ROWS_AT_ONCE = 100


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
    seen: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    etag: str | None = None

    def offset_of(self, incarnation: str) -> int:
        """Returns how far a blob is projected, 0 for an unknown one."""
        known = self.blobs.get(incarnation)
        return known.offset if known else 0


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

    async def load_blocks(self, account_key: str, shard: int, pool_key: str, first: int, last: int) -> dict[int, Parts]:
        """Returns a pool's stored blocks, both ends included, by number."""
        begin, end = _key(pool_key, first), _key(pool_key, last + 1)
        found: dict[int, dict[int, PackedPart]] = {}
        async for row in rows_between(self._table, _partition(account_key, shard), begin, end, at_once=_ROWS_AT_ONCE):
            number, part = _place_of(row)
            found.setdefault(number, {})[part] = _part_of_row(row)
        return dict(found)

    async def save(self, account_key: str, shard: int, head: ShardHead, blocks: Mapping[BlockKey, Parts]) -> str:
        """Overwrites blocks, and the head last; returns the head's new ETag.

        Only the last of several transactions has the new states of blobs. Raises CacheConflictError if the stored head
        has another ETag, StorageError.
        """
        partition, etag = _partition(account_key, shard), head.etag
        groups = list(_groups(blocks))
        before = await self.load_head(account_key, shard) if len(groups) > 1 else head
        for number, group in enumerate(groups, 1):
            is_last = number == len(groups)
            row = _head_row(partition, head if is_last else before)
            etags = await write_at_once(self._table, [*_rows(partition, group), written(row, etag)])
            etag = etags[_HEAD]
        return etag or ""

    async def lines(
        self, account_key: str, shard: int, pool_key: str, name: str, blocks: tuple[int, int], *, minutes: bool
    ) -> AsyncIterator[tuple[int, bytes, bytes]]:
        """Yields number, packed sources and packed lines of `blocks`, both included, that have a metric's name.

        The lines are those of `minutes`, or of whole blocks.
        """
        partition, column = _partition(account_key, shard), _column(name) + (_MINUTES if minutes else _TOTALS)
        parts = [f"{each}{at}" for each in (_SOURCES, column) for at in range(_MAX_PROPERTIES)]
        wanted = part_of(name)
        rows = rows_between(
            self._table, partition, _key(pool_key, blocks[0]), _key(pool_key, blocks[1] + 1), ["RowKey", *parts]
        )
        async for row in rows:
            number, part = _place_of(row)
            if part == wanted and (packed := bytes_of(row, column)):
                yield number, bytes_of(row, _SOURCES), packed

    async def delete_before(self, account_key: str, shard: int, pools: Collection[str], block: int) -> int:
        """Deletes the blocks of pools before one; returns the number of rows."""
        partition, rows = _partition(account_key, shard), 0
        for pool in pools:
            found = rows_between(self._table, partition, _key(pool, 0), _key(pool, block), ["RowKey"])
            keys = [row["RowKey"] async for row in found]
            await delete_rows(self._table, partition, keys)
            rows += len(keys)
        return rows


def _head_row(partition: str, head: ShardHead) -> Row:
    blobs = {incarnation: [one.offset, one.minute] for incarnation, one in head.blobs.items()}
    return {
        "PartitionKey": partition,
        "RowKey": _HEAD,
        **json_columns("blobs", blobs),
        **json_columns("seen", head.seen),
    }


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
            row: Row = {"PartitionKey": partition, "RowKey": f"{_key(pool, number)}{SEPARATOR}{at}"}
            row |= bytes_columns(_SOURCES, part.sources)
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
    return PackedPart(bytes_of(row, _SOURCES), found[_MINUTES], found[_TOTALS])


def _partition(account_key: str, shard: int) -> str:
    return partition_of(account_key, f"{shard:02x}")


def _key(pool_key: str, block: int) -> str:
    """Returns the beginning of the keys of a pool's block."""
    return f"b{pool_key}{SEPARATOR}{block:07x}"


def _place_of(row: Row) -> tuple[int, int]:
    """Returns the number of a row's block, and that of the part."""
    _, number, part = row["RowKey"].rsplit(SEPARATOR, 2)
    return int(number, 16), int(part)


def _column(name: str) -> str:
    return name.replace(".", _DOT)
