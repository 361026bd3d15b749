"""The table `jobhistory`: a partition a job, which outlives the job's generations and the job itself.

Rows of an hour have a column for each minute that something was sampled in, rows of a day for each quarter-hour. They
are merged into blindly: what stands where, shared/domain/samples.py decides, and it is the same for every writer.
"""

from collections.abc import Mapping
from itertools import batched, groupby
from operator import itemgetter

from azure.data.tables import UpdateMode

from shared.domain.keys import SEPARATOR, partition_of
from shared.domain.samples import Columns, Grain
from shared.stores.tables import LONGEST_KEY, MOST_OPERATIONS, Tables, delete_rows, translated


class HistoryStore:
    def __init__(self, tables: Tables) -> None:
        self._table = tables["jobhistory"]

    async def save(self, account_key: str, job_key: str, rows: Mapping[str, Columns]) -> None:
        """Merges columns into rows, by their keys, in one transaction of as many as fit. Raises StorageError."""
        keys = {"PartitionKey": partition_of(account_key, job_key)}
        operations = [
            ("upsert", {**keys, "RowKey": row, **columns}, {"mode": UpdateMode.MERGE}) for row, columns in rows.items()
        ]
        for some in batched(operations, MOST_OPERATIONS, strict=False):
            with translated("write the history of a job"):
                await self._table.submit_transaction(some)

    async def load(
        self, account_key: str, job_key: str, grain: Grain, *, first: str, last: str
    ) -> list[tuple[int, str]]:
        """What stands in the rows from one key to another, both included: slots and texts, in order.

        `job_key` may be that of anything that a client sent.
        """
        partition = partition_of(account_key, job_key)
        if len(partition) > LONGEST_KEY:
            return []
        columns = [(grain.column(slot), slot) for slot in range(grain.slots)]
        found: list[tuple[int, str]] = []
        with translated("read the history of a job"):
            rows = self._table.query_entities(
                "PartitionKey eq @partition and RowKey ge @first and RowKey le @last",
                parameters={"partition": partition, "first": first, "last": last},
            )
            async for row in rows:
                begun = int(row["RowKey"][1:]) * grain.slots
                found += [(begun + slot, row[column]) for column, slot in columns if column in row]
        return found

    async def delete_before(self, account_key: str, grain: Grain, moment: int) -> int:
        """Deletes the rows of all jobs of an account that were over by then, in milliseconds since 1970; how many.

        Raises StorageError, also where another does the same at once: the next run finds the rest.
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
            found = sorted([(row["PartitionKey"], row["RowKey"]) async for row in rows])
        for partition, keys in groupby(found, itemgetter(0)):
            await delete_rows(self._table, partition, [row for _, row in keys])
        return len(found)
