"""Rows of an account's pools or job schedules, and the row of the last round over them in `accounts`.

Every round writes the second row last, with the resources that hold as stored. Its ETag shows which process polled
them last: that process knows all of them without reading them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import ClassVar

import msgspec

from shared.domain.core.keys import key_of
from shared.domain.polling.pool_rounds import PoolRound
from shared.domain.polling.schedule_rounds import ScheduleRound
from shared.domain.pools.pools import Pool
from shared.domain.schedules.schedules import Schedule
from shared.errors import CacheConflictError, UnreadableError
from shared.stores.accounts.monitoring import AccountRows
from shared.stores.tables.rows import Row, json_columns, json_of, row_of, write_units, written
from shared.stores.tables.tables import Tables, delete_row, load_row, load_rows, save_row
from shared.stores.tables.unreadable import UndecodedRow, decoded_rows, decoding, schema_of

_TRIES = 5
_LONG_AGO = datetime.fromtimestamp(0, UTC)


@dataclass(frozen=True, slots=True)
class KnownResources[T, R]:
    """An account's last round (None before the first), and its resources by key, as that round confirmed them."""

    last: R | None
    resources: Mapping[str, T]
    unreadable: Mapping[str, UndecodedRow] = field(default_factory=dict)


class ResourceStore[T: (Pool, Schedule), R: (PoolRound, ScheduleRound)]:
    """The rows of a `kind` in a `table`, as JSON in a `column`, and the row `round_row` of each account.

    Errors and schemas name a resource by `noun`. Each write drops the cache, as not only rounds write.
    """

    table: str
    kind: type[T]
    round_kind: type[R]
    round_row: str
    column: str
    noun: str
    stored_names: ClassVar[Mapping[str, str]] = {}
    """Names of fields in the stored JSON that differ from those of the class."""

    def __init__(self, tables: Tables) -> None:
        self._table = tables[self.table]
        self._accounts = tables["accounts"]
        self._known: dict[str, KnownResources[T, R]] = {}

    async def load_known(self, account_key: str, account: AccountRows | None = None) -> KnownResources[T, R]:
        """Returns stored resources, from memory if the round's row shows that this process wrote it last.

        The row is among those of the `account` if these were read just before. Where another process writes it
        meanwhile, its ETag refuses what goes by the earlier row, as it does during every round.
        """
        known = self._known.get(account_key)
        last = await self.load_round(account_key) if account is None else self._round_in(account.rows)
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
        """Returns the last round; for an unreadable row an empty one under its ETag, which the next overwrites."""
        row = await load_row(self._accounts, account_key, self.round_row)
        return self._decoded_round(row) if row else None

    def _round_in(self, rows: Mapping[str, Row]) -> R | None:
        row = rows.get(self.round_row)
        return self._decoded_round(row) if row else None

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
        self.forget(account_key)
        if resource.etag:
            await delete_row(self._table, account_key, resource.key, resource.etag)

    async def delete_unreadable(self, account_key: str, row: UndecodedRow) -> None:
        """Deletes an unreadable row if it is unchanged since it was loaded. Raises CacheConflictError."""
        self.forget(account_key)
        await delete_row(self._table, account_key, row.key, row.etag)

    async def save_round(self, account_key: str, done: R, resources: Mapping[str, T] | None) -> None:
        """Writes a round and caches its resources (None: uncertain); one that another process wrote is merged.

        Raises StorageError, CacheConflictError.
        """
        self.forget(account_key)
        for attempt in range(_TRIES):
            whole = json_columns("round", msgspec.to_builtins(_under(done, None)))
            columns = {**schema_of("look"), "startedAt": done.started_at, **whole}
            try:
                etag = await save_row(self._accounts, row_of(account_key, self.round_row, columns), done.etag)
            except CacheConflictError:
                stored = await self.load_round(account_key)
                done = done.merged(stored) if stored else _under(done, None)
                continue
            if attempt == 0 and resources is not None:
                self._known[account_key] = KnownResources(_under(done, etag), resources)
            return
        raise CacheConflictError(f"Too many processes write the {self.noun}s of one account at once.")

    def forget(self, account_key: str) -> None:
        """Drops the cache: the next round reads storage."""
        self._known.pop(account_key, None)

    def _confirmed(self, resource: T, _last: R | None) -> T:
        """Returns a loaded resource as the last round confirmed it."""
        return resource

    def _row(self, account_key: str, resource: T) -> Row:
        fields = msgspec.to_builtins(_under(resource, None)).items()
        whole = json_columns(self.column, {self.stored_names.get(name, name): value for name, value in fields})
        return row_of(account_key, resource.key, {**schema_of(self.noun), "id": resource.facts.id, **whole})

    def _decoded(self, row: Row) -> T:
        """Raises UnreadableError."""
        with decoding(row, self.noun, kind=self.noun):
            names = {stored: name for name, stored in self.stored_names.items()}
            fields = {names.get(name, name): value for name, value in json_of(row, self.column).items()}
            return _under(msgspec.convert(fields, self.kind), row["etag"])

    def _decoded_round(self, row: Row) -> R:
        what = f"round over the {self.noun}s of {row['PartitionKey']}, row"
        try:
            with decoding(row, what, kind="look"):
                last = msgspec.convert(json_of(row, "round"), self.round_kind)
        except UnreadableError as error:
            last = msgspec.convert({"started_at": _LONG_AGO, "reason": str(error)}, self.round_kind)
        return _under(last, row["etag"])


def _under[T](stored: T, etag: str | None) -> T:
    found: T = replace(stored, etag=etag)  # type: ignore[type-var]  # no protocol says that a class is a dataclass
    return found
