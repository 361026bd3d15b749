"""Rows of tables by name: their kinds, their columns with types, and the contents of packed columns."""

import json
import re
import zlib
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import msgspec
from azure.data.tables import EdmType, EntityProperty
from azure.data.tables.aio import TableClient

from shared.domain.packing.compression import decompressed, inflated

_DIGEST = "[0-9a-f]{32}"
_INCARNATION = rf"{_DIGEST}-[0-9a-f]+-\d+"
_GROUP = r"(\.[^~.]+)?"
_SESSION = rf"(~{_INCARNATION})?~?[0-9a-f]{{6}}"
SHAPES: Mapping[str, Mapping[str, str]] = {
    "accounts": {
        "round": "round",
        "monitoring": "monitoring",
        "pools": "pools",
        "schedules": "schedules",
        "counters": "counters",
        "waiting": "waiting",
        "images": "images",
        "quotas": "quotas",
        "account~<account>": "account~[^~]+",
        "<budget>": "[^~]+",
    },
    "attempts": {
        "<day>~<incarnation>": rf"\d{{5}}~{_INCARNATION}",
        "<day>~<job>": r"\d{5}~[^~]+",
        "<day>": r"\d{5}",
        "<job>": "[^~]+",
    },
    "blobs": {"!": "!", "<hash of name>": _DIGEST, "<shard>": "[0-9a-f]{2}"},
    "events": {
        "!": "!",
        "c<minute>~<incarnation>~<offset>~<number>": rf"c[0-9a-f]{{8}}~{_INCARNATION}~[0-9a-f]{{13}}~\d+",
        "c<minute>~n<identity>": r"c[0-9a-f]{8}~n[0-9a-f]{24}",
        "o<incarnation>": f"o{_INCARNATION}",
    },
    "jobhistory": {"h<hour>": r"h\d{7}", "d<day>": r"d\d{7}"},
    "jobs": {"<job>": "[^~]+"},
    "jobschedules": {"<schedule>": "[^~]+"},
    "nodeindex": {
        "<hash>~<day>~<incarnation>~ffffff": rf"{_DIGEST}~[0-9a-f]{{5}}~{_INCARNATION}{_GROUP}~ffffff",
        "<hash>~<day>~<incarnation>~<session>": rf"{_DIGEST}~[0-9a-f]{{5}}~{_INCARNATION}{_GROUP}~[0-9a-f]{{6}}",
    },
    "nodes": {"<pool>~!": "[^~]+~!", "<pool>~n<number>": r"[^~]+~n\d{5}"},
    "operations": {"<poll>": "[^~]+"},
    "poolhistory": {
        "<pool>~h<hour>": r"[^~]+~h\d{7}",
        "<pool>~d<day>": r"[^~]+~d\d{7}",
        "<day>~<pool>": r"\d{7}~[^~]+",
    },
    "outputs": {
        "!": "!",
        "spent": "spent",
        "t<task>": "t.*",
        "n<node>~<start>": r"n[^~]+~\d{13}",
        "<day>~<job>": r"\d{5}~[^~]+",
        "<day>~~pool~<pool>": r"\d{5}~~pool~[^~]+",
    },
    "pools": {"<pool>": "[^~]+"},
    "prices": {"!": "!", "<region>~<size>": r"[^~]+~[^~]+"},
    "pooltelemetry": {"!": "!", "t": "t", "b<block>~<pool>~<part>": r"b[0-9a-f]{7}~[^~]*~\d"},
    "rejects": {"<created>~<incarnation>~<offset>": rf"[0-9a-f]{{11}}~{_INCARNATION}~[0-9a-f]{{13}}"},
    "usage": {"d<day>": r"d\d{7}", "h<day>": r"h\d{7}", "j<day>": r"j\d{7}"},
    "tasks": {"!": "!", "dependencies": "dependencies", "reading": "reading", "s<key>": "s.*"},
    "telemetry": {
        "!": "!",
        "o": rf"o(~{_INCARNATION})?",
        "s": rf"s(~{_INCARNATION})?",
        "n<session>": f"n{_SESSION}",
        "m<hour>~<session>~<offset>~<number>": f"m[0-9a-f]{{6}}{_SESSION}~[0-9a-f]{{13}}~[0-9a-f]{{2}}",
        "h<day>~<session>~<number>": f"h[0-9a-f]{{5}}{_SESSION}~[0-9a-f]{{6}}",
    },
}
"""The kinds of rows of each table, by regular expressions of their keys; the first match counts."""
_KEYS = ("PartitionKey", "RowKey")
_SLOTS = {"jobhistory": r"(m|q)\d\d", "poolhistory": r"(m|q|w)\d\d"}
_TYPES: Mapping[type, str] = {bool: "Boolean", int: "Int", float: "Double", str: "String", bytes: "Binary"}


async def rows_of(table: TableClient) -> list[dict[str, Any]]:
    """Returns all rows of a table, in the order of their keys."""
    found = [dict(entity) async for entity in table.list_entities()]
    return sorted(found, key=lambda row: (row["PartitionKey"], row["RowKey"]))


def kind_of(table: str, key: str) -> str:
    """Returns the kind of a row by its key; for an unknown key `unknown row` and the key."""
    return next((shape for shape, text in SHAPES[table].items() if re.fullmatch(text, key)), f"unknown row {key}")


def columns_of(table: str, row: Mapping[str, Any]) -> Iterator[str]:
    """Yields a line for each column of a row: the table, the kind of row, the column's name and its type."""
    kind = kind_of(table, row["RowKey"])
    for name, value in row.items():
        if name not in _KEYS:
            yield f"{table} {kind} {_column(table, kind, name, value)} {type_of(value)}"


def type_of(value: Any) -> str:
    """Returns the type name of Table Storage, but one for all integers: the value decides between 32 and 64 bits."""
    if isinstance(value, EntityProperty):
        return "DateTime" if value.edm_type is EdmType.DATETIME else type_of(value.value)
    return "DateTime" if isinstance(value, datetime) else _TYPES[type(value)]


def _column(table: str, kind: str, name: str, value: Any) -> str:
    if table in _SLOTS:
        return re.sub(_SLOTS[table], r"\1<slot>", name)
    if table == "telemetry" and kind[:1] in "mh":
        return re.sub(r".+__\d+", "<series>__<part>", name)
    if table == "pooltelemetry" and "___" in name:
        return re.sub(r".+___([mt])\d+", r"<metric>___\1<part>", name)
    return re.sub(r"\d+\Z", "<part>", name) if isinstance(value, bytes) else name


def readable(name: str, value: Any) -> Any:
    """Returns a column's value for JSON: packed JSON is unpacked, a leaf becomes "a leaf", other bytes become hex."""
    if isinstance(value, EntityProperty):
        return value.value
    if isinstance(value, datetime):
        return value.isoformat()
    return _unpacked(name, value) if isinstance(value, bytes) else value


def _unpacked(name: str, packed: bytes) -> Any:
    if name == "insight":
        return ["digest", json.loads(inflated(packed[8:]))]
    if name in ("state0", "summary"):
        return json.loads(inflated(packed))
    if name == "usage0":
        *plain, days = msgspec.msgpack.decode(packed)
        return [*plain, [json.loads(zlib.decompress(day)) for day in days]]
    if name.endswith(("__0", "___m0", "___t0")) or name in ("sources0", "metrics0", "tails0"):
        return _hexed(msgspec.msgpack.decode(decompressed(packed)))
    try:
        return "a leaf" if name == "d0" else json.loads(zlib.decompress(packed))
    except zlib.error:
        return packed.hex()


def _hexed(value: Any) -> Any:
    """Returns a value with bytes as hexadecimal text."""
    if isinstance(value, list):
        return list(map(_hexed, value))
    return value.hex() if isinstance(value, bytes) else value
