"""Rolls expired minutes up to hours, one day of a partition after another, in small transactions.

A crash between two leaves each minute in exactly one of both forms, and the next run continues. Memory holds one
transaction. Hours are deleted at the end of their own retention (ingestion_stores.py).
"""

import asyncio
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import groupby

from shared.domain.blobs.blobs import SessionKey
from shared.domain.core.stamps import to_milliseconds
from shared.domain.telemetry.rollups.chunks import HOURS, MAX_CELLS, add_column, chunks_of
from shared.domain.telemetry.rollups.rollups import Rollups, hours_of, merged
from shared.stores.tables.rows import Operation
from shared.stores.telemetry.node_index import IndexEntry, NodeIndex
from shared.stores.telemetry.telemetry import LoadedRow, TelemetryStore, hour_rows

_DAY = 86_400_000  # milliseconds
_GRACE = timedelta(hours=1)  # longer than any function call: samples ingested at the end of the day are written by then
_ENOUGH_CELLS = 20_000  # minutes of series; a row adds 10,000 at most, and the previous hours as many
_ENOUGH_ROWS = 90  # deleted and written


@dataclass(slots=True)
class _Batch:
    """Rows of minutes for one transaction, and the resulting hours by session."""

    rows: list[LoadedRow] = field(default_factory=list)
    hours: dict[SessionKey, Rollups] = field(default_factory=dict)
    cells: int = 0

    @property
    def is_enough(self) -> bool:
        return self.cells >= _ENOUGH_CELLS or len(self.rows) + len(self.hours) >= _ENOUGH_ROWS

    def add(self, row: LoadedRow) -> None:
        minutes: Rollups = {}
        for name, packed in row.chunk.columns.items():
            self.cells += add_column(minutes, name, row.chunk.block, packed)
        self.rows.append(row)
        session = row.chunk.owner, row.chunk.session
        self.hours[session] = merged((self.hours.get(session, {}), hours_of(minutes)))


class HourRollups:
    def __init__(self, store: TelemetryStore, index: NodeIndex) -> None:
        self._store = store
        self._index = index

    async def run(self, account_key: str, moment: datetime, goes_on: Callable[[], bool]) -> int:
        """Rolls up days that ended an hour before a moment, the earliest first; returns how many days of partitions.

        When `goes_on` returns False it stops; the next run continues, and until then the rest stays in minutes. Raises
        CacheConflictError if another host does the same, StorageError.
        """
        over = to_milliseconds(moment - _GRACE) // _DAY
        entries = sorted(await self._index.load_before(account_key, over, rolled=False), key=_of_day)
        done = 0
        for (day, partition), some in groupby(entries, key=_of_day):
            if not await self._roll_up(account_key, partition, day, list(some), goes_on):
                break
            done += 1
        return done

    async def _roll_up(
        self, account_key: str, partition: str, day: int, entries: Collection[IndexEntry], goes_on: Callable[[], bool]
    ) -> bool:
        """Returns whether no minutes of the day are left.

        The index records possible hours before the first is written.
        """
        if not goes_on():
            return False
        batch = _Batch()
        await self._index.note(account_key, entries, rolled=False)
        async for row in self._store.minutes_of(partition, day):
            await asyncio.to_thread(batch.add, row)
            if batch.is_enough:
                await self._write(partition, day, batch)
                batch = _Batch()
                if not goes_on():
                    return False
        if batch.rows:
            await self._write(partition, day, batch)
        await self._index.note(account_key, entries, rolled=True)
        return True

    async def _write(self, partition: str, day: int, batch: _Batch) -> None:
        """Writes hours, merged into the last row of their session while there is room for its content."""
        operations: list[Operation] = []
        room = MAX_CELLS
        for session, some in batch.hours.items():
            last = await self._store.last_hours_of(partition, day, session)
            before: Rollups = {}
            number, columns = (last.number, last.chunk.columns) if last else (0, {})
            cells = sum(add_column(before, name, day, packed, HOURS) for name, packed in columns.items())
            if cells < room:
                room -= cells
            else:
                last, before, number = None, {}, number + 1
            owner, session_number = session
            chunks = chunks_of(session_number, merged((before, some)), HOURS)
            operations += hour_rows(partition, owner, chunks, last, number)
        await self._store.replace(partition, batch.rows, operations)


def _of_day(entry: IndexEntry) -> tuple[int, str]:
    return entry.day, entry.rows.partition
