"""The table `blobs`: a row for each blob that was ever opened, so that one that sleeps is known without opening it.

Rows stand in a partition for each lane, which is what a kind of blobs is read side by side in, such as an account. The
row `!` of a lane tells how its last sweep went.
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
        """The entries of a lane by the names of their blobs."""
        rows = await load_rows(self._table, lane)
        return {row["name"]: _entry(row) for row in rows if row["RowKey"] != _SWEEP}

    async def load(self, lane: str, name: str) -> Entry | None:
        row = await load_row(self._table, lane, name_key(name))
        return _entry(row) if row else None

    async def save(self, lane: str, entry: Entry) -> Entry:
        """Writes an entry as it was loaded, or new. Raises CacheConflictError."""
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
        """Raises StorageError if another deletes them, too."""
        await delete_rows(self._table, lane, [name_key(name) for name in names])

    async def load_sweep(self, lane: str) -> LaneSweep | None:
        row = await load_row(self._table, lane, _SWEEP)
        return _sweep(row) if row else None

    async def save_sweep(self, lane: str, sweep: LaneSweep) -> None:
        """Writes how a sweep went over what was told of the one before: the later word is as good as any."""
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
    read = row.get("read", 0)  # rows of before this was kept have none
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
