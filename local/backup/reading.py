"""Reads tables while the app writes to them: page by page, or all rows of a partition as of one moment.

Rows of a partition in one answer are as of one moment (documentation of Table Storage: queries within a partition are
isolated). If a partition takes several answers, its keys and ETags are then listed, and differing rows are read again,
until none differ. As ETags never recur, all rows then had this state when the last listing began.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator, Sequence
from contextlib import ExitStack, aclosing
from dataclasses import dataclass, field
from itertools import batched
from typing import Any

from azure.core.exceptions import ResourceNotFoundError
from azure.data.tables import TableEntity
from azure.data.tables.aio import TableClient

from local.backup.manifest import Key
from local.backup.plan import TablePlan, Way
from local.backup.rows import line_of, row_of
from local.backup.spool import Spool

_AT_ONCE = 4  # partitions
_REQUESTS_AT_ONCE = 8
_TRIES = 50
_HEAD, _CHECKPOINT, _APPENDED = "!", "o", "c"  # row key prefixes of a log


@dataclass(frozen=True, slots=True)
class Query:
    filter: str
    parameters: dict[str, str]


@dataclass(frozen=True, slots=True)
class Item:
    """One row; `whole` if everything up to it was read, so that a resume can continue after it."""

    key: Key
    line: bytes
    whole: bool


@dataclass(slots=True)
class TableReader:
    """Reads one table by its plan; `unsettled` counts partitions that kept changing."""

    table: TableClient
    plan: TablePlan
    changed: Any
    unsettled: int = 0
    _gate: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_REQUESTS_AT_ONCE))

    async def items(self, after: Key | None) -> AsyncIterator[Item]:
        """Yields all rows after a key; for partitions, after the key's partition."""
        if self.plan.way is Way.ROWS:
            for query in _behind(after):
                async with aclosing(pages(self.table, query, self.plan.page)) as found:
                    async for page in found:
                        for entity in page:
                            yield Item(_key(entity), self._line(entity), whole=True)
            return
        async for some in self._partitions(after):
            for window in batched(some, _AT_ONCE, strict=False):
                async with aclosing(self._window(window)) as items:
                    async for item in items:
                        yield item

    async def _window(self, partitions: Sequence[str]) -> AsyncGenerator[Item]:
        """Yields the rows of a few partitions, which are read concurrently."""
        with ExitStack() as stack:
            spools = [stack.enter_context(Spool()) for _ in partitions]
            pairs = zip(partitions, spools, strict=True)
            settled = await asyncio.gather(*(self._fill(spool, self._queries(name)) for name, spool in pairs))
            self.unsettled += settled.count(False)
            for partition, spool in zip(partitions, spools, strict=True):
                async with aclosing(self._lines(partition, spool)) as lines:
                    async for item in _ended(lines, partition):
                        yield item

    def _queries(self, partition: str) -> Sequence[Query]:
        if self.plan.way is Way.PARTITIONS:
            return [Query("PartitionKey eq @partition", {"partition": partition})]
        return [_between(partition, _HEAD, _HEAD + "~"), _between(partition, _CHECKPOINT, _CHECKPOINT + "~~")]

    async def _lines(self, partition: str, spool: Spool) -> AsyncGenerator[tuple[str, bytes]]:
        for key, line in spool.lines():
            yield key, line
        if self.plan.way is not Way.LOG:
            return
        checkpoints = dict(_checkpoints(line for _, line in spool.lines()))
        query = _between(partition, _APPENDED, _APPENDED + "~~")
        async with aclosing(pages(self.table, query, self.plan.page)) as found:
            async for page in found:
                for entity in page:
                    _, incarnation, offset, *_ = str(entity["RowKey"]).split("~")
                    if int(offset, 16) < checkpoints.get(incarnation, 0):
                        yield entity["RowKey"], self._line(entity)

    async def _fill(self, spool: Spool, queries: Sequence[Query]) -> bool:
        """Fills the spool; returns whether all rows of the queries are as of one moment."""
        answers = 0
        for query in queries:
            async with aclosing(pages(self.table, query, self.plan.page)) as found:
                async for page in found:
                    answers += 1
                    for entity in page:
                        self._put(spool, entity)
        if answers == 1 and len(queries) == 1:
            return True
        for _ in range(_TRIES):
            if not await self._refreshed(spool, queries):
                return True
        return False

    async def _refreshed(self, spool: Spool, queries: Sequence[Query]) -> int:
        """Reads changed rows again; returns their number."""
        listed: dict[Key, str] = {}
        for query in queries:
            async with aclosing(pages(self.table, query, 1000, ["PartitionKey", "RowKey"])) as found:
                async for page in found:
                    listed |= {_key(entity): str(entity.metadata["etag"]) for entity in page}
        known, keys = spool.etags, {row for _, row in listed}
        gone = known.keys() - keys
        for key in gone:
            spool.drop(key)
        different = [key for key, etag in listed.items() if known.get(key[1]) != etag]
        await asyncio.gather(*(self._reread(spool, key) for key in different))
        return len(gone) + len(different)

    async def _reread(self, spool: Spool, key: Key) -> None:
        async with self._gate:
            try:
                self._put(spool, await self.table.get_entity(*key))
            except ResourceNotFoundError:
                spool.drop(key[1])

    async def _partitions(self, after: Key | None) -> AsyncIterator[list[str]]:
        """Yields partition keys in order, one list per answer."""
        last = after[0] if after else None
        while True:
            query = Query("PartitionKey gt @last", {"last": last}) if last is not None else Query("", {})
            async with aclosing(pages(self.table, query, 1000, ["PartitionKey"])) as found:
                names = [entity["PartitionKey"] for entity in await anext(found, [])]
            if not names:
                return
            yield list(dict.fromkeys(names))
            last = names[-1]

    def _put(self, spool: Spool, entity: TableEntity) -> None:
        spool.put(entity["RowKey"], str(entity.metadata["etag"]), self._line(entity))

    def _line(self, entity: TableEntity) -> bytes:
        return line_of(self.changed(entity, entity.metadata["timestamp"]))


async def pages(
    table: TableClient, query: Query, size: int, select: list[str] | None = None
) -> AsyncGenerator[list[TableEntity]]:
    """Yields the pages of a query and frees each after use: the SDK's pager refers to itself and its last page."""
    options: dict[str, Any] = {"results_per_page": size, "select": select}
    if query.filter:
        pager = table.query_entities(query.filter, parameters=query.parameters, **options).by_page()
    else:
        pager = table.list_entities(**options).by_page()
    try:
        async for page in pager:
            if rows := [entity async for entity in page]:
                yield rows
    finally:
        vars(pager).clear()


def _behind(after: Key | None) -> list[Query]:
    """Returns two queries, as storage scans a whole table for a filter with `or`."""
    if after is None:
        return [Query("", {})]
    partition, row = after
    rest = Query("PartitionKey eq @partition and RowKey gt @row", {"partition": partition, "row": row})
    return [rest, Query("PartitionKey gt @partition", {"partition": partition})]


def _between(partition: str, first: str, last: str) -> Query:
    parameters = {"partition": partition, "first": first, "last": last}
    return Query("PartitionKey eq @partition and RowKey ge @first and RowKey le @last", parameters)


async def _ended(lines: AsyncIterator[tuple[str, bytes]], partition: str) -> AsyncIterator[Item]:
    """Yields the lines of a partition as items; the last one is `whole`."""
    before: tuple[str, bytes] | None = None
    async for line in lines:
        if before:
            yield Item((partition, before[0]), before[1], whole=False)
        before = line
    if before:
        yield Item((partition, before[0]), before[1], whole=True)


def _checkpoints(lines: Iterable[bytes]) -> Iterator[tuple[str, int]]:
    """Yields each blob incarnation with the offset up to which it was read."""
    for row in map(row_of, lines):
        if row["RowKey"].startswith(_CHECKPOINT):
            offset: Any = row["offset"]
            yield row["RowKey"][len(_CHECKPOINT) :], int(getattr(offset, "value", offset))


def _key(entity: TableEntity) -> Key:
    return entity["PartitionKey"], entity["RowKey"]
