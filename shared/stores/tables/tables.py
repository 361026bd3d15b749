"""Opens tables in Table Storage, and reads and writes their rows; the other stores define these."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Collection, Iterable
from contextlib import aclosing
from datetime import datetime, timedelta
from functools import cache, partial
from itertools import batched
from typing import Any

from azure.core import MatchConditions
from azure.core.credentials_async import AsyncTokenCredential
from azure.core.exceptions import (
    ResourceExistsError,
    ResourceNotFoundError,
)
from azure.data.tables import TableEntity, UpdateMode
from azure.data.tables.aio import TableClient, TableServiceClient

from shared.errors import CacheConflictError, StorageError
from shared.stores.proxies import has_proxies
from shared.stores.tables.pages import pages_of
from shared.stores.tables.row_decoding import RowReader
from shared.stores.tables.rows import MAX_OPERATIONS, Row, translated
from shared.stores.tables.table_requests import (
    WHOLE,
    Asking,
    TableTransport,
    TransactionClient,
    is_sharing,
    keep,
    kept,
    kept_row,
)
from shared.stores.tables.time_limit import LIMIT

NAMES = (
    "accounts", "jobs", "jobhistory", "poolhistory", "tasks", "operations", "pools", "nodes", "jobschedules",
    "blobs", "events", "rejects", "telemetry", "nodeindex", "pooltelemetry", "attempts", "prices", "usage", "outputs",
)  # fmt: skip
_CONNECT_SECONDS = 10
MAX_KEY_LENGTH = 512  # of 1 KiB in UTF-16
_DEVELOPMENT = (  # Azurite's published account on its default port, which this library doesn't know by its short name
    "DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;AccountKey="
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==;"
    "TableEndpoint=http://127.0.0.1:10002/devstoreaccount1;"
)


class Tables:
    """The app's tables in one storage account, opened once per process."""

    def __init__(
        self,
        service: TableServiceClient,
        prefix: str,
        transport: TableTransport,
        client_of: Callable[[str], TableClient],
    ) -> None:
        self._service = service
        self._prefix = prefix
        self._transport = transport
        self._client_of = cache(client_of)

    @classmethod
    def connect(
        cls,
        *,
        connection_string: str | None,
        endpoint: str | None,
        credential: AsyncTokenCredential | None,
        prefix: str,
        limit: timedelta = LIMIT,
        asking: Asking | None = None,
    ) -> "Tables":
        """Returns the tables; `limit` is how long storage may send nothing before retries end.

        `asking` is called before each request, and its result with the date of the response. The SDK still makes its
        pauses of about five seconds. So a failure takes that much longer than `limit`, or up to twice that if earlier
        attempts failed in another way.
        """
        if (connection_string or "").rstrip("; ").lower() == "usedevelopmentstorage=true":
            connection_string = _DEVELOPMENT
        seconds = limit.total_seconds()
        transport = TableTransport(
            asking, connection_timeout=_CONNECT_SECONDS, read_timeout=seconds, trust_env=has_proxies()
        )
        options: Any = {"transport": transport, "timeout": seconds}
        client_of: Callable[[str], TableClient]
        if connection_string:
            service = TableServiceClient.from_connection_string(connection_string, **options)
            client_of = partial(TransactionClient.from_connection_string, connection_string, **options)
        else:
            service = TableServiceClient(endpoint or "", credential=credential, **options)
            client_of = partial(TransactionClient, endpoint or "", credential=credential, **options)
        return cls(service, prefix, transport, client_of)

    def writes(self, names: Collection[str] | None = None) -> int:
        """Returns how many writes of this process were answered so far, to some tables or to any.

        Between two equal results nothing was written. A write to an unknown table counts for each.
        """
        others = set() if names is None else {self._prefix + name for name in NAMES if name not in names}
        return sum(number for table, number in self._transport.writes.items() if table not in others)

    async def create(self) -> None:
        """Creates missing tables. Raises StorageError."""
        with translated("create the tables"):
            await asyncio.gather(*(self._service.create_table_if_not_exists(self._prefix + name) for name in NAMES))

    def __getitem__(self, name: str) -> TableClient:
        return self._client_of(self._prefix + name)

    async def close(self) -> None:
        await self._service.close()


async def load_row(
    table: TableClient, partition: str, row: str, intent: str | None = None, *, select: list[str] | None = None
) -> Row | None:
    """Returns one row with its `etag`, or None, also for a key beyond the maximum length; errors name the `intent`."""
    reader, intent = RowReader(listed=False), intent or f"read {table.table_name}"
    key = (partition, row, *(select or ()))
    rows = kept(table.table_name, *key) if select else kept_row(table.table_name, partition, row)
    if rows is not None:
        return rows[0] if rows else None
    if len(row) > MAX_KEY_LENGTH:
        return None
    found = await _entity(table, partition, row, intent, raw_response_hook=reader, select=select)
    with translated(intent):
        rows = reader.decode()[:1] if found else []
    keep(rows, table.table_name, *key)
    return rows[0] if rows else None


async def written_at(table: TableClient, partition: str, row: str, etag: str) -> datetime | None:
    """Returns when storage wrote a row, by its own clock; None if the row's ETag is no longer `etag`."""
    entity = await _entity(table, partition, row, f"read {table.table_name}")
    return entity.metadata["timestamp"] if entity and entity.metadata["etag"] == etag else None


async def _entity(table: TableClient, partition: str, row: str, intent: str, **options: Any) -> TableEntity | None:
    try:
        with translated(intent):
            return await table.get_entity(partition, row, **options)
    except StorageError as error:
        cause = error.__cause__
        if isinstance(cause, ResourceNotFoundError) and getattr(cause, "error_code", None) != "TableNotFound":
            return None
        raise


async def load_rows(table: TableClient, partition: str, select: list[str] | None = None) -> list[Row]:
    """Returns all rows of a partition, each with its `etag`."""
    return [row async for row in rows_where(table, WHOLE, {"partition": partition}, select)]


async def load_range(table: TableClient, partition: str, first: str, last: str) -> dict[str, Row]:
    """Returns the rows of a partition from one key to another, both included, by key, each with its `etag`."""
    wanted = "PartitionKey eq @partition and RowKey ge @first and RowKey le @last"
    rows = rows_where(table, wanted, {"partition": partition, "first": first, "last": last})
    return {row["RowKey"]: row async for row in rows}


def rows_between(
    table: TableClient,
    partition: str,
    first: str,
    last: str,
    select: list[str] | None = None,
    *,
    at_once: int | None = None,
) -> AsyncGenerator[Row]:
    """Yields rows with keys from `first` to before `last`, in order, each with its `etag`; `at_once` in a response."""
    wanted = "PartitionKey eq @partition and RowKey ge @first and RowKey lt @last"
    return rows_where(table, wanted, {"partition": partition, "first": first, "last": last}, select, at_once=at_once)


async def rows_where(
    table: TableClient,
    wanted: str,
    parameters: dict[str, Any],
    select: list[str] | None = None,
    *,
    at_once: int | None = None,
) -> AsyncGenerator[Row]:
    """Yields the rows that match a filter, in order, each with its `etag`; `at_once` in a response."""
    key, reader = (wanted, *parameters.values(), *(select or ()), at_once), RowReader(listed=True)
    if (rows := kept(table.table_name, *key)) is not None:
        for row in rows:
            yield row
        return
    rows, is_kept = list[Row](), is_sharing(table.table_name)
    with translated(f"read {table.table_name}"):
        found = table.query_entities(
            wanted, parameters=parameters, select=select, results_per_page=at_once, raw_response_hook=reader
        )
        async with aclosing(pages_of(found)) as pages:
            async for _ in pages:
                some = reader.decode()
                rows += some if is_kept else ()
                for row in some:
                    yield row
    keep(rows, table.table_name, *key)


async def save_row(table: TableClient, row: Row, etag: str | None) -> str:
    """Writes a whole row if its ETag is still `etag`, or if it doesn't exist and `etag` is None; returns the new ETag.

    Raises CacheConflictError.
    """
    with translated(f"write {table.table_name}"):
        try:
            if etag is None:
                answer = await table.create_entity(row)
            else:
                answer = await table.update_entity(
                    row, mode=UpdateMode.REPLACE, etag=etag, match_condition=MatchConditions.IfNotModified
                )
        except (ResourceExistsError, ResourceNotFoundError) as error:
            raise CacheConflictError(f"Another writer was first: write {table.table_name}.") from error
    return str(answer["etag"])


async def delete_row(table: TableClient, partition: str, row: str, etag: str) -> None:
    """Deletes a row if its ETag is still `etag`; a missing row is no error. Raises CacheConflictError."""
    with translated(f"delete a row of {table.table_name}"):
        await table.delete_entity(partition, row, etag=etag, match_condition=MatchConditions.IfNotModified)


async def delete_partition(table: TableClient, partition: str) -> int:
    """Deletes all rows of a partition; returns their number.

    Raises StorageError if another process deletes them too.
    """
    found = await load_rows(table, partition, ["RowKey"])
    await delete_rows(table, partition, [row["RowKey"] for row in found])
    return len(found)


async def delete_rows(table: TableClient, partition: str, rows: Iterable[str]) -> None:
    """Deletes rows of a partition without ETags. Raises StorageError if another process deletes them too."""
    for some in batched(rows, MAX_OPERATIONS, strict=False):
        with translated(f"delete rows of {table.table_name}"):
            await table.submit_transaction([("delete", {"PartitionKey": partition, "RowKey": row}) for row in some])


async def load_partitions(table: TableClient, prefix: str) -> list[str]:
    """Returns the partitions whose keys begin with `prefix`, which ends in the keys' separator."""
    bounds = {"low": prefix, "high": prefix[:-1] + chr(ord(prefix[-1]) + 1)}
    rows = rows_where(table, "PartitionKey ge @low and PartitionKey lt @high", bounds, ["PartitionKey"])
    return sorted({row["PartitionKey"] async for row in rows})
