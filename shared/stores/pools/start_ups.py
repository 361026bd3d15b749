"""Rows `<day>~<pool>` of the table `poolhistory`, in a partition of their own: a pool's start-ups of a day.

The day comes first, so that one request reads those of all pools, and housekeeping finds the old ones.
"""

from collections import OrderedDict
from collections.abc import AsyncGenerator, Collection, Sequence
from dataclasses import replace

from shared.domain.core.keys import SEPARATOR, partition_of
from shared.domain.pools.start_up_days import StartUpDay, day_of_plain, figures_of_plain, plain_day, plain_figures
from shared.domain.pools.start_up_figures import FiguresByGroup
from shared.errors import CacheConflictError, UnreadableError
from shared.log import logger
from shared.stores.tables.rows import Row, json_columns, json_of, row_of, write_units, written
from shared.stores.tables.tables import MAX_KEY_LENGTH, Tables, delete_rows, load_row, rows_between
from shared.stores.tables.unreadable import decoding, schema_of

_LOG = logger(__name__)
_KIND = "startups"
_DIGITS = 7
_FIRST = f"{0:0{_DIGITS}}"
_REMEMBERED = 20_000  # start-ups, and days
type _Name = tuple[str, str, int]


class StartUpStore:
    """Days of pools; caches recent ones, as an outdated ETag only makes a writer read again."""

    def __init__(self, tables: Tables) -> None:
        self._table = tables["poolhistory"]
        self._known: OrderedDict[_Name, StartUpDay] = OrderedDict()
        self._remembered = 0  # start-ups

    async def load(self, account_key: str, pool_key: str, day: int, nodes: Collection[str]) -> StartUpDay:
        """Returns a day of a pool, from memory if it has all of these nodes there. Raises StorageError."""
        known = self._known.get((account_key, pool_key, day))
        if known and known.start_ups.keys() >= set(nodes):
            return known
        return self._remember(account_key, await self.read(account_key, pool_key, day))

    async def read(self, account_key: str, pool_key: str, day: int) -> StartUpDay:
        """Returns a day of a pool from storage; an unreadable one begins anew. Raises StorageError."""
        key = _row_key(day, pool_key)
        row = await load_row(self._table, _partition(account_key), key) if len(key) <= MAX_KEY_LENGTH else None
        return _day_of(row) if row else StartUpDay(pool_key, day)

    async def save_all(self, account_key: str, days: Sequence[StartUpDay]) -> list[CacheConflictError | None]:
        """Writes days under their ETags, together; returns conflicts with other writers. Raises StorageError."""
        units = [(written(_row(account_key, day), day.etag),) for day in days]
        conflicts: list[CacheConflictError | None] = []
        for day, end in zip(days, await write_units(self._table, units), strict=True):
            if isinstance(end, CacheConflictError):
                self._forget((account_key, day.pool_key, day.day))
                conflicts.append(end)
            else:
                self._remember(account_key, replace(day, etag=end[_row_key(day.day, day.pool_key)]))
                conflicts.append(None)
        return conflicts

    async def figures(self, account_key: str, first: int, last: int) -> dict[str, FiguresByGroup]:
        """Returns each pool's figures of the latest of these days with any, by one request. Raises StorageError."""
        found: dict[str, FiguresByGroup] = {}
        async for row in self._rows(account_key, first, last, ["PartitionKey", "RowKey", "schema", "figures0"]):
            try:
                with decoding(row, "start-ups of", kind=_KIND):
                    found[_pool_key(row)] = figures_of_plain(json_of(row, "figures"))
            except UnreadableError as error:
                _LOG.warning("Start-ups are left out: %s", error)
        return found

    async def delete_before(self, account_key: str, day: int) -> int:
        """Deletes rows of days before `day`; returns their number. Raises StorageError."""
        keys = [row["RowKey"] async for row in self._between(account_key, _FIRST, f"{day:0{_DIGITS}}", ["RowKey"])]
        await delete_rows(self._table, _partition(account_key), keys)
        return len(keys)

    def _rows(self, account_key: str, first: int, last: int, select: list[str]) -> AsyncGenerator[Row]:
        return self._between(account_key, f"{first:0{_DIGITS}}", f"{last + 1:0{_DIGITS}}", select)

    def _between(self, account_key: str, low: str, high: str, select: list[str]) -> AsyncGenerator[Row]:
        return rows_between(self._table, _partition(account_key), low, high, select)

    def _remember(self, account_key: str, day: StartUpDay) -> StartUpDay:
        name = (account_key, day.pool_key, day.day)
        self._forget(name)
        self._known[name] = day
        self._remembered += len(day.start_ups) + 1
        while self._remembered > _REMEMBERED and len(self._known) > 1:
            self._forget(next(iter(self._known)))
        return day

    def _forget(self, name: _Name) -> None:
        if known := self._known.pop(name, None):
            self._remembered -= len(known.start_ups) + 1


def _partition(account_key: str) -> str:
    return partition_of(account_key, "startups")


def _row_key(day: int, pool_key: str) -> str:
    return partition_of(f"{day:0{_DIGITS}}", pool_key)


def _row(account_key: str, day: StartUpDay) -> Row:
    packed = {**json_columns("figures", plain_figures(day)), **json_columns("nodes", plain_day(day))}
    return row_of(_partition(account_key), _row_key(day.day, day.pool_key), {**schema_of(_KIND), **packed})


def _pool_key(row: Row) -> str:
    return str(row["RowKey"]).partition(SEPARATOR)[2]


def _day_of(row: Row) -> StartUpDay:
    pool_key, day = _pool_key(row), int(row["RowKey"][:_DIGITS])
    try:
        with decoding(row, "start-ups of", kind=_KIND):
            return replace(day_of_plain(pool_key, day, json_of(row, "nodes")), etag=row["etag"])
    except UnreadableError as error:
        _LOG.warning("Start-ups of a day begin anew: %s", error)
        return StartUpDay(pool_key, day, etag=row["etag"])
