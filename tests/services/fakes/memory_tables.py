"""Tables in memory behind the real stores: rows with ETags and atomic transactions.

Processes may die, or lose an answer, before or after any call. tests/stores runs the stores against real storage.
"""

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NoReturn, cast

from azure.core import MatchConditions
from azure.core.async_paging import AsyncItemPaged, AsyncList
from azure.core.exceptions import HttpResponseError, ResourceExistsError, ResourceModifiedError, ResourceNotFoundError
from azure.data.tables import EntityProperty, TableEntity, TransactionOperation, UpdateMode
from azure.data.tables.aio import TableClient

from shared.clock import SharedClock
from shared.stores.tables.row_decoding import RowReader
from shared.stores.tables.rows import Row
from shared.stores.tables.tables import Tables

type Place = tuple[str, str]
_FILTERS: Mapping[str, Callable[[Place, Row, Mapping[str, Any]], bool]] = {
    "PartitionKey eq @partition": lambda place, _, by: place[0] == by["partition"],
    "PartitionKey ge @low and PartitionKey lt @high": lambda place, _, by: by["low"] <= place[0] < by["high"],
    "PartitionKey ge @low and PartitionKey lt @high and RowKey ge @first and RowKey lt @last": lambda place, _, by: (
        by["low"] <= place[0] < by["high"] and by["first"] <= place[1] < by["last"]
    ),
    "PartitionKey eq @partition and RowKey ge @first and RowKey le @last": lambda place, _, by: (
        place[0] == by["partition"] and by["first"] <= place[1] <= by["last"]
    ),
    "PartitionKey eq @partition and RowKey ge @first and RowKey lt @last": lambda place, _, by: (
        place[0] == by["partition"] and by["first"] <= place[1] < by["last"]
    ),
    "PartitionKey eq @partition and RowKey ge @first and RowKey lt @last and (pool eq @pool or pool eq '')": (
        lambda place, row, by: (
            place[0] == by["partition"] and by["first"] <= place[1] < by["last"] and row.get("pool") in (by["pool"], "")
        )
    ),
    "PartitionKey eq @partition and "
    "( RowKey eq @place or RowKey eq @state or ( RowKey ge @first and RowKey le @last ) )": lambda place, _, by: (
        place[0] == by["partition"]
        and (place[1] in (by["place"], by["state"]) or by["first"] <= place[1] <= by["last"])
    ),
    "asOf lt @before": lambda _, row, by: "asOf" in row and row["asOf"] < by["before"],
    "PartitionKey eq @account and state eq 'active' and priority ge @priority": lambda place, row, by: (
        place[0] == by["account"] and row.get("state") == "active" and row.get("priority", -1001) >= by["priority"]
    ),
}


class ProcessDiedError(BaseException):
    """Ends the process; its code can't catch it."""


async def die(*_: object) -> NoReturn:
    """Replaces a step at which the process dies."""
    raise ProcessDiedError


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault at a process's `call`-th call to storage from now on.

    With `committed` the call takes effect first. Then the process dies (`kills`), or only the answer is lost.
    """

    call: int
    committed: bool
    kills: bool


@dataclass(slots=True)
class Storage:
    """The rows of all tables with their ETags.

    `writes` has the table of each written row, `queries` that of each query. `times` are the rows' time stamps by
    storage's clock `now`.
    """

    rows: dict[str, dict[Place, tuple[Row, str]]] = field(default_factory=dict)
    times: dict[tuple[str, Place], datetime] = field(default_factory=dict)
    now: Callable[[], datetime] | None = None
    writes: list[str] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)
    etags: "itertools.count[int]" = field(default_factory=itertools.count)

    @property
    def date(self) -> datetime | None:
        """Returns the `Date` header of an answer now."""
        return self.now().replace(microsecond=0) if self.now else None


class Connection:
    """One process's connection to storage, whose answers set its clock, first when the tables are opened."""

    def __init__(self, storage: Storage, clock: SharedClock | None = None) -> None:
        self.storage = storage
        self._clock = clock
        self._answer(self._asking(), storage.date)
        self.latency = 0.0
        self.calls = 0
        self.dead = False
        self._fault: Fault | None = None

    def arm(self, fault: Fault | None) -> None:
        self.calls, self._fault = 0, fault

    def stop_if_dead(self) -> None:
        if self.dead:
            raise ProcessDiedError

    async def call[T](self, action: Callable[[], T]) -> T:
        self.stop_if_dead()
        answered = self._asking()
        await asyncio.sleep(self.latency)
        self.stop_if_dead()
        self.calls += 1
        fault = self._fault if self._fault and self._fault.call == self.calls else None
        if fault and not fault.committed:
            self._strike(fault)
        result, date = action(), self.storage.date
        await asyncio.sleep(self.latency)
        if fault:
            self._strike(fault)
        self._answer(answered, date)
        return result

    def _asking(self) -> Callable[[datetime], None] | None:
        return self._clock.asking() if self._clock else None

    def _answer(self, answered: Callable[[datetime], None] | None, date: datetime | None) -> None:
        if answered and date:
            answered(date)

    def _strike(self, fault: Fault) -> None:
        if fault.kills:
            self.dead = True
            raise ProcessDiedError
        raise failure(HttpResponseError, 500)


class MemoryTables(Tables):
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def __getitem__(self, name: str) -> TableClient:
        return cast(TableClient, MemoryTable(name, self._connection))


class MemoryTable:
    """The part of the SDK's TableClient that the stores use."""

    def __init__(self, name: str, connection: Connection) -> None:
        self.table_name = name
        self._connection = connection
        self._storage = connection.storage
        self._rows = connection.storage.rows.setdefault(name, {})

    async def get_entity(
        self,
        partition_key: str,
        row_key: str,
        *,
        select: Sequence[str] | None = None,
        raw_response_hook: RowReader | None = None,
    ) -> TableEntity:
        entity = await self._connection.call(lambda: self._entity((partition_key, row_key), select))
        if raw_response_hook:
            raw_response_hook.decode = lambda: [_plain(entity)]
        return entity

    def query_entities(
        self,
        query_filter: str,
        *,
        parameters: Mapping[str, Any],
        select: Sequence[str] | None = None,
        results_per_page: int | None = None,  # noqa: ARG002 - all rows are one page here
        raw_response_hook: RowReader | None = None,
    ) -> AsyncItemPaged[TableEntity]:
        wanted = _FILTERS[query_filter]
        self._storage.queries.append(self.table_name)

        async def next_page(_marker: str | None) -> list[TableEntity]:
            return await self._connection.call(
                lambda: [
                    self._entity(place, select)
                    for place in sorted(self._rows)
                    if wanted(place, self._rows[place][0], parameters)
                ]
            )

        async def read(found: list[TableEntity]) -> tuple[None, AsyncIterator[TableEntity]]:
            if raw_response_hook:
                raw_response_hook.decode = lambda: list(map(_plain, found))
            return None, AsyncList(found)

        return AsyncItemPaged(next_page, read)

    async def create_entity(self, entity: Row) -> dict[str, str]:
        return await self._connection.call(lambda: self._written([("create", entity)])[0])

    async def update_entity(self, entity: Row, **condition: Any) -> dict[str, str]:
        return await self._connection.call(lambda: self._written([("update", entity, condition)])[0])

    async def delete_entity(self, partition_key: str, row_key: str, **condition: Any) -> None:
        row = {"PartitionKey": partition_key, "RowKey": row_key}
        await self._connection.call(lambda: self._deleted(row, condition))

    async def submit_transaction(self, operations: Sequence[tuple[Any, ...]]) -> list[dict[str, str]]:
        assert len(operations) <= 100
        assert len({operation[1]["PartitionKey"] for operation in operations}) == 1
        return await self._connection.call(lambda: self._written(operations))

    def _entity(self, place: Place, select: Sequence[str] | None = None) -> TableEntity:
        if place not in self._rows:
            raise failure(ResourceNotFoundError, 404)
        row, etag = self._rows[place]
        entity = TableEntity({name: value for name, value in row.items() if select is None or name in select})
        entity._metadata = {"etag": etag, "timestamp": self._storage.times.get((self.table_name, place))}
        return entity

    def _written(self, operations: Sequence[tuple[Any, ...]]) -> list[dict[str, str]]:
        places = [_place(operation[1]) for operation in operations]
        assert len(set(places)) == len(places)
        for place, operation in zip(places, operations, strict=True):
            self._refuse(place, operation)
        for place, operation in zip(places, operations, strict=True):
            self._storage.writes.append(self.table_name)
            if self._storage.now:
                self._storage.times[self.table_name, place] = self._storage.now()
            if operation[0] == TransactionOperation.DELETE:
                del self._rows[place]
            else:
                merged = self._rows[place][0] if _is_merged(operation) and place in self._rows else {}
                self._rows[place] = ({**merged, **operation[1]}, f'W/"{next(self._storage.etags)}"')
        return [{"etag": self._rows[place][1]} if place in self._rows else {} for place in places]

    def _deleted(self, row: Row, condition: dict[str, Any]) -> None:
        if _place(row) in self._rows:  # like the SDK, deleting a missing row succeeds
            self._written([("delete", row, condition)])

    def _refuse(self, place: Place, operation: tuple[Any, ...]) -> None:
        if operation[0] == TransactionOperation.CREATE:
            if place in self._rows:
                raise failure(ResourceExistsError, 409, "EntityAlreadyExists")
            return
        if operation[0] == TransactionOperation.UPSERT or _is_merged(operation):
            return
        condition = operation[2] if len(operation) > 2 else {}
        assert condition or operation[0] == TransactionOperation.DELETE
        assert not condition or condition["match_condition"] == MatchConditions.IfNotModified
        if place not in self._rows:
            raise failure(ResourceNotFoundError, 404)
        if condition and self._rows[place][1] != condition["etag"]:
            raise failure(ResourceModifiedError, 412)


def _plain(entity: TableEntity) -> Row:
    row = {name: value.value if isinstance(value, EntityProperty) else value for name, value in entity.items()}
    return {**row, "etag": entity.metadata["etag"]}


def failure(kind: type[HttpResponseError], status: int, code: str = "") -> HttpResponseError:
    error = kind(f"answered {status} {code}".strip())
    error.status_code = status
    return error


def _is_merged(operation: tuple[Any, ...]) -> bool:
    return bool(operation[0] == TransactionOperation.UPSERT and operation[2] == {"mode": UpdateMode.MERGE})


def _place(row: Row) -> Place:
    return row["PartitionKey"], row["RowKey"]
