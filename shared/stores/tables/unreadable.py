"""Rows that this version can't read: damaged ones, and those of a version that is newer.

One of them spoils no other: whoever loads a partition goes on with the rest and gets the bad ones beside it. Nothing is
written over them but under the ETag that they had, and then only what Batch was asked for anew.
"""

import zlib
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from shared.domain.reports.reports import UnreadableRow
from shared.errors import StorageError, UnreadableError
from shared.log import logger
from shared.stores.tables.schemas import refuse_newer
from shared.stores.tables.tables import Row

_LOG = logger(__name__)
# What reading a row raises that isn't what it ought to be; msgspec's and orjson's errors are ValueErrors.
NONSENSE = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, OSError, StopIteration, zlib.error)


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A row that makes no sense, and why."""

    row: Row
    why: str

    @property
    def id(self) -> str:
        """Of what the row is about; its key where it doesn't say so."""
        return _id(self.row)

    @property
    def key(self) -> str:
        return str(self.row["RowKey"])

    @property
    def etag(self) -> str:
        return str(self.row["etag"])


def told_of(
    unreadable: Mapping[str, Unreadable],
    failures: Mapping[str, str] = MappingProxyType({}),
    *,
    stored: Collection[str] = (),
) -> tuple[UnreadableRow, ...]:
    """What a list says of them, in key order; `failures` are why what rows are about couldn't be read anew, by key.

    So could not what failures are about that is neither among them nor `stored`: it is told by its key.
    """
    told = {
        key: UnreadableRow(row.id, " ".join(dict.fromkeys((row.why, failures.get(key, row.why)))))
        for key, row in unreadable.items()
    }
    never_read = {key: UnreadableRow(key, why) for key, why in failures.items() if key not in stored}
    return tuple(row for _, row in sorted({**never_read, **told}.items()))


def warn_of(account_key: str, unreadable: Iterable[Unreadable]) -> None:
    """For polls, which find a bad row once or a few times: a reader may meet it at every request."""
    for row in unreadable:
        _LOG.warning("In %s: %s", account_key, row.why)


def read[T](row: Row, what: str, parse: Callable[[Row], T], *, kind: str) -> T:
    """A row of a `kind` as it is `parse`d; `what` it is about is named in the error. Raises UnreadableError."""
    try:
        refuse_newer(row, kind)
        return parse(row)
    except NONSENSE as error:
        why = str(error) or type(error).__name__
        raise UnreadableError(f"The {what} '{_id(row)}' can't be read: {why}") from error


def told_apart[T](rows: Iterable[Row], parse: Callable[[Row], T]) -> tuple[dict[str, T], dict[str, Unreadable]]:
    """What rows hold by row key, and those that `parse` can't read."""
    found, unreadable = dict[str, T](), dict[str, Unreadable]()
    for row in rows:
        try:
            found[row["RowKey"]] = parse(row)
        except StorageError as error:
            unreadable[row["RowKey"]] = Unreadable(row, str(error))
    return found, unreadable


def _id(row: Row) -> str:
    return str(row.get("id") or row["RowKey"])
