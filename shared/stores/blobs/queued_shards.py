"""Shards of blobs in the queue: rows of the table `blobs`, in a partition of their own beside each ingest partition."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import msgspec

from shared.domain.blobs.queued_shards import QueuedShard, UnreadBlob
from shared.domain.core.keys import partition_of
from shared.errors import CacheConflictError
from shared.stores.tables.rows import Row, json_columns, json_of, write_units, written
from shared.stores.tables.tables import Tables, delete_row, load_row, load_rows, save_row

_SHARDS = "shards"


class QueuedShardStore:
    def __init__(self, tables: Tables) -> None:
        self._table = tables["blobs"]

    async def load_all(self, ingest_partition: str) -> Mapping[int, QueuedShard]:
        rows = await load_rows(self._table, _partition(ingest_partition))
        return {shard.number: shard for shard in map(_shard, rows)}

    async def load(self, ingest_partition: str, number: int) -> QueuedShard | None:
        row = await load_row(self._table, _partition(ingest_partition), _key(number))
        return _shard(row) if row else None

    async def save(self, ingest_partition: str, shard: QueuedShard) -> QueuedShard:
        """Writes a shard under its ETag, or a new one. Raises CacheConflictError."""
        etag = await save_row(self._table, _row(ingest_partition, shard), shard.row_etag)
        return replace(shard, row_etag=etag)

    async def save_all(self, ingest_partition: str, shards: Sequence[QueuedShard]) -> list[QueuedShard]:
        """Writes shards under their ETags; returns those that no other host has written meanwhile."""
        units = [[written(_row(ingest_partition, shard), shard.row_etag)] for shard in shards]
        done = await write_units(self._table, units)
        pairs = zip(shards, done, strict=True)
        return [shard for shard, end in pairs if not isinstance(end, CacheConflictError)]

    async def delete(self, ingest_partition: str, shard: QueuedShard) -> None:
        """Deletes a shard under its ETag. Raises CacheConflictError."""
        await delete_row(self._table, _partition(ingest_partition), _key(shard.number), shard.row_etag or "")


def _partition(ingest_partition: str) -> str:
    return partition_of(ingest_partition, _SHARDS)


def _key(number: int) -> str:
    return f"{number:02x}"


def _row(ingest_partition: str, shard: QueuedShard) -> Row:
    return {
        "PartitionKey": _partition(ingest_partition),
        "RowKey": _key(shard.number),
        "until": shard.until,
        "isRead": shard.is_read,
        **json_columns("unread", msgspec.to_builtins(shard.blobs)),
        **json_columns("problems", dict(shard.problems)),
    }


def _shard(row: Row) -> QueuedShard:
    return QueuedShard(
        int(row["RowKey"], 16),
        row["until"],
        msgspec.convert(json_of(row, "unread") or [], list[UnreadBlob]),
        row["isRead"],
        json_of(row, "problems") or {},
        row["etag"],
    )
