"""Schema versions of stored rows, and rows that this version can't read: damaged ones, and those of newer versions.

The version is in the column `schema`; docs/schema.md lists all kinds of rows. It grows when readers of the previous
version would misread the row. A column that such readers may ignore is no new version. Rows without the column are of
version 1.

A bad row doesn't affect others: loading a partition returns the rest and the bad rows beside it. A bad row is
overwritten only under its ETag, and only with new data from Batch.
"""

import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from shared.domain.reports.reports import UnreadableRow
from shared.errors import StorageError, UnreadableError
from shared.log import logger
from shared.stores.tables.rows import Row

_LOG = logger(__name__)
# Errors of reading an invalid row; those of msgspec and orjson are ValueErrors.
NONSENSE = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, OSError, StopIteration, zlib.error)

COLUMN = "schema"
SCHEMAS: Mapping[str, int] = {
    "round": 1,
    "monitoring": 1,
    "look": 1,
    "job": 1,
    "counters": 1,
    "waiting": 1,
    "pool": 1,
    "job schedule": 1,
    "read plan": 1,
    "dependencies": 1,
    "supported images": 1,
    "startups": 1,
    "attempts": 1,
    "use": 1,
    "usage": 1,
    "price history": 1,
    "price source": 1,
    "budget": 1,
    "quotas": 1,
    "outputs": 1,
    "conditions": 1,
}
"""The version written, and the latest readable one, by kind of row."""


@dataclass(frozen=True, slots=True)
class UndecodedRow:
    """An invalid row, and the reason."""

    row: Row
    why: str

    @property
    def id(self) -> str:
        """Returns the id of the row's subject, or else the row's key."""
        return _id(self.row)

    @property
    def key(self) -> str:
        return str(self.row["RowKey"])

    @property
    def etag(self) -> str:
        return str(self.row["etag"])


def unreadable_reports(
    unreadable: Mapping[str, UndecodedRow],
    failures: Mapping[str, str] = MappingProxyType({}),
    *,
    stored: Collection[str] = (),
) -> tuple[UnreadableRow, ...]:
    """Returns report rows of unreadable rows in key order; `failures` are errors of re-reading their subjects, by key.

    A failure whose subject is neither unreadable nor `stored` is reported by its key.
    """
    undecoded = {
        key: UnreadableRow(row.id, " ".join(dict.fromkeys((row.why, failures.get(key, row.why)))))
        for key, row in unreadable.items()
    }
    never_read = {key: UnreadableRow(key, why) for key, why in failures.items() if key not in stored}
    return tuple(row for _, row in sorted({**never_read, **undecoded}.items()))


def warn_of(account_key: str, unreadable: Iterable[UndecodedRow]) -> None:
    """Logs unreadable rows; called by polls, which meet a row a few times, where requests may meet it often."""
    for row in unreadable:
        _LOG.warning("In %s: %s", account_key, row.why)


def schema_of(kind: str) -> dict[str, int]:
    """Returns the column with the schema version of a kind of row."""
    return {COLUMN: SCHEMAS[kind]}


def refuse_newer(row: Mapping[str, Any], kind: str) -> None:
    """Raises ValueError for a row of a newer version."""
    stored = row.get(COLUMN, 1)
    if stored > SCHEMAS[kind]:
        raise ValueError(f"it has schema {stored}, and this version of the app reads up to {SCHEMAS[kind]}")


@contextmanager
def decoding(row: Row, what: str, *, kind: str) -> Iterator[None]:
    """Raises UnreadableError, which names the subject `what`, for a newer row of a `kind` or one that is damaged."""
    try:
        refuse_newer(row, kind)
        yield
    except NONSENSE as error:
        why = str(error) or type(error).__name__
        raise UnreadableError(f"The {what} '{_id(row)}' can't be read: {why}") from error


def decoded_rows[T](rows: Iterable[Row], parse: Callable[[Row], T]) -> tuple[dict[str, T], dict[str, UndecodedRow]]:
    """Returns parsed rows by row key, and those that `parse` can't read."""
    found, unreadable = dict[str, T](), dict[str, UndecodedRow]()
    for row in rows:
        try:
            found[row["RowKey"]] = parse(row)
        except StorageError as error:
            unreadable[row["RowKey"]] = UndecodedRow(row, str(error))
    return found, unreadable


def _id(row: Row) -> str:
    return str(row.get("id") or row["RowKey"])
