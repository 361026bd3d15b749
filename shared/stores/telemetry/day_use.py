"""Rows of the table `attempts` beside the sets of runs: which jobs have new runs, and what runs of a day used by job.

Partitions sort behind those of jobs. A note `<account>~~changed` says that a job's runs changed in an hour, or will
within a function's call. It is deleted when that hour is long over, so that no run is missed.
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple

from shared.domain.core.keys import SEPARATOR, partition_of
from shared.domain.efficiency.day_use import DayUse, JobUse
from shared.errors import CacheConflictError, UnreadableError
from shared.log import logger
from shared.stores.tables.rows import json_columns, json_of, row_of
from shared.stores.tables.tables import Tables, delete_row, delete_rows, load_row, rows_between, save_row
from shared.stores.tables.unreadable import decoding, schema_of
from shared.stores.telemetry.measured_attempts import TABLE, changed_partition, day_key

_LOG = logger(__name__)
_KIND = "use"
_TRIES = 5


class ChangedJob(NamedTuple):
    """The key of a job whose runs changed in an hour since 1970."""

    key: str
    hour: int
    etag: str


class DayUseStore:
    def __init__(self, tables: Tables) -> None:
        self._table = tables[TABLE]

    async def changed(self, account_key: str) -> list[ChangedJob]:
        """Returns the jobs with notes, the oldest first. Raises StorageError."""
        rows = rows_between(self._table, changed_partition(account_key), "", SEPARATOR)
        found = [ChangedJob(row["RowKey"], int(row["hour"]), row["etag"]) async for row in rows]
        return sorted(found, key=lambda one: (one.hour, one.key))

    async def forget(self, account_key: str, changed: ChangedJob) -> None:
        """Deletes a note unless the job changed again. Raises StorageError."""
        with suppress(CacheConflictError):
            await delete_row(self._table, changed_partition(account_key), changed.key, changed.etag)

    async def load(self, account_key: str, days: range) -> dict[int, DayUse]:
        """Returns what is stored of some days since 1970; a row that can't be read is left out. Raises StorageError."""
        found = dict[int, DayUse]()
        rows = rows_between(self._table, _partition(account_key), day_key(days.start), day_key(days.stop))
        async for row in rows:
            try:
                with decoding(row, "use of", kind=_KIND):
                    found[int(row["RowKey"])] = DayUse.of_plain(json_of(row, "jobs"), row["etag"])
            except UnreadableError as error:
                _LOG.warning("What tasks used on a day is left out: %s", error)
        return found

    async def change(self, account_key: str, day: int, jobs: Mapping[str, JobUse]) -> None:
        """Changes the use of some jobs on a day, despite concurrent writers.

        Raises CacheConflictError, StorageError.
        """
        partition, key = _partition(account_key), day_key(day)
        for _ in range(_TRIES):
            before = (await self.load(account_key, range(day, day + 1))).get(day)
            if before is None:  # none, or one that can't be read
                row = await load_row(self._table, partition, key)
                before = DayUse(etag=row["etag"] if row else None)
            after = before.with_jobs(jobs)
            if after is before:
                return
            columns = {**schema_of(_KIND), **json_columns("jobs", after.plain())}
            with suppress(CacheConflictError):
                await save_row(self._table, row_of(partition, key, columns), before.etag)
                return
        raise CacheConflictError("Too many processes write what tasks used on a day at once.")

    async def delete_before(self, account_key: str, day: int) -> int:
        """Deletes the rows of days before `day`; returns their number. Raises StorageError."""
        partition = _partition(account_key)
        keys = [row["RowKey"] async for row in rows_between(self._table, partition, "", day_key(day), ["RowKey"])]
        await delete_rows(self._table, partition, keys)
        return len(keys)


def _partition(account_key: str) -> str:
    return partition_of(account_key, f"{SEPARATOR}use")
