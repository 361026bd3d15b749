"""Translates the values of a row into the columns that hold them, and back; the other stores define the rows."""

import zlib
from collections.abc import Collection, Mapping
from typing import Any

import orjson
from azure.data.tables import EdmType, EntityProperty

type Row = dict[str, Any]
_MAX_WHOLE = 1 << 31
MAX_BINARY = 64 * 1024  # bytes of a binary property


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
