"""Hours in the table `telemetry`: `h<day>~<session>~<number>`, made from a day's minutes.

The transaction that writes hours deletes their minutes. So each minute counts in exactly one of both, despite crashes.
If a day's minutes take several transactions, its row is overwritten under its ETag.
"""

from collections.abc import AsyncIterator, Collection, Sequence

from shared.domain.telemetry.rollups.chunks import HOURS_A_DAY, Chunk
from shared.stores.tables.tables import Tables, delete_rows
from shared.stores.tables.unit_writes import Operation, deleted, write_at_once, written
from shared.stores.telemetry.telemetry_rows import (
    HOURS,
    MINUTES,
    LoadedRow,
    block_key,
    chunk_of,
    chunk_row,
    kept,
    rows_between,
    selected,
    session_key,
)

_AFTER = "~"


class HourStore:
    def __init__(self, tables: Tables) -> None:
        self._table = tables["telemetry"]

    async def chunks(self, partition: str, first: int, last: int, names: Collection[str]) -> AsyncIterator[Chunk]:
        """Yields chunks of days since 1970, both included, with only the columns of some names."""
        begin, end = block_key(HOURS, first), block_key(HOURS, last + 1)
        async for row in rows_between(self._table, partition, begin, end, selected(names)):
            yield chunk_of(row, names)

    async def etags(self, partition: str, first: int, last: int) -> dict[str, str]:
        """Returns the ETags of the rows of days by key, which show whether a roll-up has intervened."""
        begin, end = block_key(HOURS, first), block_key(HOURS, last + 1)
        rows = rows_between(self._table, partition, begin, end, ["RowKey"])
        return {row["RowKey"]: row["etag"] async for row in rows}

    async def minutes_of(self, partition: str, day: int) -> AsyncIterator[LoadedRow]:
        """Yields the minute rows of a day, with all columns."""
        first = day * HOURS_A_DAY
        begin, end = block_key(MINUTES, first), block_key(MINUTES, first + HOURS_A_DAY)
        async for row in rows_between(self._table, partition, begin, end):
            yield kept(row)

    async def last_of(self, partition: str, day: int, session: int) -> LoadedRow | None:
        """Returns the last row of a session's hours of a day."""
        begin, last = session_key(HOURS, day, session), None
        async for row in rows_between(self._table, partition, begin, begin + _AFTER):
            last = kept(row)
        return last

    async def replace(self, partition: str, minutes: Sequence[LoadedRow], hours: Sequence[Operation]) -> None:
        """Writes hours and deletes their minutes in one transaction.

        Raises CacheConflictError if another host does the same; StorageError.
        """
        await write_at_once(self._table, [*(deleted(partition, one.row, one.etag) for one in minutes), *hours])

    async def delete_day(self, partition: str, day: int) -> int:
        """Deletes the hours of a day; returns the number of rows.

        Raises StorageError if another process deletes them too.
        """
        begin, end = block_key(HOURS, day), block_key(HOURS, day + 1)
        keys = [row["RowKey"] async for row in rows_between(self._table, partition, begin, end, ["RowKey"])]
        await delete_rows(self._table, partition, keys)
        return len(keys)


def hour_rows(partition: str, chunks: Sequence[Chunk], instead: LoadedRow | None, number: int) -> list[Operation]:
    """Returns rows for chunks of one session and day, numbered from `number`; the first replaces the row `instead`."""
    return [
        written(
            chunk_row(partition, f"{session_key(HOURS, chunk.block, chunk.session)}{number + place:06x}", chunk),
            instead.etag if instead and not place else None,
        )
        for place, chunk in enumerate(chunks)
    ]


def number_of(row: LoadedRow) -> int:
    """Returns the number of a row within its session and day."""
    return int(row.row.rpartition("~")[2], 16)
