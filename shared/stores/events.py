"""The table `events`: one partition per account, so that one transaction can detect duplicates.

Every step writes the row `!` with the totals, so two hosts that read two blobs of one account conflict there. The rows
`c<minute>~…` hold the packed events of a minute each, the latest minute first. `c<minute>~n<identity>` holds one event
of a node, or a change of a pool's settings: the key follows from the event alone, and the first one that is written
stays. `o<incarnation>` is a blob's checkpoint (shared/stores/blobs/checkpoints.py).
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

import msgspec

from shared.domain.blobs.sweeps import Totals
from shared.domain.core.keys import name_key
from shared.domain.events.batch_events import BatchEvent, minute_of
from shared.domain.events.event_chunks import Chunk, by_minute, chunks_of, events_of
from shared.domain.events.event_marks import MinuteRange, Wanted, may_have
from shared.domain.events.node_events import without_repeats
from shared.errors import CacheConflictError
from shared.stores.blobs.checkpoints import CheckpointKey
from shared.stores.tables.rows import Operation, Row, json_columns, json_of, row_of, whole, write_units, written
from shared.stores.tables.tables import Tables, delete_rows, load_range, load_row, rows_between

TABLE = "events"
_HEAD = "!"
_LATEST = 0xFFFFFFFF
_AFTER = "~~"  # behind all keys of a minute
_ROWS_AT_ONCE = 50  # of about 50 KB at most
_MARKS_AT_ONCE = 250  # rows of about 200 bytes
_EXISTS = "EntityAlreadyExists"  # the service's code


@dataclass(frozen=True, slots=True)
class Head:
    """The totals of an account, as loaded."""

    totals: Totals
    etag: str | None


class EventStore:
    def __init__(self, tables: Tables) -> None:
        self._table = tables[TABLE]

    async def load_head(self, account_key: str) -> Head:
        row = await load_row(self._table, account_key, _HEAD)
        return Head(msgspec.convert(row, Totals), row["etag"]) if row else Head(Totals(), None)

    async def load_identities(self, account_key: str, first: int, last: int) -> list[tuple[int, bytes]]:
        """Returns the identities of events from one minute to another, both included, by minute."""
        return [(_minute(row), row["ids"]) async for row in self._rows(account_key, first, last, ["RowKey", "ids"])]

    async def minutes(self, account_key: str, first: int, last: int) -> AsyncIterator[tuple[int, list[BatchEvent]]]:
        """Yields the events from one minute to another, both included, by minute, the latest first."""
        minute, found = last, list[BatchEvent]()
        async for row in self._rows(account_key, first, last):
            if found and _minute(row) != minute:
                yield minute, found
                found = []
            minute = _minute(row)
            found += events_of(row["ids"], json_of(row, "events"))
            await asyncio.sleep(0)  # others on the event loop go on, as a response has thousands of events
        if found:
            yield minute, found

    async def stretches(self, account_key: str, first: int, last: int, marks: Wanted) -> AsyncIterator[MinuteRange]:
        """Yields all minutes with rows, the latest first, joined by whether they may have events with these marks."""
        before: MinuteRange | None = None
        async for minute in self._marked(account_key, first, last, marks):
            joined = before.joined(minute) if before else minute
            if before and not joined:
                yield before
            before = joined or minute
        if before:
            yield before

    async def save_once(self, account_key: str, events: Sequence[BatchEvent]) -> None:
        """Inserts events of nodes and pools where they aren't yet; of several with one identity, one.

        The first stays, as later ones may lack the task. Raises StorageError, and CacheConflictError if the table is
        missing.
        """
        rows = [[_single_row(account_key, event)] for event in without_repeats(events)]
        for outcome in await write_units(self._table, rows):
            if isinstance(outcome, CacheConflictError) and _EXISTS not in str(outcome.__cause__):
                raise outcome

    async def delete_before(self, account_key: str, moment: datetime) -> int:
        """Deletes the events of minutes that ended before `moment`; returns the number of rows. Raises StorageError."""
        rows = [row["RowKey"] async for row in self._rows(account_key, 0, minute_of(moment) - 1, ["RowKey"])]
        await delete_rows(self._table, account_key, rows)
        return len(rows)

    async def forget(self, account_key: str, names: Sequence[str]) -> None:
        """Deletes the checkpoints of all incarnations of blobs. Raises StorageError."""
        for name in names:
            first = checkpoint_key(account_key, name_key(name)).row
            rows = await load_range(self._table, account_key, first, first + _AFTER)
            await delete_rows(self._table, account_key, rows)

    async def _marked(self, account_key: str, first: int, last: int, marks: Wanted) -> AsyncIterator[MinuteRange]:
        """Yields each minute as a stretch of its own."""
        before: MinuteRange | None = None
        async for row in self._rows(account_key, first, last, ["RowKey", "marks"], _MARKS_AT_ONCE):
            minute, is_wanted = _minute(row), may_have(row["marks"], marks)
            if before and before.first == minute:
                before = MinuteRange(minute, minute, before.rows + 1, before.is_wanted or is_wanted)
                continue
            if before:
                yield before
            before = MinuteRange(minute, minute, 1, is_wanted)
        if before:
            yield before

    def _rows(
        self, account_key: str, first: int, last: int, select: list[str] | None = None, at_once: int | None = None
    ) -> AsyncIterator[Row]:
        at_once = at_once if select else _ROWS_AT_ONCE
        return rows_between(self._table, account_key, _key(last), _key(first) + _AFTER, select, at_once=at_once)


def checkpoint_key(account_key: str, incarnation: str) -> CheckpointKey:
    return CheckpointKey(TABLE, account_key, f"o{incarnation}")


def head_row(account_key: str, before: Head, totals: Totals) -> Operation:
    counts = {name: whole(value) if isinstance(value, int) else value for name, value in asdict(totals).items()}
    return written(row_of(account_key, _HEAD, counts), before.etag)


def chunk_rows(account_key: str, source: str, events: Sequence[BatchEvent]) -> list[Operation]:
    """Returns rows for events; `source` identifies their step."""
    return [
        written(_chunk_row(account_key, f"{_key(minute)}~{source}~{number}", chunk), None)
        for minute, some in by_minute(events).items()
        for number, chunk in enumerate(chunks_of(some))
    ]


def _single_row(account_key: str, event: BatchEvent) -> Operation:
    (chunk,) = chunks_of([event])
    key = f"{_key(minute_of(event.at))}~n{event.identity.hex()}"
    return written(_chunk_row(account_key, key, chunk), None)


def _chunk_row(account_key: str, key: str, chunk: Chunk) -> Row:
    columns = {"ids": chunk.identities, "marks": chunk.marks, **json_columns("events", chunk.values)}
    return {"PartitionKey": account_key, "RowKey": key, **columns}


def _key(minute: int) -> str:
    return f"c{_LATEST - minute:08x}"


def _minute(row: Row) -> int:
    return _LATEST - int(row["RowKey"][1:9], 16)
