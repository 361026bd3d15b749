"""Writes units of rows that belong together, as many in a transaction as fit: a round changes a hundred pools.

A unit is the rows of one resource, a pool or its nodes, under their ETags. A transaction fails as a whole, so after a
conflict each of its units is written again alone.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from azure.core import MatchConditions
from azure.data.tables import UpdateMode
from azure.data.tables.aio import TableClient

from shared.errors import CacheConflictError, StorageError
from shared.stores.tables.row_columns import Row
from shared.stores.tables.tables import translated

MAX_OPERATIONS = 100
MAX_BYTES = 3_000_000  # of 4 MiB, as the wire form is base64 in JSON in a multipart body
_OVERHEAD = 1500  # bytes of an operation beside its binary properties
_GONE = 404

type Operation = tuple[Any, ...]
type Unit = Sequence[Operation]
type Etags = dict[str, str]


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
