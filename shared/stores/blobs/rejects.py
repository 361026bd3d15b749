"""The table `rejects`: units of blobs that couldn't be ingested, with offset and reason; the newest blobs first.

Row keys hold the offset of the unit, so that a repeated step writes the same rows.
"""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime

from azure.data.tables import UpdateMode

from shared.domain.blobs.blobs import Entry
from shared.domain.blobs.rejects import BadUnit, Reject
from shared.stores.tables.rows import Row, translated, whole
from shared.stores.tables.tables import Tables, delete_rows, rows_between

_LATEST = 0xFFFFFFFFFFF
_AFTER_ALL = "~~"
_BEHIND = "!"  # sorts right behind a key, before all others


class RejectStore:
    def __init__(self, tables: Tables) -> None:
        self._table = tables["rejects"]

    async def save(self, ingest_partition: str, entry: Entry, refusals: Sequence[BadUnit], now: datetime) -> None:
        """Writes rejected units. Raises StorageError."""
        for refusal in refusals:
            row: Row = {
                "PartitionKey": ingest_partition,
                "RowKey": f"{_key(entry.created)}~{entry.incarnation}~{refusal.offset:013x}",
                "blob": entry.name,
                **asdict(refusal),
                "offset": whole(refusal.offset),
                "at": now,
            }
            with translated("note a reject"):
                await self._table.upsert_entity(row, mode=UpdateMode.REPLACE)

    async def load(self, ingest_partition: str, after: str, most: int) -> list[Reject]:
        """Returns up to `most` rejects after a key, in key order."""
        found: list[Reject] = []
        async for row in rows_between(self._table, ingest_partition, after + _BEHIND, _AFTER_ALL, at_once=most):
            found.append(_reject(row))
            if len(found) == most:
                break
        return found

    async def delete_before(self, ingest_partition: str, moment: datetime) -> int:
        """Deletes rejects recorded before `moment`; returns their number. Raises StorageError.

        Their blobs were created before that.
        """
        rows = rows_between(
            self._table, ingest_partition, _key(moment) + _AFTER_ALL, _AFTER_ALL, select=["RowKey", "at"]
        )
        keys = [row["RowKey"] async for row in rows if row["at"] < moment]
        await delete_rows(self._table, ingest_partition, keys)
        return len(keys)


def _key(created: datetime) -> str:
    return f"{_LATEST - int(created.timestamp() * 1000):011x}"


def _reject(row: Row) -> Reject:
    refusal = BadUnit(row["offset"], row["position"], row["reason"], row["sample"])
    return Reject(row["RowKey"], row["blob"], refusal, row["at"])
