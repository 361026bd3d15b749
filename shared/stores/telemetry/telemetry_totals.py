"""Totals of an account's ingested telemetry: the row `!` in a partition of its own of the table `telemetry`.

Transactions of single blobs can't include this row; so hosts add their counts afterwards.
"""

from dataclasses import replace
from datetime import datetime

from shared.domain.core.keys import partition_of
from shared.domain.telemetry.rollups.intake_counts import SUMS, TelemetryTotals
from shared.errors import CacheConflictError
from shared.stores.tables.rows import Row, json_columns, json_of
from shared.stores.tables.tables import Tables, load_row, save_row

_ROW = "!"
_TRIES = 5
_MAX_MARKS = 32  # of the latest additions: more than hosts make while one retries


class TelemetryTotalsStore:
    def __init__(self, tables: Tables) -> None:
        self._table = tables["telemetry"]

    async def load(self, account_key: str) -> TelemetryTotals:
        row = await load_row(self._table, _partition(account_key), _ROW)
        return _totals(row) if row else TelemetryTotals()

    async def add(self, account_key: str, more: TelemetryTotals, now: datetime, mark: str) -> None:
        """Adds counts once per mark; a call whose answer was lost is repeated with the same mark.

        Raises CacheConflictError if other hosts are faster five times, StorageError.
        """
        for _ in range(_TRIES - 1):
            try:
                await self._add(account_key, more, now, mark)
            except CacheConflictError:
                continue
            return
        await self._add(account_key, more, now, mark)

    async def _add(self, account_key: str, more: TelemetryTotals, now: datetime, mark: str) -> None:
        row = await load_row(self._table, _partition(account_key), _ROW)
        marks = str(row.get("marks", "")).split() if row else []
        if mark in marks:
            return
        more = replace(more, lost_at=now if more.lost else None)
        sums = (_totals(row) if row else TelemetryTotals(since=now)).plus(more)
        changed: Row = {
            "PartitionKey": _partition(account_key),
            "RowKey": _ROW,
            "since": sums.since,
            "marks": " ".join([*marks, mark][-_MAX_MARKS:]),
            "totals": " ".join(str(getattr(sums, name)) for name in SUMS),
            **json_columns("leftOut", dict(sums.left_out)),
        }
        if sums.lost_at:
            changed["lostAt"] = sums.lost_at
        await save_row(self._table, changed, row["etag"] if row else None)


def _totals(row: Row) -> TelemetryTotals:
    sums = dict(zip(SUMS, map(int, row["totals"].split()), strict=True))
    return TelemetryTotals(row["since"], **sums, left_out=json_of(row, "leftOut"), lost_at=row.get("lostAt"))


def _partition(account_key: str) -> str:
    return partition_of(account_key, "totals")
