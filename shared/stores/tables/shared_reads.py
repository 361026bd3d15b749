"""Repeats reads of rows from memory while one piece of work goes on, such as explaining several jobs of an account.

Each explanation reads the account's, its jobs' and its pools' rows by itself, and within a few seconds these are the
same. Only reads inside the block share, also those of tasks that it starts. A write inside it, or a conflict with
another writer, forgets everything read so far. Task leaves aren't kept, as they are large.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

type _Key = tuple[object, ...]
type _Rows = list[dict[str, Any]]
_LARGE = "tasks"  # the table whose rows aren't kept
_READ = ContextVar[dict[_Key, _Rows] | None]("rows read", default=None)


@contextmanager
def reads_shared() -> Iterator[None]:
    """Keeps rows that are read inside the block until it ends; each reader gets its own copy."""
    token = _READ.set({})
    try:
        yield
    finally:
        _READ.reset(token)


def kept(*key: object) -> _Rows | None:
    """Returns copies of the rows that were read by this key, None where they weren't, or outside of a block."""
    found = (_READ.get() or {}).get(key)
    return None if found is None else [dict(row) for row in found]


def keep(rows: _Rows, table: str, *key: object) -> None:
    """Keeps rows of a table by a key, which begins with its name; does nothing outside of a block."""
    known = _READ.get()
    if known is not None and is_sharing(table):
        known[table, *key] = [dict(row) for row in rows]


def is_sharing(table: str) -> bool:
    """Returns whether rows of a table are kept now; those of others needn't be gathered for `keep`."""
    return _READ.get() is not None and not table.endswith(_LARGE)


def forget_reads() -> None:
    """Forgets all rows read inside the present block."""
    if known := _READ.get():
        known.clear()
