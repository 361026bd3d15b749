"""Rows: the columns that hold their values, the operations that write them, and storage's errors as ours.

The other stores define what is in a row. A unit is the rows of one resource, a pool or its nodes, under their ETags. As
many units as fit share a transaction, as a round changes a hundred pools. A transaction fails as a whole, so after a
conflict each of its units is written again alone.
"""

import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import orjson
from azure.core import MatchConditions
from azure.core.exceptions import AzureError, HttpResponseError, ServiceRequestError, ServiceResponseError
from azure.data.tables import EdmType, EntityProperty, UpdateMode
from azure.data.tables.aio import TableClient

from shared.errors import CacheConflictError, StorageError, StorageUnavailableError

type Row = dict[str, Any]
type Operation = tuple[Any, ...]
type Unit = Sequence[Operation]
type Etags = dict[str, str]
_MAX_WHOLE = 1 << 31
MAX_BINARY = 64 * 1024  # bytes of a binary property
MAX_OPERATIONS = 100
MAX_BYTES = 3_000_000  # of 4 MiB, as the wire form is base64 in JSON in a multipart body
_OVERHEAD = 1500  # bytes of an operation beside its binary properties
_GONE = 404
_CONFLICTS, _BUSY = (409, 412), (429, 500, 502, 503, 504)


def row_of(partition: str, key: str, columns: Row) -> Row:
    """Returns a row of the columns that have a value."""
    return {
        "PartitionKey": partition,
        "RowKey": key,
        **{name: value for name, value in columns.items() if value is not None},
    }


def columns_of(stored: object, names: Mapping[str, str]) -> Row:
    """Returns the columns of an object's fields, whose `names` are by field."""
    return {column: getattr(stored, field) for field, column in names.items()}


def known_columns_of(stored: object, names: Mapping[str, str]) -> Row:
    """Returns the columns of an object's fields without those that are None, numbers of 64 bits with their type."""
    found = columns_of(stored, names)
    return {column: whole(one) if isinstance(one, int) else one for column, one in found.items() if one is not None}


def fields_of(row: Row, names: Mapping[str, str], required: Collection[str] = ()) -> dict[str, Any]:
    """Returns the fields written by `columns_of`, without those that the row lacks.

    Raises KeyError if it lacks one of the `required` fields.
    """
    return {field: row[column] for field, column in names.items() if column in row or field in required}


def whole(number: int) -> int | EntityProperty:
    """Returns a property for a number, with a type if it needs 64 bits, as untyped ones have 32."""
    return number if number < _MAX_WHOLE else EntityProperty(number, EdmType.INT64)


def bytes_columns(name: str, value: bytes) -> Row:
    """Returns bytes of any length as properties `name0`, `name1`…."""
    return {f"{name}{at // MAX_BINARY}": value[at : at + MAX_BINARY] for at in range(0, len(value), MAX_BINARY)}


def bytes_of(row: Row, name: str) -> bytes:
    """Returns the bytes written by `bytes_columns`, empty if the row has none."""
    found = b""
    while chunk := row.get(f"{name}{len(found) // MAX_BINARY}"):
        found += chunk
        if len(chunk) < MAX_BINARY:
            break
    return found


def json_columns(name: str, value: Any) -> Row:
    """Returns a value of any length as compressed JSON in properties `name0`, `name1`…."""
    return bytes_columns(name, zlib.compress(orjson.dumps(value), 1))


def json_of(row: Row, name: str) -> Any:
    """Returns the value written by `json_columns`, None if the row has none."""
    packed = bytes_of(row, name)
    return orjson.loads(zlib.decompress(packed)) if packed else None


def objects_of(row: Row, *names: str) -> list[dict[str, Any]]:
    """Returns the JSON objects written by `json_columns` under these names, empty ones where the row has none."""
    return [json_of(row, name) or {} for name in names]


@contextmanager
def translated(intent: str) -> Iterator[None]:
    """Raises CacheConflictError (412, 409) or StorageError with the `intent` for errors of the SDK."""
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


def written(row: Row, etag: str | None) -> Operation:
    """Returns an operation that writes a whole row if its ETag is still `etag`, or if it doesn't exist (None)."""
    if etag is None:
        return ("create", row)
    return ("update", row, {"mode": UpdateMode.REPLACE, **_condition(etag)})


def deleted(partition: str, row: str, etag: str) -> Operation:
    """Returns an operation that deletes a row if its ETag is still `etag`."""
    return ("delete", {"PartitionKey": partition, "RowKey": row}, _condition(etag))


async def write_units(table: TableClient, units: Sequence[Unit]) -> list[Etags | CacheConflictError]:
    """Writes units of one partition; returns the new ETags of each by row key, or its conflict.

    A unit that is larger than a transaction takes several, in order. Raises StorageError.
    """
    done: list[Etags | CacheConflictError] = []
    for group in transactions(units):
        try:
            done += await _write(table, group)
        except CacheConflictError as error:
            done += [error] if len(group) == 1 else [await _write_alone(table, unit) for unit in group]
    return done


async def write_at_once(table: TableClient, unit: Unit) -> Etags:
    """Writes a unit in one transaction. Raises CacheConflictError, StorageError.

    Raises ValueError for an oversized unit, which is a defect of the caller.
    """
    if len(unit) > MAX_OPERATIONS:
        raise ValueError(f"{len(unit)} operations are more than a transaction holds")
    return await _submit(table, unit)


async def _write_alone(table: TableClient, unit: Unit) -> Etags | CacheConflictError:
    try:
        return (await _write(table, [unit]))[0]
    except CacheConflictError as error:
        return error


async def _write(table: TableClient, group: Sequence[Unit]) -> list[Etags]:
    """Writes units that fit into one transaction, or one larger unit. Raises CacheConflictError, StorageError."""
    etags: Etags = {}
    for step in transactions([operation] for unit in group for operation in unit):
        etags |= await _submit(table, [operation for (operation,) in step])
    return [{row: etags[row] for _, entity, *_ in unit if (row := entity["RowKey"]) in etags} for unit in group]


async def _submit(table: TableClient, step: Sequence[Operation]) -> Etags:
    try:
        with translated(f"write {table.table_name}"):
            answers = await table.submit_transaction(step)
    except StorageError as error:
        if getattr(error.__cause__, "status_code", None) == _GONE:
            raise CacheConflictError(f"What was to be written is gone: {table.table_name}.") from error
        raise
    pairs = zip(step, answers, strict=True)
    return {operation[1]["RowKey"]: str(answer["etag"]) for operation, answer in pairs if "etag" in answer}


def transactions(units: Iterable[Unit]) -> Iterator[list[Unit]]:
    """Yields as many units together as fit into a transaction."""
    group: list[Unit] = []
    operations = size = 0
    for unit in units:
        more = sum(map(_size, unit))
        if group and (operations + len(unit) > MAX_OPERATIONS or size + more > MAX_BYTES):
            yield group
            group, operations, size = [], 0, 0
        group.append(unit)
        operations, size = operations + len(unit), size + more
    if group:
        yield group


def _size(operation: Operation) -> int:
    return _OVERHEAD + sum(len(value) * 4 // 3 for value in operation[1].values() if isinstance(value, bytes))


def _condition(etag: str) -> dict[str, Any]:
    return {"etag": etag, "match_condition": MatchConditions.IfNotModified}


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
