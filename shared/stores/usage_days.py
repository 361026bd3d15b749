"""The table `usage`: an account's usage by day, in a partition for each month (UTC).

Row `d<day>` has a day's pools, `h<day>` their hours and `j<day>` the jobs, so that a query reads only what it needs.
All three are written in one transaction, under the ETag of the first.
"""

import asyncio
from collections.abc import Collection
from dataclasses import replace
from datetime import date, timedelta
from itertools import groupby
from typing import Literal

import msgspec
from azure.data.tables import UpdateMode

from shared.domain.core.keys import partition_of
from shared.domain.cost.usage_days import (
    UsageDay,
    hours_of_plain,
    jobs_of_plain,
    plain_ends,
    plain_hours,
    plain_jobs,
    plain_pools,
    pools_of_plain,
)
from shared.errors import CacheConflictError, UnreadableError
from shared.log import logger
from shared.stores.tables.rows import Row, json_columns, json_of, row_of, whole, write_units, written
from shared.stores.tables.tables import Tables, delete_rows, load_partitions, rows_between
from shared.stores.tables.unreadable import decoding, schema_of

type _JobLabels = dict[str, dict[str, str]]
type _PoolLabels = tuple[dict[str, dict[str, str]], dict[str, str]]
type Part = Literal["hours", "jobs"]

_LOG = logger(__name__)
_KIND = "usage"
_DIGITS = 7
_EPOCH = date(1970, 1, 1)
_POOLS, _LETTERS = "d", {"hours": "h", "jobs": "j"}


class UsageDayStore:
    def __init__(self, tables: Tables) -> None:
        self._table = tables["usage"]

    async def load(self, account_key: str, days: range, parts: Collection[Part] = ()) -> dict[int, UsageDay]:
        """Returns the stored ones of some days, by day, with their hours and jobs if asked. Raises StorageError.

        A day that can't be read is left out, and logged.
        """
        months = [list(some) for _, some in groupby(days, _month)]
        found: dict[int, UsageDay] = {}
        # Rows with the ETag come first: if another host writes meanwhile, what is written after this read conflicts.
        for letters in ([_POOLS], [_LETTERS[part] for part in parts]):
            reads = (self._read(account_key, letter, month) for letter in letters for month in months)
            for row in (row for rows in await asyncio.gather(*reads) for row in rows):
                _take(found, row)
        return found

    async def save(self, account_key: str, day: UsageDay) -> None:
        """Writes a day under its ETag. Raises CacheConflictError if another host did, StorageError."""
        partition = _partition(account_key, _month(day.day))
        columns = {
            **schema_of(_KIND),
            "asOf": whole(day.as_of),
            "settled": day.settled,
            "final": day.is_final,
            **json_columns("outcomes", day.outcomes_as_of),
            **json_columns("pools", plain_pools(day.pools)),
            **json_columns("labels", [day.pool_labels, day.tags]),
        }
        beside = {
            "hours": {"hours": plain_hours(day.hours)},
            "jobs": {"jobs": plain_jobs(day.jobs), "ends": plain_ends(day.jobs), "labels": day.job_labels},
        }
        unit = [written(row_of(partition, _row_key(_POOLS, day.day), columns), day.etag)]
        for name, parts in beside.items():
            columns = {**schema_of(_KIND)}
            for part, plain in parts.items():
                columns |= json_columns(part, plain)
            if name == "jobs" and day.runs_as_of is not None:
                columns["runsAsOf"] = whole(day.runs_as_of)
            row = row_of(partition, _row_key(_LETTERS[name], day.day), columns)
            unit.append(("upsert", row, {"mode": UpdateMode.REPLACE}))
        (end,) = await write_units(self._table, [unit])
        if isinstance(end, CacheConflictError):
            raise end

    async def delete_before(self, account_key: str, day: int) -> int:
        """Deletes the rows of days before `day`; returns their number. Raises StorageError."""
        number = 0
        for partition in await load_partitions(self._table, _partition(account_key, "")):
            for letter in (_POOLS, *_LETTERS.values()):
                rows = rows_between(self._table, partition, letter, _row_key(letter, day), ["RowKey"])
                keys = [row["RowKey"] async for row in rows]
                await delete_rows(self._table, partition, keys)
                number += len(keys)
        return number

    async def _read(self, account_key: str, letter: str, days: list[int]) -> list[Row]:
        first, last = _row_key(letter, days[0]), _row_key(letter, days[-1] + 1)
        partition = _partition(account_key, _month(days[0]))
        return [row async for row in rows_between(self._table, partition, first, last)]


def _month(day: int) -> str:
    return (_EPOCH + timedelta(days=day)).strftime("%Y%m")


def _partition(account_key: str, month: str) -> str:
    return partition_of(account_key, month)


def _row_key(letter: str, day: int) -> str:
    return f"{letter}{day:0{_DIGITS}}"


def _take(found: dict[int, UsageDay], row: Row) -> None:
    """Adds what a row has of a day; rows of pools come before the others."""
    letter, day = row["RowKey"][0], int(row["RowKey"][1:])
    try:
        with decoding(row, "usage of", kind=_KIND):
            if letter == _POOLS:
                pools = pools_of_plain(json_of(row, "pools"))
                pool_labels, tags = msgspec.convert(json_of(row, "labels") or [{}, {}], _PoolLabels.__value__)
                found[day] = UsageDay(
                    day,
                    int(row["asOf"]),
                    pools,
                    settled=int(row["settled"]),
                    is_final=bool(row["final"]),
                    pool_labels=pool_labels,
                    tags=tags,
                    etag=row["etag"],
                    outcomes_as_of=msgspec.convert(json_of(row, "outcomes") or (), tuple[int, ...]),
                )
            elif day in found and letter == _LETTERS["hours"]:
                found[day] = replace(found[day], hours=hours_of_plain(json_of(row, "hours")))
            elif day in found:
                labels = msgspec.convert(json_of(row, "labels") or {}, _JobLabels.__value__)
                jobs = jobs_of_plain(json_of(row, "jobs"), json_of(row, "ends"))
                read = int(row["runsAsOf"]) if "runsAsOf" in row else None
                found[day] = replace(found[day], jobs=jobs, job_labels=labels, runs_as_of=read)
    except UnreadableError as error:
        _LOG.warning("The usage of a day is left out: %s", error)
