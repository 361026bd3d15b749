"""Rows of the polls beside rounds over jobs: a row of an account in `accounts`, written last.

Its ETag shows which process polled the account's pools or job schedules last; that process may use its cache without
reading them.
"""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Protocol, Self

import msgspec

from shared.errors import CacheConflictError, UnreadableError
from shared.stores.tables.tables import Row, Tables, json_columns, json_of, load_row, save_row
from shared.stores.tables.unreadable import decoding, schema_of

_TRIES = 5
_LONG_AGO = datetime.fromtimestamp(0, UTC)


class ResourceRound(Protocol):
    """A round over pools, or a poll of schedules: a frozen dataclass."""

    @property
    def etag(self) -> str | None: ...

    @property
    def started_at(self) -> datetime: ...

    def merged(self, stored: Self | None) -> Self:
        """Returns this one merged over the row that another process stored meanwhile."""
        ...


class ResourceRoundStore[L: ResourceRound]:
    """The row `name` of each account, which holds a `kind`; errors name its subject `what`."""

    def __init__(self, tables: Tables, name: str, kind: type[L], *, what: str) -> None:
        self._accounts = tables["accounts"]
        self._name = name
        self._kind = kind
        self._what = what

    async def load(self, account_key: str) -> L | None:
        """Returns the row; for an unreadable one an empty poll under its ETag, which the next poll overwrites."""
        row = await load_row(self._accounts, account_key, self._name)
        return self._look(row) if row else None

    async def save(self, account_key: str, done: L) -> tuple[L, bool]:
        """Writes a poll; returns it as stored, and whether no other process wrote meanwhile.

        Raises StorageError, CacheConflictError.
        """
        for attempt in range(_TRIES):
            try:
                etag = await save_row(self._accounts, self._row(account_key, done), done.etag)
            except CacheConflictError:
                done = done.merged(await self.load(account_key))
                continue
            return _under(done, etag), attempt == 0
        raise CacheConflictError(f"Too many processes write the {self._what} of one account at once.")

    def _row(self, account_key: str, done: L) -> Row:
        return {
            "PartitionKey": account_key,
            "RowKey": self._name,
            **schema_of("look"),
            "startedAt": done.started_at,
            **json_columns("round", msgspec.to_builtins(_under(done, None))),
        }

    def _look(self, row: Row) -> L:
        what = f"round over the {self._what} of {row['PartitionKey']}, row"
        try:
            with decoding(row, what, kind="look"):
                look = msgspec.convert(json_of(row, "round"), self._kind)
        except UnreadableError as error:
            look = msgspec.convert({"started_at": _LONG_AGO, "reason": str(error)}, self._kind)
        return _under(look, row["etag"])


def _under[L: ResourceRound](look: L, etag: str | None) -> L:
    found: L = replace(look, etag=etag)  # type: ignore[type-var]  # no protocol says that a class is a dataclass
    return found
