"""Table rows as lossless JSON lines in OData notation, and the hashes that verify them.

A property whose type JSON can't express has an annotation `<name>@odata.type`. `Timestamp` and the ETag belong to
storage and are omitted.
"""

import base64
import math
from collections.abc import Mapping
from datetime import datetime
from hashlib import sha256
from typing import Any
from uuid import UUID

import orjson
from azure.data.tables import EdmType, EntityProperty

type Row = dict[str, Any]
_TYPE = "@odata.type"
_MODULUS = 1 << 256


def line_of(row: Mapping[str, Any]) -> bytes:
    """Returns a row from the SDK as one line without line end; equal rows give equal bytes.

    Raises TypeError for a type that Table Storage doesn't have.
    """
    wire: Row = {}
    for name, value in row.items():
        kind, encoded = _wire(value)
        wire[name] = encoded
        if kind:
            wire[name + _TYPE] = kind
    return orjson.dumps(wire, option=orjson.OPT_SORT_KEYS)


def row_of(line: bytes) -> Row:
    """Returns the row of a line, in the form that the SDK writes."""
    wire = orjson.loads(line)
    return {name: _value(value, wire.get(name + _TYPE)) for name, value in wire.items() if not name.endswith(_TYPE)}


def hash_of(line: bytes) -> int:
    """Returns the 256-bit hash of one row."""
    return int.from_bytes(sha256(line).digest())


def added(hash_before: int, hash_more: int) -> int:
    """Returns the combined hash of rows: the sum of their hashes, which doesn't depend on their order."""
    return (hash_before + hash_more) % _MODULUS


def as_text(row_hash: int) -> str:
    return f"{row_hash:064x}"


def _wire(value: Any) -> tuple[str | None, Any]:
    """Returns the annotation that a value needs, and its JSON form."""
    match value:
        case EntityProperty(number, EdmType.INT64):
            return "Edm.Int64", str(number)
        case bool() | str() | int():
            return None, value
        case float():
            return "Edm.Double", value if math.isfinite(value) else _unfinite(value)
        case bytes():
            return "Edm.Binary", base64.b64encode(value).decode()
        case datetime():
            return "Edm.DateTime", value.tables_service_value  # type: ignore[attr-defined]  # as storage wrote it
        case UUID():
            return "Edm.Guid", str(value)
    raise TypeError(f"{type(value).__name__} is no type of Table Storage")


def _unfinite(value: float) -> str:
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _value(value: Any, kind: str | None) -> Any:
    match kind:
        case "Edm.Int64":
            return EntityProperty(int(value), EdmType.INT64)
        case "Edm.Double":
            return float(value)
        case "Edm.Binary":
            return base64.b64decode(value)
        case "Edm.DateTime":
            return EntityProperty(value, EdmType.DATETIME)  # the SDK sends the text unchanged, with all seven digits
        case "Edm.Guid":
            return UUID(value)
        case _:
            return value
