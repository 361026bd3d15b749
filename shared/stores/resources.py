"""Rows of an account's pools or job schedules, and the row of the last round over them in `accounts`.

Every round writes the second row last, with the resources that hold as stored. Its ETag shows which process polled
them last: that process knows all of them without reading them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Protocol, Self

import msgspec

from shared.domain.core.keys import key_of
from shared.errors import CacheConflictError, UnreadableError
from shared.stores.tables.schemas import schema_of
from shared.stores.tables.tables import (
    Row,
    Tables,
    delete_row,
    json_columns,
    json_of,
    load_row,
    load_rows,
    save_row,
)
from shared.stores.tables.unit_writes import write_units, written
from shared.stores.tables.unreadable import UndecodedRow, decoded_rows, read

_TRIES = 5
_LONG_AGO = datetime.fromtimestamp(0, UTC)


class StoredRound(Protocol):
    """A round over pools, or a poll of schedules: a frozen dataclass."""

    @property
    def etag(self) -> str | None: ...

    @property
    def started_at(self) -> datetime: ...

    def merged(self, stored: Self | None) -> Self:
        """Returns this one merged over the row that another process stored meanwhile."""
        ...


class StoredResource(Protocol):
    """A pool or a job schedule: a frozen dataclass."""

    @property
    def etag(self) -> str | None: ...

    @property
    def key(self) -> str: ...

    @property
    def facts(self) -> Any:
        """Properties with an `id`."""
        ...


@dataclass(frozen=True, slots=True)
class KnownResources[T, R]:
    """An account's last round (None before the first), and its resources by key, as that round confirmed them."""

    last: R | None
    resources: Mapping[str, T]
    unreadable: Mapping[str, UndecodedRow] = field(default_factory=dict)


class ResourceStore[T: StoredResource, R: StoredRound]:
    """The rows of a `kind` in a table, as JSON in a `column`, and the row `rounds`; errors name them by `noun`."""

    def __init__(
        self, tables: Tables, table: str, kind: type[T], rounds: "ResourceRoundStore[R]", *, column: str, noun: str
    ) -> None:
        self._table = tables[table]
        self._kind = kind
        self._rounds = rounds
        self._column = column
        self._noun = noun
        self._known: dict[str, KnownResources[T, R]] = {}

    async def load_known(self, account_key: str) -> KnownResources[T, R]:
        """Returns stored resources, from memory if the round's row shows that this process wrote it last."""
        known, last = self._known.get(account_key), await self.load_round(account_key)
        if known and last and known.last and known.last.etag == last.etag:
            return known
        return await self._load_all(account_key, last)

    async def load_all(self, account_key: str) -> KnownResources[T, R]:
        """Returns every resource from storage. The round is read first, so that its confirmations aren't newer."""
        return await self._load_all(account_key, await self.load_round(account_key))

    async def _load_all(self, account_key: str, last: R | None) -> KnownResources[T, R]:
        found, unreadable = decoded_rows(await load_rows(self._table, account_key), self._decoded)
        return KnownResources(last, {key: self._confirmed(one, last) for key, one in found.items()}, unreadable)

    async def keys(self, account_key: str) -> set[str]:
        """Returns the keys of all stored resources, also of unreadable rows. Raises StorageError."""
        return {row["RowKey"] for row in await load_rows(self._table, account_key, ["RowKey"])}

    async def load(self, account_key: str, resource_id: str) -> tuple[R | None, T | None]:
        """Returns one resource, with the account's last round; `resource_id` may be any client string."""
        last = await self.load_round(account_key)
        row = await load_row(self._table, account_key, key_of(resource_id))
        return last, self._confirmed(self._decoded(row), last) if row else None

    async def load_round(self, account_key: str) -> R | None:
        return await self._rounds.load(account_key)

    async def save_all(self, account_key: str, resources: Sequence[T]) -> list[T | CacheConflictError]:
        """Writes resources under their ETags, or new ones if these are None; returns each with its new ETag.

        A resource that another writer changed meanwhile is replaced by the conflict. Raises StorageError.
        """
        units = [(written(self._row(account_key, one), one.etag),) for one in resources]
        ends = await write_units(self._table, units)
        return [
            end if isinstance(end, CacheConflictError) else _under(one, end[one.key])
            for one, end in zip(resources, ends, strict=True)
        ]

    async def is_stored(self, account_key: str, resource: T) -> bool:
        """Returns whether a resource's row is unchanged since it was loaded. Raises StorageError."""
        row = await load_row(self._table, account_key, resource.key)
        return row is not None and row["etag"] == resource.etag

    async def delete(self, account_key: str, resource: T) -> None:
        """Deletes a resource's row if it is unchanged since it was loaded. Raises CacheConflictError."""
        if resource.etag:
            await delete_row(self._table, account_key, resource.key, resource.etag)

    async def delete_unreadable(self, account_key: str, row: UndecodedRow) -> None:
        """Deletes an unreadable row if it is unchanged since it was loaded. Raises CacheConflictError."""
        await delete_row(self._table, account_key, row.key, row.etag)

    async def save_round(self, account_key: str, done: R, resources: Mapping[str, T] | None) -> None:
        """Writes a round and caches its resources (None: uncertain); one that another process wrote is merged.

        Raises StorageError, CacheConflictError.
        """
        self.forget(account_key)
        stored, is_ours = await self._rounds.save(account_key, done)
        if is_ours and resources is not None:
            self._known[account_key] = KnownResources(stored, resources)

    def forget(self, account_key: str) -> None:
        """Drops the cache: the next round reads storage."""
        self._known.pop(account_key, None)

    def _confirmed(self, resource: T, _last: R | None) -> T:
        """Returns a loaded resource as the last round confirmed it."""
        return resource

    def _row(self, account_key: str, resource: T) -> Row:
        keys = {"PartitionKey": account_key, "RowKey": resource.key}
        whole = json_columns(self._column, msgspec.to_builtins(_under(resource, None)))
        return {**keys, **schema_of(self._noun), "id": resource.facts.id, **whole}

    def _decoded(self, row: Row) -> T:
        """Raises UnreadableError."""
        parsed = read(
            row, self._noun, lambda row: msgspec.convert(json_of(row, self._column), self._kind), kind=self._noun
        )
        return _under(parsed, row["etag"])


class ResourceRoundStore[L: StoredRound]:
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
            look = read(row, what, lambda row: msgspec.convert(json_of(row, "round"), self._kind), kind="look")
        except UnreadableError as error:
            look = msgspec.convert({"started_at": _LONG_AGO, "reason": str(error)}, self._kind)
        return _under(look, row["etag"])


def _under[T](stored: T, etag: str | None) -> T:
    found: T = replace(stored, etag=etag)  # type: ignore[type-var]  # no protocol says that a class is a dataclass
    return found
