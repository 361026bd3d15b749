"""The table `telemetry`: one partition per incarnation of a blob, so that one transaction counts each step once.

`o` is the blob's checkpoint (shared/stores/blobs/checkpoints.py), `s` the state between steps and the counts of dropped
data. `n<session>` is a session's identity and its node's facts. `m<hour>~<session>~<offset>~<number>` is the addition
of a step to the minutes of an hour. `h<day>~<session>~<number>` are hours, made from a day's minutes.

The transaction that writes hours deletes their minutes. So each minute counts in exactly one of both, despite crashes.
If a day's minutes take several transactions, its row is overwritten under its ETag. Rows of both have a column per
series name. Their keys begin with the block, an hour or a day since 1970, and the session, both in hexadecimal digits
of a fixed width.
"""

from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import asdict, dataclass, field
from typing import NamedTuple

import msgspec

from shared.domain.blobs.blobs import name_key
from shared.domain.core.keys import partition_of
from shared.domain.telemetry.records.labels import Identity
from shared.domain.telemetry.rollups.chunks import HOURS_A_DAY, Chunk
from shared.domain.telemetry.rollups.dropped_counts import DroppedCounts
from shared.domain.telemetry.sessions.node_facts import NodeFacts
from shared.domain.telemetry.sessions.session import Session
from shared.stores.blobs.checkpoints import CheckpointKey
from shared.stores.tables.tables import (
    MAX_BINARY,
    Row,
    Tables,
    bytes_columns,
    bytes_of,
    delete_rows,
    json_columns,
    json_of,
    load_range,
    load_row,
    load_rows,
    rows_between,
    rows_where,
)
from shared.stores.tables.unit_writes import Operation, deleted, write_at_once, written

TABLE = "telemetry"
_MINUTES, _HOURS = "m", "h"
_WIDTHS = {_MINUTES: 6, _HOURS: 5}
_MARK = "__"
MAX_ROW = 800_000
"""Bytes of a row's columns, at worst all in one: a row holds a MiB."""
_MAX_PARTS = -(-MAX_ROW // MAX_BINARY)  # of a column, in properties
_MAX_SELECTED = 8
_PLACE = "o"
STATE = "s"
"""The row of a blob's state."""
_AFTER = "~~"
_BY_HOST = "byHost"
_ROWS_AT_ONCE = 20  # of half a megabyte at most


class SessionRow(NamedTuple):
    """A session's identity and its node's facts; `by_host` if it has a host's name or none in place of a node's."""

    whose: Identity
    facts: NodeFacts
    by_host: bool


@dataclass(frozen=True, slots=True)
class BlobState:
    """The state of a blob as loaded; `packed` is an intake's state, empty before the first step."""

    packed: bytes = b""
    left_out: DroppedCounts = field(default_factory=DroppedCounts)
    etag: str | None = None


@dataclass(frozen=True, slots=True)
class LoadedRow:
    """A row as loaded: its key, its ETag and its chunk."""

    row: str
    etag: str
    chunk: Chunk

    @property
    def number(self) -> int:
        """Returns the number of a row of hours within its session and day."""
        return int(self.row.rpartition("~")[2], 16)


class TelemetryStore:
    def __init__(self, tables: Tables) -> None:
        self._table = tables[TABLE]

    async def load_state(self, partition: str) -> BlobState:
        row = await load_row(self._table, partition, STATE)
        if row is None:
            return BlobState()
        return BlobState(bytes_of(row, "state"), DroppedCounts(**json_of(row, "leftOut")), row["etag"])

    async def load_left_out(self, partition: str) -> DroppedCounts:
        return (await self.load_state(partition)).left_out

    async def load_sessions(self, partition: str) -> dict[int, Identity]:
        """Returns the identities of a blob's sessions, by number."""
        return {number: row.whose for number, row in (await self.load_session_rows(partition)).items()}

    async def load_session_rows(self, partition: str) -> dict[int, SessionRow]:
        """Returns identities and facts of a blob's sessions, by number."""
        rows = await load_range(self._table, partition, "n", "n" + _AFTER)
        return {int(key[1:], 16): _session(row) for key, row in rows.items()}

    def minutes(self, partition: str, first: int, last: int, names: Collection[str]) -> AsyncIterator[Chunk]:
        """Yields minutes of hours since 1970, both included, with only the columns of some names."""
        return self._chunks(_MINUTES, partition, first, last, names)

    def hours(self, partition: str, first: int, last: int, names: Collection[str]) -> AsyncIterator[Chunk]:
        """Yields hours of days since 1970, both included, with only the columns of some names."""
        return self._chunks(_HOURS, partition, first, last, names)

    async def hour_etags(self, partition: str, first: int, last: int) -> dict[str, str]:
        """Returns the ETags of the rows of days by key, which show whether a roll-up has intervened."""
        return {row["RowKey"]: row["etag"] async for row in self._blocks(_HOURS, partition, first, last, ["RowKey"])}

    async def minutes_of(self, partition: str, day: int) -> AsyncIterator[LoadedRow]:
        """Yields the minute rows of a day, with all columns."""
        async for row in self._blocks(_MINUTES, partition, *_hours_of(day)):
            yield _kept(row)

    async def last_hours_of(self, partition: str, day: int, session: int) -> LoadedRow | None:
        """Returns the last row of a session's hours of a day."""
        begin, last = _session_key(_HOURS, day, session), None
        async for row in rows_between(self._table, partition, begin, begin + _AFTER, at_once=_ROWS_AT_ONCE):
            last = _kept(row)
        return last

    async def replace(self, partition: str, minutes: Sequence[LoadedRow], hours: Sequence[Operation]) -> None:
        """Writes hours and deletes their minutes in one transaction.

        Raises CacheConflictError if another host does the same; StorageError.
        """
        await write_at_once(self._table, [*(deleted(partition, one.row, one.etag) for one in minutes), *hours])

    async def days_of(self, partition: str, session: int) -> set[int]:
        """Returns the days since 1970 with minutes of a session. Raises StorageError."""
        rows = rows_between(self._table, partition, _MINUTES, _MINUTES + _AFTER, ["RowKey"])
        places = [_place_of(row) async for row in rows]
        return {block // HOURS_A_DAY for block, number in places if number == session}

    async def delete_day(self, partition: str, day: int) -> int:
        """Deletes the minutes and hours of a day; returns the number of rows.

        Raises StorageError if another process deletes them too.
        """
        keys: list[str] = []
        for kind, first, last in ((_MINUTES, *_hours_of(day)), (_HOURS, day, day)):
            keys += [row["RowKey"] async for row in self._blocks(kind, partition, first, last, ["RowKey"])]
        await delete_rows(self._table, partition, keys)
        return len(keys)

    async def has_rollups(self, partition: str) -> bool:
        """Returns whether a partition has rollups, of minutes or hours; no other keys lie between these."""
        async for _ in rows_between(self._table, partition, _HOURS, _MINUTES + _AFTER, ["RowKey"]):
            return True
        return False

    async def partitions_of(self, account_key: str, name: str) -> list[str]:
        """Returns the partitions of all incarnations of a blob ever read. Raises StorageError."""
        first = partition_of(account_key, name_key(name))
        rows = rows_where(
            self._table,
            "PartitionKey ge @first and PartitionKey le @last and RowKey eq @place",
            {"first": first, "last": first + _AFTER, "place": _PLACE},
            ["PartitionKey"],
        )
        return [row["PartitionKey"] async for row in rows]

    async def forget(self, partition: str) -> None:
        """Deletes all rows of an incarnation, its checkpoint last, as that finds it. Raises StorageError."""
        rows = [row["RowKey"] for row in await load_rows(self._table, partition, ["RowKey"])]
        await delete_rows(self._table, partition, sorted(rows, key=lambda row: row == _PLACE))

    async def _chunks(
        self, kind: str, partition: str, first: int, last: int, names: Collection[str]
    ) -> AsyncIterator[Chunk]:
        async for row in self._blocks(kind, partition, first, last, _selected(names)):
            yield _chunk_of(row, names)

    def _blocks(
        self, kind: str, partition: str, first: int, last: int, select: list[str] | None = None
    ) -> AsyncIterator[Row]:
        """Yields the rows of blocks, both included; whole ones a few at a time, as they are large."""
        begin, end = _block_key(kind, first), _block_key(kind, last + 1)
        return rows_between(self._table, partition, begin, end, select, at_once=None if select else _ROWS_AT_ONCE)


def checkpoint_key(partition: str) -> CheckpointKey:
    return CheckpointKey(TABLE, partition, _PLACE)


def state_row(partition: str, before: BlobState, packed: bytes, left_out: DroppedCounts) -> Operation:
    row: Row = {
        "PartitionKey": partition,
        "RowKey": STATE,
        **bytes_columns("state", packed),
        **json_columns("leftOut", asdict(left_out)),
    }
    return written(row, before.etag)


def session_row(partition: str, session: Session) -> Operation:
    """Overwrites the previous row; the state row in the same transaction guarantees that no other writer did."""
    row: Row = {
        "PartitionKey": partition,
        "RowKey": f"n{session.number:06x}",
        **json_columns("identity", asdict(session.whose)),
        **json_columns("facts", asdict(session.facts)),
        _BY_HOST: not session.identity.node,
    }
    return ("upsert", row, {"mode": "replace"})


def chunk_rows(partition: str, offset: int, chunks: Sequence[Chunk]) -> list[Operation]:
    """Returns rows for the additions of the step that begins at `offset`."""
    return [
        written(_chunk_row(partition, _MINUTES, chunk, f"{offset:013x}~{number:02x}"), None)
        for number, chunk in enumerate(chunks)
    ]


def hour_rows(partition: str, chunks: Sequence[Chunk], instead: LoadedRow | None, number: int) -> list[Operation]:
    """Returns rows for chunks of one session and day, numbered from `number`; the first replaces the row `instead`."""
    return [
        written(_chunk_row(partition, _HOURS, chunk, f"{at:06x}"), instead.etag if instead and at == number else None)
        for at, chunk in enumerate(chunks, number)
    ]


def _hours_of(day: int) -> tuple[int, int]:
    """Returns the first and the last hour of a day."""
    return day * HOURS_A_DAY, (day + 1) * HOURS_A_DAY - 1


def _session(row: Row) -> SessionRow:
    whose = msgspec.convert(json_of(row, "identity"), Identity)
    return SessionRow(whose, msgspec.convert(json_of(row, "facts"), NodeFacts), row[_BY_HOST])


def _block_key(kind: str, block: int) -> str:
    return f"{kind}{block:0{_WIDTHS[kind]}x}"


def _session_key(kind: str, block: int, session: int) -> str:
    """Returns the prefix of a session's keys in a block."""
    return f"{_block_key(kind, block)}~{session:06x}~"


def _chunk_row(partition: str, kind: str, chunk: Chunk, end: str) -> Row:
    """Returns a row for a chunk; `end` distinguishes the keys of its session and block."""
    row: Row = {"PartitionKey": partition, "RowKey": f"{_session_key(kind, chunk.block, chunk.session)}{end}"}
    for series, packed in chunk.columns.items():
        row |= bytes_columns(_column(series), packed)
    return row


def _chunk_of(row: Row, names: Collection[str]) -> Chunk:
    """Returns a row's columns of some series."""
    packed = {name: bytes_of(row, _column(name)) for name in names}
    block, session = _place_of(row)
    return Chunk(session, block, {name: some for name, some in packed.items() if some})


def _place_of(row: Row) -> tuple[int, int]:
    """Returns the block and the session of a row."""
    block, session, *_ = row["RowKey"][1:].split("~")
    return int(block, 16), int(session, 16)


def _kept(row: Row) -> LoadedRow:
    """Returns all columns of a row, under names written like those of the columns.

    They needn't be in a catalog: moved data keeps its column name.
    """
    names = [name.removesuffix(f"{_MARK}0") for name in row if name.endswith(f"{_MARK}0")]
    return LoadedRow(row["RowKey"], row["etag"], _chunk_of(row, names))


def _selected(names: Collection[str]) -> list[str] | None:
    """Returns the columns to request; None for all if there are many, as URLs have a maximum length."""
    columns = [f"{_column(name)}{part}" for name in names for part in range(_MAX_PARTS)]
    return ["RowKey", *columns] if len(names) <= _MAX_SELECTED else None


def _column(series: str) -> str:
    return series.replace(".", "_") + _MARK
