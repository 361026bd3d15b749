"""Columns of a row that are attributes of a value, under names of their own."""

from collections.abc import Mapping
from typing import Any

from shared.stores.tables.tables import Row, whole


def columns_of(value: object, names: Mapping[str, str]) -> Row:
    """Returns the columns for attributes, whose columns `names` has; None has no column."""
    found = {column: getattr(value, name) for name, column in names.items()}
    return {column: whole(one) if isinstance(one, int) else one for column, one in found.items() if one is not None}


def attributes_of(row: Row, names: Mapping[str, str]) -> dict[str, Any]:
    """Returns the attributes that a row has columns for."""
    return {name: row[column] for name, column in names.items() if column in row}
