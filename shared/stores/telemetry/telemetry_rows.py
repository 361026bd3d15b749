"""The format of rollups in rows of the table `telemetry`, of minutes and hours alike: a column per series name.

Keys begin with the block, an hour or a day since 1970, and the session, both in hexadecimal digits of a fixed width.
"""

from collections.abc import Collection
from dataclasses import dataclass

from shared.domain.telemetry.rollups.chunks import Chunk
from shared.stores.tables.tables import MAX_BINARY, Row, bytes_columns, bytes_of

MINUTES, HOURS = "m", "h"
_WIDTHS = {MINUTES: 6, HOURS: 5}
_MARK = "__"
MAX_ROW = 800_000
"""Bytes of a row's columns, at worst all in one: a row holds a MiB."""
_MAX_PARTS = -(-MAX_ROW // MAX_BINARY)  # of a column, in properties
_MAX_SELECTED = 8


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


def block_key(kind: str, block: int) -> str:
    return f"{kind}{block:0{_WIDTHS[kind]}x}"


def session_key(kind: str, block: int, session: int) -> str:
    """Returns the prefix of a session's keys in a block."""
    return f"{block_key(kind, block)}~{session:06x}~"


def chunk_row(partition: str, key: str, chunk: Chunk) -> Row:
    columns = [bytes_columns(_column(series), packed) for series, packed in chunk.columns.items()]
    return {"PartitionKey": partition, "RowKey": key, **{name: some for one in columns for name, some in one.items()}}


def chunk_of(row: Row, names: Collection[str]) -> Chunk:
    """Returns a row's columns of some series."""
    packed = {name: bytes_of(row, _column(name)) for name in names}
    block, session = place_of(row)
    return Chunk(session, block, {name: some for name, some in packed.items() if some})


def place_of(row: Row) -> tuple[int, int]:
    """Returns the block and the session of a row."""
    block, session, *_ = row["RowKey"][1:].split("~")
    return int(block, 16), int(session, 16)


def kept(row: Row) -> LoadedRow:
    """Returns all columns of a row, under names written like those of the columns.

    They needn't be in a catalog: moved data keeps its column name.
    """
    names = [name.removesuffix(f"{_MARK}0") for name in row if name.endswith(f"{_MARK}0")]
    return LoadedRow(row["RowKey"], row["etag"], chunk_of(row, names))


def selected(names: Collection[str]) -> list[str] | None:
    """Returns the columns to request; None for all if there are many, as URLs have a maximum length."""
    columns = [f"{_column(name)}{part}" for name in names for part in range(_MAX_PARTS)]
    return ["RowKey", *columns] if len(names) <= _MAX_SELECTED else None


def _column(series: str) -> str:
    return series.replace(".", "_") + _MARK
