"""The table `nodeindex`: days, blobs and sessions with telemetry of a node; one partition per account.

A session that names a job and a task also has a row for the task, as its node's name may be unknown to Batch.

A row is written before its data, so that all data can be found. It may point to nothing after a crash, or to a session
that turned out to be another node's, so readers also check the session. `hours` states that hours may exist beside
minutes, and is also written before; `rolled` states that no minutes are left.

A blob without any series also has a row, on the day of its arrival, under the session `ffffff`, so that its node
doesn't count as silent.
"""

from collections.abc import Collection, Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from itertools import batched
from typing import Any, NamedTuple

from azure.data.tables import UpdateMode

from shared.domain.blobs.blobs import BlobRows, SessionKey
from shared.domain.blobs.uncharted_blobs import ArrivedBlob
from shared.domain.core.keys import SEPARATOR, key_of, name_key
from shared.stores.tables.rows import MAX_OPERATIONS, Row, translated
from shared.stores.tables.tables import Tables, delete_rows, load_range, rows_between

_AFTER = "~~"
_HOURS, _ROLLED = "hours", "rolled"
_BLOB, _FORMAT, _POOL = "blob", "format", "pool"
_GROUPED = "."  # between an incarnation and its group
_OF_NONE = 0xFFFFFF  # a session number that no blob has: 1,000 is the maximum


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """A day since 1970 with data of a session of an incarnation; `row` is the key.

    `has_hours`: it may have hours; `is_rolled`: it has nothing else.
    """

    row: str
    day: int
    rows: BlobRows
    session: int
    has_hours: bool = False
    is_rolled: bool = False

    @property
    def session_key(self) -> SessionKey:
        return self.rows.session_key(self.session)


class IndexPlace(NamedTuple):
    """A session's day since 1970, under a name: a node's, empty if unknown, or a task's `task_name`."""

    name: str
    session: int
    day: int


class NodeIndex:
    def __init__(self, tables: Tables) -> None:
        self._table = tables["nodeindex"]

    async def save(self, rows: BlobRows, places: Iterable[IndexPlace]) -> None:
        """Writes the index rows of an incarnation, many in a request. Raises StorageError."""
        keys = sorted({_key(place.name, place.day, rows, place.session) for place in places})
        for batch in batched(keys, MAX_OPERATIONS, strict=False):
            some: list[Row] = [{"PartitionKey": rows.account_key, "RowKey": key, _ROLLED: False} for key in batch]
            with translated("note where a node's telemetry is"):
                await self._table.submit_transaction([("upsert", row, {"mode": UpdateMode.MERGE}) for row in some])

    async def save_arrival(self, node: str, day: int, arrival: ArrivedBlob) -> None:
        """Records that a blob arrived; without a format, a recorded one stays. Raises StorageError."""
        key = {"PartitionKey": arrival.rows.account_key, "RowKey": _key(node, day, arrival.rows, _OF_NONE)}
        row: Row = {**key, _ROLLED: True, _BLOB: arrival.blob, _POOL: arrival.pool}
        if arrival.format:
            row[_FORMAT] = arrival.format
        with translated("note that a blob came"):
            await self._table.upsert_entity(row, mode=UpdateMode.MERGE)

    async def load_arrivals(
        self, account_key: str, pool: str, node: str, *, first: int, last: int, most: int
    ) -> list[ArrivedBlob]:
        """Returns the first blobs that arrived from one day to another, both included, of a pool's node, each once.

        At least part of each is in no series. Reading stops at `most`, as there may be any number.
        """
        begin, end = _key(node, first), _key(node, last)
        found: dict[str, ArrivedBlob] = {}
        async with aclosing(rows_between(self._table, account_key, begin, end + _AFTER)) as rows:
            async for row in rows:
                if _BLOB not in row or (row[_POOL] and key_of(row[_POOL]) != key_of(pool)):
                    continue
                arrival = _arrival(account_key, row, names_node=bool(node))
                found[arrival.blob] = arrival.after(found.get(arrival.blob))
                if len(found) >= most:
                    break
        return list(found.values())

    async def load(self, account_key: str, node: str, first: int, last: int) -> list[IndexEntry]:
        """Returns the index of a node, or of a `task_name`, from one day to another, both included."""
        begin, end = _key(node, first), _key(node, last)
        rows = await load_range(self._table, account_key, begin, end + _AFTER)
        return [_entry(account_key, row) for row in rows.values()]

    async def load_before(self, account_key: str, day: int, *, rolled: bool = True) -> list[IndexEntry]:
        """Returns the index of all nodes for days before one; without `rolled`, only of days that may have minutes.

        Other rows aren't held, as an account has one for each node, blob and day.
        """
        rows = rows_between(self._table, account_key, "", _AFTER, ["RowKey", _HOURS, _ROLLED])
        entries = (_entry(account_key, row) async for row in rows)
        return [entry async for entry in entries if entry.day < day and (rolled or not entry.is_rolled)]

    async def note(self, account_key: str, some: Iterable[IndexEntry], *, rolled: bool) -> None:
        """Records that hours may exist, and if `rolled` that no minutes are left. Raises StorageError."""
        for batch in batched(some, MAX_OPERATIONS, strict=False):
            rows: list[Row] = [
                {"PartitionKey": account_key, "RowKey": entry.row, _HOURS: True, _ROLLED: rolled} for entry in batch
            ]
            with translated("note where a node's hours are"):
                await self._table.submit_transaction([("upsert", row, {"mode": UpdateMode.MERGE}) for row in rows])

    async def delete(self, account_key: str, some: Collection[IndexEntry]) -> None:
        """Deletes index rows. Raises StorageError if another process deletes them too."""
        await delete_rows(self._table, account_key, [entry.row for entry in some])


def task_name(job: str, task: str) -> str:
    """Returns the name under which the index has a task, in place of a node's."""
    return f"\0{job}\0{task}"


def _key(node: str, day: int, rows: BlobRows | None = None, session: int = 0) -> str:
    """Returns a row's key, or the beginning of those of a day; a node's name may have any length."""
    begin = f"{name_key(node.lower())}{SEPARATOR}{day:05x}"
    if rows is None:
        return begin
    incarnation = _GROUPED.join((rows.incarnation, rows.group)) if rows.group else rows.incarnation
    return SEPARATOR.join((begin, incarnation, f"{session:06x}"))


def _arrival(account_key: str, row: Mapping[str, Any], *, names_node: bool) -> ArrivedBlob:
    rows = _entry(account_key, row).rows
    return ArrivedBlob(rows, row[_BLOB], row.get(_FORMAT, ""), row[_POOL], names_node)


def _entry(account_key: str, row: Mapping[str, Any]) -> IndexEntry:
    _, day, incarnation, session = row["RowKey"].split(SEPARATOR)
    incarnation, _, group = incarnation.partition(_GROUPED)
    rows = BlobRows(account_key, incarnation, group)
    is_rolled, has_hours = bool(row.get(_ROLLED)), bool(row.get(_HOURS))
    return IndexEntry(row["RowKey"], int(day, 16), rows, int(session, 16), has_hours, is_rolled)
