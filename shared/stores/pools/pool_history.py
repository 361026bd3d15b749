"""The table `poolhistory`: one partition per account, with the rows of each pool, which outlive the pool.

Rows and columns are those of the job history. A round may change a hundred pools, which need few transactions only in a
shared partition. Jobs have partitions of their own, as an account may have ten thousand.
"""

from collections.abc import AsyncIterator, Mapping

from shared.domain.core.keys import SEPARATOR, partition_of
from shared.domain.history.grains import Grain
from shared.domain.history.samples import Columns
from shared.stores.jobs.history import FIRST_ROW, LAST_ROW, has_rows, merge_rows, slots_of
from shared.stores.tables.pages import items_of
from shared.stores.tables.tables import MAX_KEY_LENGTH, Tables, delete_rows, load_range, translated


class PoolHistoryStore:
    def __init__(self, tables: Tables) -> None:
        self._table = tables["poolhistory"]

    async def save_all(self, account_key: str, pools: Mapping[str, Mapping[str, Columns]]) -> None:
        """Merges columns into rows by key, for pools by key. Raises StorageError."""
        rows = [
            {"PartitionKey": account_key, "RowKey": partition_of(pool_key, row), **columns}
            for pool_key, found in pools.items()
            for row, columns in found.items()
        ]
        await merge_rows(self._table, rows)

    async def load(
        self, account_key: str, pool_key: str, grain: Grain, *, first: str, last: str
    ) -> list[tuple[int, str]]:
        """Returns slots and texts of the rows from one key to another, both included, in order.

        `pool_key` may come from any client string.
        """
        first, last = partition_of(pool_key, first), partition_of(pool_key, last)
        if len(last) > MAX_KEY_LENGTH:
            return []
        return slots_of(await load_range(self._table, account_key, first, last), grain)

    async def knows(self, account_key: str, pool_key: str) -> bool:
        """Returns whether a pool's history has any row; `pool_key` may come from any client string."""
        first, last = partition_of(pool_key, FIRST_ROW), partition_of(pool_key, LAST_ROW)
        return await has_rows(self._table, account_key, first, last)

    async def delete_before(self, account_key: str, grain: Grain, moment: int) -> int:
        """Deletes history rows of all pools of an account that ended before `moment`; returns their number.

        `moment` is in milliseconds since 1970. Raises StorageError, also if another process deletes them at the same
        time: the next run finds the rest.
        """
        oldest = grain.row(grain.first_row(moment) * grain.slots)
        over = [key async for key, row in self._keys(account_key) if row[0] == oldest[0] and row < oldest]
        await delete_rows(self._table, account_key, over)
        return len(over)

    async def _keys(self, account_key: str) -> AsyncIterator[tuple[str, str]]:
        """Yields every row's key, and its part after the pool; there may be a hundred thousand."""
        with translated("read the history of all pools"):
            rows = self._table.query_entities(
                "PartitionKey eq @partition", parameters={"partition": account_key}, select=["RowKey"]
            )
            async for row in items_of(rows):
                yield row["RowKey"], row["RowKey"].rpartition(SEPARATOR)[2]
