"""Schema versions of stored rows, in their column `schema`; docs/schema.md lists all kinds of rows.

A version grows when readers of the previous version would misread the row. A column that such readers may ignore is no
new version. Rows without the column are of version 1.
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
"""The version written, and the latest readable one, by kind of row."""


def schema_of(kind: str) -> dict[str, int]:
    """Returns the column with the schema version of a kind of row."""
    return {COLUMN: SCHEMAS[kind]}


def refuse_newer(row: Mapping[str, Any], kind: str) -> None:
    """Raises ValueError for a row of a newer version."""
    stored = row.get(COLUMN, 1)
    if stored > SCHEMAS[kind]:
        raise ValueError(f"it has schema {stored}, and this version of the app reads up to {SCHEMAS[kind]}")
