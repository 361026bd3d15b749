"""The table `blobs`: a row for each blob ever opened, so that unchanged blobs needn't be opened again.

Each ingest partition, such as an account, has a partition; ingest partitions of a kind of blobs are read side by side.
An ingest partition's row `!` holds the result of its last sweep.
"""

from collections.abc import Sequence
from dataclasses import replace

from azure.data.tables import UpdateMode

from shared.domain.blobs.blobs import Entry, name_key
from shared.domain.blobs.sweeps import PartitionSweep
from shared.stores.tables.tables import (
    Row,
    Tables,
    delete_rows,
    json_columns,
    json_of,
    load_row,
    load_rows,
    save_row,
    translated,
    whole,
)

_SWEEP = "!"


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

    async def save(self, ingest_partition: str, entry: Entry) -> Entry:
        """Writes an entry under its ETag, or a new one. Raises CacheConflictError."""
        row: Row = {
            "PartitionKey": ingest_partition,
            "RowKey": name_key(entry.name),
            "name": entry.name,
            "created": entry.created,
            "modified": entry.modified,
            "number": entry.number,
            "readAs": entry.etag,
            "read": whole(entry.read),
        }
        row |= {name: at for name, at in (("uploaded", entry.uploaded), ("readAt", entry.read_at)) if at}
        return replace(entry, row_etag=await save_row(self._table, row, entry.row_etag))

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
            "at": sweep.at,
            "blobs": sweep.blobs,
            "behindBlobs": sweep.behind_blobs,
            "behindBytes": whole(sweep.behind_bytes),
            "behindSince": sweep.behind_since,
            "asleep": sweep.up_to_date,
            "latest": sweep.latest,
            **json_columns("problems", list(sweep.problems)),
        }
        with translated("note how a sweep went"):
            columns = {name: value for name, value in row.items() if value is not None}
            await self._table.upsert_entity(columns, mode=UpdateMode.REPLACE)


def _entry(row: Row) -> Entry:
    return Entry(
        row["name"],
        row["created"],
        row["modified"],
        row["number"],
        row["readAs"],
        row["etag"],
        row["read"],
        row.get("uploaded"),
        row.get("readAt"),
    )


def _sweep(row: Row) -> PartitionSweep:
    return PartitionSweep(
        at=row["at"],
        blobs=row["blobs"],
        behind_blobs=row["behindBlobs"],
        behind_bytes=row["behindBytes"],
        behind_since=row.get("behindSince"),
        problems=tuple(json_of(row, "problems") or ()),
        up_to_date=row["asleep"],
        latest=row.get("latest"),
    )
