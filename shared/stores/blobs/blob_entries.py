"""The table `blobs`: a row for each blob ever opened, so that unchanged blobs needn't be opened again.

Each lane, such as an account, has a partition; lanes of a kind of blobs are read side by side. A lane's row `!` holds
the result of its last sweep.
"""

from collections.abc import Sequence
from dataclasses import replace

from azure.data.tables import UpdateMode

from shared.domain.blobs.blobs import Entry, name_key
from shared.domain.blobs.sweeps import LaneSweep
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

    async def load_all(self, lane: str) -> dict[str, Entry]:
        """Returns the entries of a lane by blob name."""
        rows = await load_rows(self._table, lane)
        return {row["name"]: _entry(row) for row in rows if row["RowKey"] != _SWEEP}

    async def load(self, lane: str, name: str) -> Entry | None:
        row = await load_row(self._table, lane, name_key(name))
        return _entry(row) if row else None

    async def save(self, lane: str, entry: Entry) -> Entry:
        """Writes an entry under its ETag, or a new one. Raises CacheConflictError."""
        row: Row = {
            "PartitionKey": lane,
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

    async def delete(self, lane: str, names: Sequence[str]) -> None:
        """Deletes the entries of blobs. Raises StorageError if another process deletes them too."""
        await delete_rows(self._table, lane, [name_key(name) for name in names])

    async def load_sweep(self, lane: str) -> LaneSweep | None:
        row = await load_row(self._table, lane, _SWEEP)
        return _sweep(row) if row else None

    async def save_sweep(self, lane: str, sweep: LaneSweep) -> None:
        """Writes the result of a sweep over the previous one, without an ETag, as any later result is valid."""
        row: Row = {
            "PartitionKey": lane,
            "RowKey": _SWEEP,
            "at": sweep.at,
            "blobs": sweep.blobs,
            "behindBlobs": sweep.behind_blobs,
            "behindBytes": whole(sweep.behind_bytes),
            "behindSince": sweep.behind_since,
            "asleep": sweep.asleep,
            "latest": sweep.latest,
            **json_columns("problems", list(sweep.problems)),
        }
        with translated("note how a sweep went"):
            told = {name: value for name, value in row.items() if value is not None}
            await self._table.upsert_entity(told, mode=UpdateMode.REPLACE)


def _entry(row: Row) -> Entry:
    read = row.get("read", 0)  # older rows have none
    return Entry(
        row["name"],
        row["created"],
        row["modified"],
        row["number"],
        row["readAs"],
        row["etag"],
        read,
        row.get("uploaded"),
        row.get("readAt"),
    )


def _sweep(row: Row) -> LaneSweep:
    return LaneSweep(
        at=row["at"],
        blobs=row["blobs"],
        behind_blobs=row["behindBlobs"],
        behind_bytes=row["behindBytes"],
        behind_since=row.get("behindSince"),
        problems=tuple(json_of(row, "problems") or ()),
        asleep=row.get("asleep", 0),
        latest=row.get("latest"),
    )
