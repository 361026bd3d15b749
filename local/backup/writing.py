"""Writes rows to tables in transactions, deletes all rows of tables, and counts and hashes the content of tables."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from contextlib import aclosing
from itertools import batched, groupby
from operator import itemgetter

from azure.data.tables import UpdateMode
from azure.data.tables.aio import TableClient

from local.backup.plan import TablePlan
from local.backup.reading import Query, pages
from local.backup.rows import Row, added, as_text, hash_of, line_of, row_of

_AT_ONCE = 8  # transactions
_OPERATIONS = 100  # per transaction
_BYTES = 3_000_000  # of 4 MiB, as the wire form adds more to each row than a line
_OVERHEAD = 600  # bytes of an operation besides its row
MARK = "!restore"
"""The partition of the table `operations` in which a restore records its progress."""


async def write_lines(table: TableClient, lines: Iterable[bytes]) -> None:
    """Writes rows, replacing those with the same keys, in parallel transactions. Raises the SDK's first error."""
    gate = asyncio.Semaphore(_AT_ONCE)

    async def write(rows: Sequence[Row]) -> None:
        async with gate:
            await table.submit_transaction([("upsert", row, {"mode": UpdateMode.REPLACE}) for row in rows])

    try:
        async with asyncio.TaskGroup() as group:
            for rows in _transactions(lines):
                group.create_task(write(rows))
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None


def _transactions(lines: Iterable[bytes]) -> Iterator[list[Row]]:
    """Yields rows in groups of one partition that fit into a transaction."""
    rows: list[Row] = []
    size = 0
    for line in lines:
        row = row_of(line)
        is_other = bool(rows) and row["PartitionKey"] != rows[0]["PartitionKey"]
        if rows and (is_other or len(rows) == _OPERATIONS or size + len(line) + _OVERHEAD > _BYTES):
            yield rows
            rows, size = [], 0
        rows.append(row)
        size += len(line) + _OVERHEAD
    if rows:
        yield rows


async def is_empty(table: TableClient) -> bool:
    """Returns whether a table holds no row, ignoring the progress of a restore."""
    query = Query("PartitionKey ne @mark", {"mark": MARK})
    async with aclosing(pages(table, query, 1, ["PartitionKey"])) as found:
        return await anext(found, None) is None


async def clear(table: TableClient) -> int:
    """Deletes all rows of a table except the progress of a restore; returns their number."""
    count = 0
    query = Query("PartitionKey ne @mark", {"mark": MARK})
    while True:
        async with aclosing(pages(table, query, 1000, ["PartitionKey", "RowKey"])) as found:
            keys = [(entity["PartitionKey"], entity["RowKey"]) for entity in await anext(found, [])]
        if not keys:
            return count
        for partition, some in groupby(keys, key=itemgetter(0)):
            for rows in batched((row for _, row in some), _OPERATIONS, strict=False):
                await table.submit_transaction([("delete", {"PartitionKey": partition, "RowKey": row}) for row in rows])
        count += len(keys)


async def counted(table: TableClient, plan: TablePlan) -> tuple[int, str]:
    """Returns the number of a table's rows and their hash, without the progress of a restore."""
    rows = total = 0
    async with aclosing(pages(table, Query("PartitionKey ne @mark", {"mark": MARK}), plan.page)) as found:
        async for page in found:
            for entity in page:
                rows += 1
                total = added(total, hash_of(line_of(entity)))
    return rows, as_text(total)
