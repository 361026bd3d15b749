"""The table `blobs`: a row for each blob ever opened, so that unchanged blobs needn't be opened again.

Each ingest partition, such as an account, has a partition; ingest partitions of a kind of blobs are read side by side.
An ingest partition's row `!` holds the result of its last sweep.
"""

from collections.abc import Sequence
from dataclasses import replace

from azure.data.tables import UpdateMode

from shared.domain.blobs.blobs import Entry
from shared.domain.blobs.sweeps import PartitionSweep
from shared.domain.core.keys import name_key
from shared.stores.tables.rows import Row, fields_of, json_columns, json_of, known_columns_of, translated
from shared.stores.tables.tables import Tables, delete_rows, load_row, load_rows, save_row

_SWEEP = "!"
_ENTRY_COLUMNS = {
    "name": "name", "created": "created", "modified": "modified", "number": "number", "etag": "readAs", "read": "read",
    "uploaded": "uploaded", "read_at": "readAt", "group": "group",
}  # fmt: skip
_SWEEP_COLUMNS = {
    "at": "at", "blobs": "blobs", "behind_blobs": "behindBlobs", "behind_bytes": "behindBytes",
    "behind_since": "behindSince", "up_to_date": "asleep", "latest": "latest",
}  # fmt: skip


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


def _entry(row: Row) -> Entry:
    return Entry(**fields_of(row, _ENTRY_COLUMNS), row_etag=row["etag"])


def _sweep(row: Row) -> PartitionSweep:
    return PartitionSweep(**fields_of(row, _SWEEP_COLUMNS), problems=tuple(json_of(row, "problems") or ()))
