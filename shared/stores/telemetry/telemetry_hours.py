"""Hours in the table `telemetry`: `h<day>~<session>~<number>`, made of a day's minutes.

The transaction that writes hours deletes the minutes which they are made of. So whatever crashes, each minute counts in
exactly one of the two. A day whose minutes come in several transactions has its row written over, under its ETag.
"""

from collections.abc import AsyncIterator, Collection, Sequence

from shared.domain.telemetry.rollups.chunks import HOURS_A_DAY, Chunk
from shared.stores.tables.tables import Tables, delete_rows
from shared.stores.tables.unit_writes import Operation, deleted, write_at_once, written
from shared.stores.telemetry.telemetry_rows import (
    HOURS,
    MINUTES,
    Kept,
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
        """Those of days since 1970, both included, with the columns of some names only."""
        begin, end = block_key(HOURS, first), block_key(HOURS, last + 1)
        async for row in rows_between(self._table, partition, begin, end, selected(names)):
            yield chunk_of(row, names)

    async def etags(self, partition: str, first: int, last: int) -> dict[str, str]:
        """Those of the rows of days, by their keys: they tell whether a roll-up has come in between."""
        begin, end = block_key(HOURS, first), block_key(HOURS, last + 1)
        rows = rows_between(self._table, partition, begin, end, ["RowKey"])
        return {row["RowKey"]: row["etag"] async for row in rows}

    async def minutes_of(self, partition: str, day: int) -> AsyncIterator[Kept]:
        """The rows of minutes of a day, all of their columns."""
        first = day * HOURS_A_DAY
        begin, end = block_key(MINUTES, first), block_key(MINUTES, first + HOURS_A_DAY)
        async for row in rows_between(self._table, partition, begin, end):
            yield kept(row)

    async def last_of(self, partition: str, day: int, session: int) -> Kept | None:
        """The last row of hours that a session has of a day."""
        begin, last = session_key(HOURS, day, session), None
        async for row in rows_between(self._table, partition, begin, begin + _AFTER):
            last = kept(row)
        return last

    async def replace(self, partition: str, minutes: Sequence[Kept], hours: Sequence[Operation]) -> None:
        """Writes hours and deletes the minutes they are made of, both or neither.

        Raises CacheConflictError where another host does so, too; StorageError.
        """
        await write_at_once(self._table, [*(deleted(partition, one.row, one.etag) for one in minutes), *hours])

    async def delete_day(self, partition: str, day: int) -> int:
        """Gives how many rows there were. Raises StorageError if another deletes them, too."""
        begin, end = block_key(HOURS, day), block_key(HOURS, day + 1)
        keys = [row["RowKey"] async for row in rows_between(self._table, partition, begin, end, ["RowKey"])]
        await delete_rows(self._table, partition, keys)
        return len(keys)


def hour_rows(partition: str, chunks: Sequence[Chunk], instead: Kept | None, number: int) -> list[Operation]:
    """Rows for chunks of one session and day, numbered on from one; the first takes the place of another row."""
    return [
        written(
            chunk_row(partition, f"{session_key(HOURS, chunk.block, chunk.session)}{number + place:06x}", chunk),
            instead.etag if instead and not place else None,
        )
        for place, chunk in enumerate(chunks)
    ]


def number_of(row: Kept) -> int:
    """Which of its session and day it is."""
    return int(row.row.rpartition("~")[2], 16)
