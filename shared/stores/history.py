"""Tables of histories, whose rows outlive their resources.

Rows of an hour have a column for each minute with a sample, rows of a day for each quarter-hour. Writers merge columns
without reading: shared/domain/history/samples.py assigns samples to columns in the same way for all. A key schema
places the rows of a resource in its table.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from functools import lru_cache
from itertools import batched, groupby
from operator import itemgetter
from typing import Any

from azure.data.tables import UpdateMode

from shared.domain.core.keys import SEPARATOR, partition_of
from shared.domain.history.grains import Grain
from shared.domain.history.samples import Columns
from shared.log import logger
from shared.stores.tables.rows import MAX_OPERATIONS, Row, translated
from shared.stores.tables.tables import MAX_KEY_LENGTH, Tables, delete_rows, load_range, rows_between, rows_where
from shared.stores.tables.unreadable import NONSENSE

_LOG = logger(__name__)
_DIGITS = 7  # of the number of a row, in its key
_FIRST_ROW, _LAST_ROW = "", "~"  # before and behind the keys of all rows of a history


@dataclass(frozen=True, slots=True)
class PartitionPerResource:
    """For accounts with ten thousand resources, of which each is written by itself."""

    table: str

    def keys(self, account_key: str, resource_key: str, row: str) -> tuple[str, str]:
        """Returns the partition and row key of a resource's row; row keys end with those of `Grain.row`."""
        return partition_of(account_key, resource_key), row

    def rows_between(self, account_key: str, first: str, last: str) -> tuple[str, dict[str, Any]]:
        """Returns a filter with its parameters that selects an account's rows from `first` until before `last`.

        The filter of another schema may also select other rows of the account.
        """
        wanted = "PartitionKey ge @low and PartitionKey lt @high and RowKey ge @first and RowKey lt @last"
        low, high = account_key + SEPARATOR, account_key + chr(ord(SEPARATOR) + 1)
        return wanted, {"low": low, "high": high, "first": first, "last": last}


@dataclass(frozen=True, slots=True)
class PartitionPerAccount:
    """For resources that a round writes together, which takes few transactions only in a shared partition."""

    table: str

    def keys(self, account_key: str, resource_key: str, row: str) -> tuple[str, str]:
        return account_key, partition_of(resource_key, row)

    def rows_between(self, account_key: str, _first: str, _last: str) -> tuple[str, dict[str, Any]]:
        return "PartitionKey eq @partition", {"partition": account_key}


type KeySchema = PartitionPerResource | PartitionPerAccount
"""Where the histories of an account's resources are."""
JOB_HISTORY = PartitionPerResource("jobhistory")
POOL_HISTORY = PartitionPerAccount("poolhistory")


class HistoryStore:
    def __init__(self, tables: Tables, schema: KeySchema) -> None:
        self._table = tables[schema.table]
        self._schema = schema

    async def save(self, account_key: str, histories: Mapping[str, Mapping[str, Columns]]) -> None:
        """Merges columns into rows by key, for resources by key, in as few transactions as possible.

        Raises StorageError.
        """
        rows: list[Row] = []
        for key, found in histories.items():
            for name, columns in found.items():
                partition, row = self._schema.keys(account_key, key, name)
                rows.append({"PartitionKey": partition, "RowKey": row, **columns})
        for _, some in groupby(rows, itemgetter("PartitionKey")):
            await self._merge(some)

    async def load(
        self, account_key: str, resource_key: str, grain: Grain, *, first: str, last: str
    ) -> list[tuple[int, str]]:
        """Returns slots and texts of the rows from one key to another, both included, in order.

        `resource_key` may come from any client string.
        """
        partition, first = self._schema.keys(account_key, resource_key, first)
        partition, last = self._schema.keys(account_key, resource_key, last)
        if max(len(partition), len(last)) > MAX_KEY_LENGTH:
            return []
        return _slots_of(await load_range(self._table, partition, first, last), grain)

    async def knows(self, account_key: str, resource_key: str) -> bool:
        """Returns whether a history has any row; `resource_key` may come from any client string."""
        partition, first = self._schema.keys(account_key, resource_key, _FIRST_ROW)
        partition, last = self._schema.keys(account_key, resource_key, _LAST_ROW)
        if max(len(partition), len(last)) > MAX_KEY_LENGTH:
            return False
        async with aclosing(rows_between(self._table, partition, first, last, ["RowKey"], at_once=1)) as rows:
            return await anext(rows, None) is not None

    async def delete_before(self, account_key: str, grain: Grain, moment: int) -> int:
        """Deletes history rows of all resources of an account that ended before `moment`; returns their number.

        `moment` is in milliseconds since 1970. Raises StorageError, also if another process deletes them at the same
        time: the next run finds the rest.
        """
        first, last = grain.row(0), grain.row(grain.first_row(moment) * grain.slots)
        wanted, parameters = self._schema.rows_between(account_key, first, last)
        found = [
            (row["PartitionKey"], row["RowKey"])
            async for row in rows_where(self._table, wanted, parameters, ["PartitionKey", "RowKey"])
            if first <= row["RowKey"].rpartition(SEPARATOR)[2] < last
        ]
        for partition, keys in groupby(sorted(found), itemgetter(0)):
            await delete_rows(self._table, partition, [row for _, row in keys])
        return len(found)

    async def _merge(self, rows: Iterable[Row]) -> None:
        """Merges rows of one partition into the stored ones. Raises StorageError."""
        operations = [("upsert", row, {"mode": UpdateMode.MERGE}) for row in rows]
        for some in batched(operations, MAX_OPERATIONS, strict=False):
            with translated(f"write {self._table.table_name}"):
                await self._table.submit_transaction(some)


def reading_of[S](parse: Callable[[str], S], grain: Grain, of: str) -> Callable[[int, str], S | None]:
    """Returns a parser of history slots, which returns None for invalid text and logs it once."""

    def read(slot: int, text: str) -> S | None:
        try:
            return parse(text)
        except NONSENSE as error:
            _warn(of, grain.row(slot), grain.column(slot), str(error) or type(error).__name__)
            return None

    return read


@lru_cache(maxsize=1000)
def _warn(of: str, row: str, column: str, why: str) -> None:
    """Logs each cell once, as every request may read it."""
    _LOG.warning("The history of %s has a gap: %s of the row '%s' can't be read: %s", of, column, row, why)


def _slots_of(rows: Mapping[str, Row], grain: Grain) -> list[tuple[int, str]]:
    """Returns slots and texts of one history's rows, in order; the last seven digits of a key are the row's number."""
    columns = [(grain.column(slot), slot) for slot in range(grain.slots)]
    found: list[tuple[int, str]] = []
    for key in sorted(rows):
        row, begun = rows[key], int(key[-_DIGITS:]) * grain.slots
        found += [(begun + slot, row[column]) for column, slot in columns if column in row]
    return found
