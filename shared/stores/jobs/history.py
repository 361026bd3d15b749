"""The table `jobhistory`: one partition per job, which outlives the job's generations and the job.

Rows of an hour have a column for each minute with a sample, rows of a day for each quarter-hour. Writers merge columns
without reading: shared/domain/history/samples.py assigns samples to columns in the same way for all.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from itertools import batched, groupby
from operator import itemgetter

from azure.data.tables import UpdateMode
from azure.data.tables.aio import TableClient

from shared.domain.core.keys import SEPARATOR, partition_of
from shared.domain.history.grains import Grain
from shared.domain.history.samples import Columns
from shared.log import logger
from shared.stores.tables.pages import items_of
from shared.stores.tables.tables import MAX_KEY_LENGTH, MAX_OPERATIONS, Row, Tables, delete_rows, load_range, translated
from shared.stores.tables.unreadable import NONSENSE

_LOG = logger(__name__)
_DIGITS = 7  # of the number of a row, in its key
FIRST_ROW, LAST_ROW = "", "~"  # before and behind the keys of all rows of a history


class HistoryStore:
    def __init__(self, tables: Tables) -> None:
        self._table = tables["jobhistory"]

    async def save(self, account_key: str, job_key: str, rows: Mapping[str, Columns]) -> None:
        """Merges columns into rows by key, in as few transactions as possible. Raises StorageError."""
        keys = {"PartitionKey": partition_of(account_key, job_key)}
        await merge_rows(self._table, [{**keys, "RowKey": row, **columns} for row, columns in rows.items()])

    async def load(
        self, account_key: str, job_key: str, grain: Grain, *, first: str, last: str
    ) -> list[tuple[int, str]]:
        """Returns slots and texts of the rows from one key to another, both included, in order.

        `job_key` may come from any client string.
        """
        partition = partition_of(account_key, job_key)
        if len(partition) > MAX_KEY_LENGTH:
            return []
        return slots_of(await load_range(self._table, partition, first, last), grain)

    async def knows(self, account_key: str, job_key: str) -> bool:
        """Returns whether a job's history has any row; `job_key` may come from any client string."""
        partition = partition_of(account_key, job_key)
        return await has_rows(self._table, partition, FIRST_ROW, LAST_ROW)

    async def delete_before(self, account_key: str, grain: Grain, moment: int) -> int:
        """Deletes history rows of all jobs of an account that ended before `moment`; returns their number.

        `moment` is in milliseconds since 1970. Raises StorageError, also if another process deletes them at the same
        time: the next run finds the rest.
        """
        with translated("read the history of all jobs"):
            rows = self._table.query_entities(
                "PartitionKey ge @low and PartitionKey lt @high and RowKey ge @first and RowKey lt @last",
                parameters={
                    "low": account_key + SEPARATOR,
                    "high": account_key + chr(ord(SEPARATOR) + 1),
                    "first": grain.row(0),
                    "last": grain.row(grain.first_row(moment) * grain.slots),
                },
                select=["PartitionKey", "RowKey"],
            )
            found = sorted([(row["PartitionKey"], row["RowKey"]) async for row in items_of(rows)])
        for partition, keys in groupby(found, itemgetter(0)):
            await delete_rows(self._table, partition, [row for _, row in keys])
        return len(found)


async def merge_rows(table: TableClient, rows: Iterable[Row]) -> None:
    """Merges rows of one partition into the stored ones, in as few transactions as possible.

    Raises StorageError.
    """
    operations = [("upsert", row, {"mode": UpdateMode.MERGE}) for row in rows]
    for some in batched(operations, MAX_OPERATIONS, strict=False):
        with translated(f"write {table.table_name}"):
            await table.submit_transaction(some)


async def has_rows(table: TableClient, partition: str, first: str, last: str) -> bool:
    """Returns whether a partition has a row from one key to another. Raises StorageError."""
    if max(len(partition), len(last)) > MAX_KEY_LENGTH:
        return False
    with translated(f"read {table.table_name}"):
        rows = table.query_entities(
            "PartitionKey eq @partition and RowKey ge @first and RowKey le @last",
            parameters={"partition": partition, "first": first, "last": last},
            select=["RowKey"],
            results_per_page=1,
        )
        async for _ in items_of(rows):
            return True
    return False


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


def slots_of(rows: Mapping[str, Row], grain: Grain) -> list[tuple[int, str]]:
    """Returns slots and texts of one history's rows, in order; the last seven digits of a key are the row's number."""
    columns = [(grain.column(slot), slot) for slot in range(grain.slots)]
    found: list[tuple[int, str]] = []
    for key in sorted(rows):
        row, begun = rows[key], int(key[-_DIGITS:]) * grain.slots
        found += [(begun + slot, row[column]) for column, slot in columns if column in row]
    return found
