"""Schema versions of stored rows, which stand in the rows' column `schema`; docs/schema.md lists all kinds of rows.

A version grows when a reader of the version before would take the row for something else. A column that such a reader
may ignore is no new version. Rows without the column are of version 1.
"""

from collections.abc import Mapping
from typing import Any

COLUMN = "schema"
SCHEMAS: Mapping[str, int] = {
    "round": 1,
    "monitoring": 1,
    "look": 1,
    "job": 1,
    "pool": 1,
    "job schedule": 1,
    "read plan": 1,
}
"""The version that is written, and the latest that is read, by kind of row."""


def schema_of(kind: str) -> dict[str, int]:
    """The column that says which version a row of a kind is written in."""
    return {COLUMN: SCHEMAS[kind]}


def refuse_newer(row: Mapping[str, Any], kind: str) -> None:
    """Raises ValueError for a row of a version that this program doesn't know."""
    stored = row.get(COLUMN, 1)
    if stored > SCHEMAS[kind]:
        raise ValueError(f"it has schema {stored}, and this version of the app reads up to {SCHEMAS[kind]}")
