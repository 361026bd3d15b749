"""The table `telemetry`: rows of an incarnation of a blob are in one partition, so a transaction counts a step once.

`o` is the blob's checkpoint (shared/stores/blobs/checkpoints.py), `s` the state between steps and the counts of dropped
data. `n<session>` is a session's identity and its node's facts. `m<hour>~<session>~<offset>~<number>` is the addition
of a step to the minutes of an hour. `h<day>~<session>~<number>` are hours, made from a day's minutes.

Blobs whose names say the same node share a partition for each day of creation. There, `<session>` is preceded by
`<incarnation>~`, and the other keys are `o~<incarnation>`, `s~<incarnation>` and `n~<incarnation>~<session>`.

The transaction that writes hours deletes their minutes. So each minute counts in exactly one of both, despite crashes.
If a day's minutes take several transactions, its row is overwritten under its ETag. Rows of both have a column per
series name. Their keys begin with the block, an hour or a day since 1970, and the session, both in hexadecimal digits
of a fixed width.
"""

from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import NamedTuple

import msgspec

from shared.domain.blobs.blobs import BlobRows, SessionKey
from shared.domain.core.keys import SEPARATOR, name_key, partition_of
from shared.domain.telemetry.records.labels import Identity
from shared.domain.telemetry.rollups.chunks import HOURS_A_DAY, Chunk
from shared.domain.telemetry.rollups.intake_counts import DroppedCounts
from shared.domain.telemetry.sessions.node_facts import NodeFacts
from shared.domain.telemetry.sessions.session import Session
from shared.stores.blobs.checkpoints import CheckpointKey
from shared.stores.tables.rows import (
    MAX_BINARY,
    Operation,
    Row,
    bytes_columns,
    bytes_of,
    deleted,
    json_columns,
    json_of,
    write_at_once,
    written,
)
from shared.stores.tables.tables import Tables, delete_rows, load_range, load_row, rows_between, rows_where

TABLE = "telemetry"
_MINUTES, _HOURS = "m", "h"
_WIDTHS = {_MINUTES: 6, _HOURS: 5}
_ENDS = {_MINUTES: 2, _HOURS: 1}  # parts of a key behind the session
_MARK = "__"
MAX_ROW = 800_000
"""Bytes of a row's columns, at worst all in one: a row holds a MiB."""
_MAX_PARTS = -(-MAX_ROW // MAX_BINARY)  # of a column, in properties
_MAX_SELECTED = 8
_PLACE, _STATE, _SESSION = "o", "s", "n"
_LEFT_OUT = ["RowKey", *(f"leftOut{part}" for part in range(_MAX_PARTS))]
_AFTER = "~~"
_BY_HOST = "byHost"
_MAX_HOURS = 4  # read without looking which of them have rows
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

    async def load_state(self, rows: BlobRows) -> BlobState:
        row = await load_row(self._table, rows.partition, state_key(rows))
        if row is None:
            return BlobState()
        return BlobState(bytes_of(row, "state"), DroppedCounts(**json_of(row, "leftOut")), row["etag"])

    async def load_left_out(self, partition: str, owners: Collection[str]) -> DroppedCounts:
        """Returns the counts of some incarnations of a partition; the owner of one of its own is empty."""
        counts, keys = DroppedCounts(), sorted(f"{_STATE}{SEPARATOR}{owner}" if owner else _STATE for owner in owners)
        async for row in rows_between(self._table, partition, keys[0], keys[-1] + _AFTER, _LEFT_OUT):
            if row["RowKey"].partition(SEPARATOR)[2] in owners:
                counts = counts.plus(DroppedCounts(**json_of(row, "leftOut")))
        return counts

    async def load_sessions(self, rows: BlobRows) -> dict[int, Identity]:
        """Returns the identities of a blob's sessions, by number."""
        found = await self.load_session_rows(rows.partition, rows.owner)
        return {number: row.whose for (_, number), row in found.items()}

    async def load_session_rows(self, partition: str, owner: str = "") -> dict[SessionKey, SessionRow]:
        """Returns identities and facts of a partition's sessions; only of one incarnation if `owner` is given."""
        begin = _begin_of_sessions(owner)
        rows = await load_range(self._table, partition, begin, begin + _AFTER)
        return {_session_key_of(key[1:].removeprefix("~")): _session(row) for key, row in rows.items()}

    def minutes(self, partition: str, first: int, last: int, names: Collection[str]) -> AsyncIterator[Chunk]:
        """Yields minutes of hours since 1970, both included, with only the columns of some names."""
        return self._chunks(_MINUTES, partition, first, last, names)

    async def minutes_of_blob(
        self, rows: BlobRows, first: int, last: int, names: Collection[str]
    ) -> AsyncIterator[Chunk]:
        """Yields minutes of one incarnation only; of a shared partition hour by hour, by its keys."""
        if not rows.owner:
            async for chunk in self.minutes(rows.partition, first, last, names):
                yield chunk
            return
        hours: Iterable[int] = range(first, last + 1)
        if last - first >= _MAX_HOURS:
            keys = self._blocks(_MINUTES, rows.partition, first, last, ["RowKey"])
            places = [_place_of(row) async for row in keys]
            hours = sorted({block for block, (owner, _) in places if owner == rows.owner})
        for hour in hours:
            begin = f"{_block_key(_MINUTES, hour)}{SEPARATOR}{rows.owner}{SEPARATOR}"
            select = _selected(names)
            at_once = None if select else _ROWS_AT_ONCE
            async for row in rows_between(self._table, rows.partition, begin, begin + _AFTER, select, at_once=at_once):
                yield _chunk_of(row, names)

    async def steps_of_blob(self, rows: BlobRows, first: int, last: int) -> list[tuple[int, int]]:
        """Returns the hour of each minute row of an incarnation, and the offset at which its step begins."""
        found = []
        async for row in self._blocks(_MINUTES, rows.partition, first, last, ["RowKey"]):
            hour, (owner, _) = _place_of(row)
            if owner == rows.owner:
                found.append((hour, int(row["RowKey"].split(SEPARATOR)[-_ENDS[_MINUTES]], 16)))
        return found

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

    async def last_hours_of(self, partition: str, day: int, session: SessionKey) -> LoadedRow | None:
        """Returns the last row of a session's hours of a day."""
        begin, last = _begin_of(_HOURS, day, *session), None
        async for row in rows_between(self._table, partition, begin, begin + _AFTER, at_once=_ROWS_AT_ONCE):
            last = _kept(row)
        return last

    async def replace(self, partition: str, minutes: Sequence[LoadedRow], hours: Sequence[Operation]) -> None:
        """Writes hours and deletes their minutes in one transaction.

        Raises CacheConflictError if another host does the same; StorageError.
        """
        await write_at_once(self._table, [*(deleted(partition, one.row, one.etag) for one in minutes), *hours])

    async def days_of(self, partition: str, session: SessionKey) -> set[int]:
        """Returns the days since 1970 with minutes of a session. Raises StorageError."""
        rows = rows_between(self._table, partition, _MINUTES, _MINUTES + _AFTER, ["RowKey"])
        places = [_place_of(row) async for row in rows]
        return {block // HOURS_A_DAY for block, found in places if found == session}

    async def delete_day(self, partition: str, day: int) -> int:
        """Deletes the minutes and hours of a day; returns the number of rows.

        Raises StorageError if another process deletes them too.
        """
        keys: list[str] = []
        for kind, first, last in ((_MINUTES, *_hours_of(day)), (_HOURS, day, day)):
            keys += [row["RowKey"] async for row in self._blocks(kind, partition, first, last, ["RowKey"])]
        await delete_rows(self._table, partition, keys)
        return len(keys)

    async def owners_of_rollups(self, partition: str) -> set[str]:
        """Returns the incarnations with rollups, of minutes or hours; no other keys lie between these."""
        rows = rows_between(self._table, partition, _HOURS, _MINUTES + _AFTER, ["RowKey"])
        return {_place_of(row)[1][0] async for row in rows}

    async def incarnations_of(self, account_key: str, name: str) -> list[BlobRows]:
        """Returns all incarnations of a blob ever read that have a partition of their own. Raises StorageError."""
        first = partition_of(account_key, name_key(name))
        rows = rows_where(
            self._table,
            "PartitionKey ge @first and PartitionKey le @last and RowKey eq @place",
            {"first": first, "last": first + _AFTER, "place": _PLACE},
            ["PartitionKey"],
        )
        return [
            BlobRows(account_key, row["PartitionKey"].removeprefix(partition_of(account_key, ""))) async for row in rows
        ]

    async def forget(self, rows: BlobRows) -> None:
        """Deletes all rows of an incarnation without rollups, its checkpoint last, as that finds it.

        Raises StorageError.
        """
        keys = {"place": rows.key(_PLACE), "state": rows.key(_STATE), "first": _begin_of_sessions(rows.owner)}
        found = rows_where(
            self._table,
            "PartitionKey eq @partition and "
            "( RowKey eq @place or RowKey eq @state or ( RowKey ge @first and RowKey le @last ) )",
            {"partition": rows.partition, "last": keys["first"] + _AFTER, **keys},
            ["RowKey"],
        )
        names = [row["RowKey"] async for row in found]
        await delete_rows(self._table, rows.partition, sorted(names, key=lambda name: name == keys["place"]))

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


def checkpoint_key(rows: BlobRows) -> CheckpointKey:
    return CheckpointKey(TABLE, rows.partition, rows.key(_PLACE))


def state_key(rows: BlobRows) -> str:
    """Returns the key of the row of a blob's state."""
    return rows.key(_STATE)


def state_row(rows: BlobRows, before: BlobState, packed: bytes, left_out: DroppedCounts) -> Operation:
    row: Row = {
        "PartitionKey": rows.partition,
        "RowKey": state_key(rows),
        **bytes_columns("state", packed),
        **json_columns("leftOut", asdict(left_out)),
    }
    return written(row, before.etag)


def session_row(rows: BlobRows, session: Session) -> Operation:
    """Overwrites the previous row; the state row in the same transaction guarantees that no other writer did."""
    row: Row = {
        "PartitionKey": rows.partition,
        "RowKey": f"{_begin_of_sessions(rows.owner)}{session.number:06x}",
        **json_columns("identity", asdict(session.whose)),
        **json_columns("facts", asdict(session.facts)),
        _BY_HOST: not session.identity.node,
    }
    return ("upsert", row, {"mode": "replace"})


def chunk_rows(rows: BlobRows, offset: int, chunks: Sequence[Chunk]) -> list[Operation]:
    """Returns rows for the additions of the step that begins at `offset`."""
    return [
        written(_chunk_row(rows.partition, _MINUTES, rows.owner, chunk, f"{offset:013x}~{number:02x}"), None)
        for number, chunk in enumerate(chunks)
    ]


def hour_rows(
    partition: str, owner: str, chunks: Sequence[Chunk], instead: LoadedRow | None, number: int
) -> list[Operation]:
    """Returns rows for chunks of one session and day, numbered from `number`; the first replaces the row `instead`."""
    etags = {number: instead.etag} if instead else {}
    return [
        written(_chunk_row(partition, _HOURS, owner, chunk, f"{at:06x}"), etags.get(at))
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


def _begin_of_sessions(owner: str) -> str:
    """Returns the prefix of the keys of an incarnation's sessions, which no other incarnation's keys begin with."""
    return f"{_SESSION}{SEPARATOR}{owner}{SEPARATOR}" if owner else _SESSION


def _begin_of(kind: str, block: int, owner: str, session: int) -> str:
    """Returns the prefix of a session's keys in a block."""
    return SEPARATOR.join((_block_key(kind, block), *([owner] if owner else ()), f"{session:06x}", ""))


def _session_key_of(key: str) -> SessionKey:
    """Returns the session of a key that ends with it."""
    owner, _, number = key.rpartition(SEPARATOR)
    return owner, int(number, 16)


def _chunk_row(partition: str, kind: str, owner: str, chunk: Chunk, end: str) -> Row:
    """Returns a row for a chunk; `end` distinguishes the keys of its session and block."""
    row: Row = {"PartitionKey": partition, "RowKey": f"{_begin_of(kind, chunk.block, owner, chunk.session)}{end}"}
    for series, packed in chunk.columns.items():
        row |= bytes_columns(_column(series), packed)
    return row


def _chunk_of(row: Row, names: Collection[str]) -> Chunk:
    """Returns a row's columns of some series."""
    packed = {name: bytes_of(row, _column(name)) for name in names}
    block, (owner, session) = _place_of(row)
    return Chunk(session, block, {name: some for name, some in packed.items() if some}, owner)


def _place_of(row: Row) -> tuple[int, SessionKey]:
    """Returns the block and the session of a row of minutes or hours."""
    key = row["RowKey"]
    block, _, rest = key[1:].partition(SEPARATOR)
    return int(block, 16), _session_key_of(rest.rsplit(SEPARATOR, _ENDS[key[0]])[0])


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
