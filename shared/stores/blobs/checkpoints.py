"""How far blobs were read: an entry for each blob ever opened, and a checkpoint for each incarnation.

Entries are the table `blobs`, so that unchanged blobs needn't be opened again. Each ingest partition, such as an
account, has a partition; ingest partitions of a kind of blobs are read side by side. An ingest partition's row `!`
holds the result of its last sweep.

A checkpoint is a row in the partition of the rows that the blob contributed. One transaction advances it and writes the
rows of the bytes before it. So each byte counts once, despite crashes and concurrent readers.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from azure.data.tables import UpdateMode

from shared.domain.blobs.blobs import Checkpoint, Entry, PrefixChecksum
from shared.domain.blobs.sweeps import PartitionSweep
from shared.domain.core.keys import name_key
from shared.stores.tables.rows import (
    MAX_OPERATIONS,
    Etags,
    Operation,
    Row,
    fields_of,
    json_columns,
    json_of,
    known_columns_of,
    translated,
    write_at_once,
    written,
)
from shared.stores.tables.tables import Tables, delete_rows, load_row, load_rows, save_row

MAX_BESIDE = MAX_OPERATIONS - 1  # operations in the transaction that advances a checkpoint
_COLUMNS = {
    "offset": "offset", "anchor": "anchor", "blocks": "blocks", "skipping": "skipping", "units": "units",
    "refused": "refused", "etag": "readAs",
}  # fmt: skip
_SWEEP = "!"
_ENTRY_COLUMNS = {
    "name": "name", "created": "created", "modified": "modified", "number": "number", "etag": "readAs", "read": "read",
    "uploaded": "uploaded", "read_at": "readAt", "group": "group",
}  # fmt: skip
_SWEEP_COLUMNS = {
    "at": "at", "blobs": "blobs", "behind_blobs": "behindBlobs", "behind_bytes": "behindBytes",
    "behind_since": "behindSince", "up_to_date": "asleep", "latest": "latest",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class CheckpointKey:
    """Table, partition and row of a checkpoint."""

    table: str
    partition: str
    row: str


class CheckpointStore:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def load(self, key: CheckpointKey) -> Checkpoint:
        row = await load_row(self._tables[key.table], key.partition, key.row)
        return _checkpoint(row) if row else Checkpoint()

    async def advance(
        self, key: CheckpointKey, before: Checkpoint, after: Checkpoint, beside: Sequence[Operation]
    ) -> tuple[Checkpoint, Etags]:
        """Advances a checkpoint and writes the operations beside it in one transaction.

        Raises CacheConflictError, StorageError.
        """
        move = written(_row(key, after), before.row_etag)
        etags = await write_at_once(self._tables[key.table], [move, *beside])
        return replace(after, row_etag=etags[key.row]), etags


class BlobEntryStore:
    def __init__(self, tables: Tables) -> None:
        self._table = tables["blobs"]

    async def load_all(self, ingest_partition: str) -> dict[str, Entry]:
        """Returns the entries of an ingest partition by blob name."""
        rows = await load_rows(self._table, ingest_partition)
        return {row["name"]: _entry(row) for row in rows if row["RowKey"] != _SWEEP}

    async def load(self, ingest_partition: str, name: str) -> Entry | None:
        row = await load_row(self._table, ingest_partition, name_key(name))
        return _entry(row) if row else None

    async def load_of(self, ingest_partition: str, incarnation: str) -> Entry | None:
        """Returns the entry of an incarnation; None if its blob has another one by now, or none."""
        row = await load_row(self._table, ingest_partition, incarnation.partition("-")[0])
        entry = _entry(row) if row else None
        return entry if entry and entry.incarnation == incarnation else None

    async def save(self, ingest_partition: str, entry: Entry) -> Entry:
        """Writes an entry under its ETag, or a new one. Raises CacheConflictError."""
        key: Row = {"PartitionKey": ingest_partition, "RowKey": name_key(entry.name)}
        etag = await save_row(self._table, key | known_columns_of(entry, _ENTRY_COLUMNS), entry.row_etag)
        return replace(entry, row_etag=etag)

    async def delete(self, ingest_partition: str, names: Sequence[str]) -> None:
        """Deletes the entries of blobs. Raises StorageError if another process deletes them too."""
        await delete_rows(self._table, ingest_partition, [name_key(name) for name in names])

    async def load_sweep(self, ingest_partition: str) -> PartitionSweep | None:
        row = await load_row(self._table, ingest_partition, _SWEEP)
        return _sweep(row) if row else None

    async def save_sweep(self, ingest_partition: str, sweep: PartitionSweep) -> None:
        """Writes the result of a sweep over the previous one, without an ETag, as any later result is valid."""
        row: Row = {
            "PartitionKey": ingest_partition,
            "RowKey": _SWEEP,
            **known_columns_of(sweep, _SWEEP_COLUMNS),
            **json_columns("problems", list(sweep.problems)),
        }
        with translated("note how a sweep went"):
            await self._table.upsert_entity(row, mode=UpdateMode.REPLACE)


def _row(key: CheckpointKey, checkpoint: Checkpoint) -> Row:
    beginning = {"beginning": checkpoint.beginning.pack()} if checkpoint.beginning else {}
    return {"PartitionKey": key.partition, "RowKey": key.row, **known_columns_of(checkpoint, _COLUMNS), **beginning}


def _checkpoint(row: Row) -> Checkpoint:
    """Returns the checkpoint in a row; those of version 0.1.0 have neither `readAs` nor a beginning."""
    beginning = PrefixChecksum.unpack(row["offset"], row["beginning"]) if row.get("beginning") else None
    return Checkpoint(**fields_of(row, _COLUMNS), beginning=beginning, row_etag=row["etag"])


def _entry(row: Row) -> Entry:
    return Entry(**fields_of(row, _ENTRY_COLUMNS), row_etag=row["etag"])


def _sweep(row: Row) -> PartitionSweep:
    return PartitionSweep(**fields_of(row, _SWEEP_COLUMNS), problems=tuple(json_of(row, "problems") or ()))
