"""Table Storage: opening tables, and its errors in our words. The stores beside this module give the rows a meaning."""

import asyncio
import zlib
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from itertools import batched
from typing import Any

import orjson
from azure.core import MatchConditions
from azure.core.credentials_async import AsyncTokenCredential
from azure.core.exceptions import (
    AzureError,
    HttpResponseError,
    ResourceExistsError,
    ResourceNotFoundError,
    ServiceRequestError,
    ServiceResponseError,
)
from azure.data.tables import EdmType, EntityProperty, UpdateMode
from azure.data.tables.aio import TableClient, TableServiceClient

from shared.errors import CacheConflictError, StorageError, StorageUnavailableError
from shared.stores.tables.pages import items_of
from shared.stores.tables.table_transport import Asking, TableTransport
from shared.stores.tables.time_limit import LIMIT

type Row = dict[str, Any]
NAMES = (
    "accounts", "jobs", "jobhistory", "poolhistory", "tasks", "operations", "pools", "nodes", "jobschedules",
    "blobs", "events", "rejects", "telemetry", "nodeindex",
)  # fmt: skip
_MOST_WHOLE = 1 << 31
MOST_BINARY = 64 * 1024  # bytes of a binary property
_CONFLICTS, _BUSY = (409, 412), (429, 500, 502, 503, 504)
_CONNECT_SECONDS = 10
MOST_OPERATIONS = 100  # of a transaction
LONGEST_KEY = 512  # of 1 KiB in UTF-16
_DEVELOPMENT = (  # Azurite's published account on its default port, which this library doesn't know by its short name
    "DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;AccountKey="
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==;"
    "TableEndpoint=http://127.0.0.1:10002/devstoreaccount1;"
)


class Tables:
    """The app's tables in one storage account, opened once per process."""

    def __init__(self, service: TableServiceClient, prefix: str, transport: TableTransport) -> None:
        self._service = service
        self._prefix = prefix
        self._transport = transport

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
        """`asking` is called before each request; what it gives is called with the date of the answer.

        `limit` is how long storage may say nothing; after that no request is sent again.

        The SDK makes its pauses all the same, some five seconds, so it takes that much longer than `limit`, or up to
        twice that where attempts before it failed in another way.
        """
        if (connection_string or "").rstrip("; ").lower() == "usedevelopmentstorage=true":
            connection_string = _DEVELOPMENT
        seconds = limit.total_seconds()
        transport = TableTransport(asking, connection_timeout=_CONNECT_SECONDS, read_timeout=seconds)
        options: Any = {"transport": transport, "timeout": seconds}
        if connection_string:
            service = TableServiceClient.from_connection_string(connection_string, **options)
        else:
            service = TableServiceClient(endpoint or "", credential=credential, **options)
        return cls(service, prefix, transport)

    def writes(self, names: Collection[str] | None = None) -> int:
        """How many writes of this process were answered so far: to some tables, or to any.

        Two equal ones have nothing written in between. Where its table isn't known, a write is one to each.
        """
        others = set() if names is None else {self._prefix + name for name in NAMES if name not in names}
        return sum(number for table, number in self._transport.writes.items() if table not in others)

    async def create(self) -> None:
        """Creates what is missing. Raises StorageError."""
        with translated("create the tables"):
            await asyncio.gather(*(self._service.create_table_if_not_exists(self._prefix + name) for name in NAMES))

    def __getitem__(self, name: str) -> TableClient:
        return self._service.get_table_client(self._prefix + name)

    async def close(self) -> None:
        await self._service.close()


@contextmanager
def translated(intent: str) -> Iterator[None]:
    """Turns what the SDK raises into CacheConflictError (412, 409) or StorageError, saying what was being done."""
    try:
        yield
    except HttpResponseError as error:
        if error.status_code in _CONFLICTS:
            raise CacheConflictError(f"Another writer was first: {intent}.") from error
        if error.status_code in _BUSY:
            raise StorageUnavailableError(intent, _first_line(error)) from error
        raise StorageError(f"Table Storage refused to {intent}: {_first_line(error)}") from error
    except (ServiceRequestError, ServiceResponseError, TimeoutError, ConnectionError) as error:
        raise StorageUnavailableError(intent, _first_line(error)) from error
    except AzureError as error:
        raise StorageError(f"Table Storage didn't {intent}: {_first_line(error)}") from error


async def load_row(table: TableClient, partition: str, row: str) -> Row | None:
    """One row with its `etag`, or None where there is none, as under a key longer than any key may be."""
    if len(row) > LONGEST_KEY:
        return None
    try:
        with translated(f"read {table.table_name}"):
            entity = await table.get_entity(partition, row)
    except StorageError as error:
        cause = error.__cause__
        if isinstance(cause, ResourceNotFoundError) and getattr(cause, "error_code", None) != "TableNotFound":
            return None
        raise
    return with_etag(entity)


async def written_at(table: TableClient, partition: str, row: str, etag: str) -> datetime | None:
    """When storage took a row in, by its own clock; None where it isn't any more what `etag` says."""
    try:
        with translated(f"read {table.table_name}"):
            metadata = (await table.get_entity(partition, row)).metadata
    except StorageError as error:
        if isinstance(error.__cause__, ResourceNotFoundError):
            return None
        raise
    return metadata["timestamp"] if metadata["etag"] == etag else None


async def load_rows(table: TableClient, partition: str, select: list[str] | None = None) -> list[Row]:
    """All rows of a partition, each with its `etag`."""
    with translated(f"read {table.table_name}"):
        found = table.query_entities("PartitionKey eq @partition", parameters={"partition": partition}, select=select)
        return [with_etag(entity) async for entity in items_of(found)]


async def load_range(table: TableClient, partition: str, first: str, last: str) -> dict[str, Row]:
    """The rows of a partition from one key to another, both included, by key, each with its `etag`."""
    with translated(f"read {table.table_name}"):
        found = table.query_entities(
            "PartitionKey eq @partition and RowKey ge @first and RowKey le @last",
            parameters={"partition": partition, "first": first, "last": last},
        )
        return {entity["RowKey"]: with_etag(entity) async for entity in items_of(found)}


async def save_row(table: TableClient, row: Row, etag: str | None) -> str:
    """Writes a whole row if it still is as `etag` says, or isn't there where `etag` is None; gives the new ETag.

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
    """Deletes a row if it still is as `etag` says; one that is gone is as good. Raises CacheConflictError."""
    with translated(f"delete a row of {table.table_name}"):
        await table.delete_entity(partition, row, etag=etag, match_condition=MatchConditions.IfNotModified)


async def delete_partition(table: TableClient, partition: str) -> int:
    """Deletes all rows of a partition; gives how many there were. Raises StorageError if another deletes them, too."""
    found = await load_rows(table, partition, ["RowKey"])
    await delete_rows(table, partition, [row["RowKey"] for row in found])
    return len(found)


async def delete_rows(table: TableClient, partition: str, rows: Iterable[str]) -> None:
    """Deletes rows of a partition, whatever they hold. Raises StorageError if another deletes them, too."""
    for some in batched(rows, MOST_OPERATIONS, strict=False):
        with translated(f"delete rows of {table.table_name}"):
            await table.submit_transaction([("delete", {"PartitionKey": partition, "RowKey": row}) for row in some])


async def load_partitions(table: TableClient, prefix: str) -> list[str]:
    """The partitions whose keys begin with `prefix`, which ends in the keys' separator."""
    with translated(f"read {table.table_name}"):
        found = table.query_entities(
            "PartitionKey ge @low and PartitionKey lt @high",
            parameters={"low": prefix, "high": prefix[:-1] + chr(ord(prefix[-1]) + 1)},
            select=["PartitionKey"],
        )
        return sorted({entity["PartitionKey"] async for entity in items_of(found)})


def with_etag(entity: Any) -> Row:
    """A row as a plain dict: times as plain datetimes, as the SDK's own kind carries a note of dropped digits.

    Numbers of 64 bits, which bear their type there, are plain ones, too.
    """
    row = {name: _plain(value) for name, value in entity.items()}
    return {**row, "etag": entity.metadata["etag"]}


def whole(number: int) -> int | EntityProperty:
    """A number of 64 bits as a property, which is one of 32 bits where nothing else is said."""
    return number if number < _MOST_WHOLE else EntityProperty(number, EdmType.INT64)


def bytes_columns(name: str, value: bytes) -> Row:
    """Bytes of any length in as many properties `name0`, `name1`… as it takes."""
    return {f"{name}{at // MOST_BINARY}": value[at : at + MOST_BINARY] for at in range(0, len(value), MOST_BINARY)}


def bytes_of(row: Row, name: str) -> bytes:
    """What `bytes_columns` put into a row, nothing where it isn't there."""
    found = b""
    while chunk := row.get(f"{name}{len(found) // MOST_BINARY}"):
        found += chunk
        if len(chunk) < MOST_BINARY:
            break
    return found


def json_columns(name: str, value: Any) -> Row:
    """A value of any length as JSON, compressed, in as many properties `name0`, `name1`… as it takes."""
    return bytes_columns(name, zlib.compress(orjson.dumps(value), 1))


def json_of(row: Row, name: str) -> Any:
    """What `json_columns` put into a row, None where it isn't there."""
    packed = bytes_of(row, name)
    return orjson.loads(zlib.decompress(packed)) if packed else None


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return datetime.combine(value.date(), value.timetz())
    return value.value if isinstance(value, EntityProperty) else value


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
