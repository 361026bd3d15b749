"""The table `attempts`: what runs of tasks used, a partition per job, and a row for each day (UTC) and blob.

A row has a set of runs and the summary of the set, which queries read alone. It is written under its ETag, before the
step of the blob that contributed to it, so a repetition writes the same once more.

The partition `<account>~~days` has a row for each day and job, written before the first set, by which housekeeping
finds old rows. It sorts behind those of jobs, so that a backup reads it last. So does `<account>~~changed`, which names
jobs with new runs (day_use.py).
"""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from azure.data.tables import UpdateMode

from shared.domain.core.keys import SEPARATOR, key_of, partition_of
from shared.domain.core.stamps import to_milliseconds
from shared.domain.efficiency.attempt_sets import DAY, AttemptSet, day_of
from shared.domain.efficiency.task_groups import TaskGroups, groups_of_plain, plain_groups, summed_groups
from shared.domain.telemetry.sessions.attempt_records import MeasuredAttempt
from shared.errors import CacheConflictError, UnreadableError
from shared.log import logger
from shared.recent_cache import RecentCache
from shared.stores.tables.rows import Row, json_columns, json_of, translated, whole
from shared.stores.tables.tables import Tables, delete_rows, load_row, rows_between, save_row
from shared.stores.tables.unreadable import decoding, schema_of

TABLE = "attempts"
_LOG = logger(__name__)
_KIND, _WHAT = "attempts", "measured runs of"
_DIGITS = 5
_HOUR = 3_600_000  # milliseconds
_TRIES = 5
_REMEMBERED = 10_000  # runs, and sets: some 500 bytes each
_MAX_INDEXED = 10_000
_MAX_SUMMARY = 4  # properties of 64 KiB
_SELECTED = ["RowKey", "schema", "first", "last", *(f"summary{at}" for at in range(_MAX_SUMMARY))]


class _Place(NamedTuple):
    """A partition and a row key."""

    partition: str
    row: str


@dataclass(frozen=True, slots=True)
class _StoredSet:
    runs: AttemptSet = field(default_factory=AttemptSet)
    etag: str | None = None


@dataclass(frozen=True, slots=True)
class JobAttempts:
    """The groups of a job's measured runs, also by day since 1970.

    `latest` is the last end, in seconds since 1970, None without any.
    """

    groups: TaskGroups = field(default_factory=dict)
    latest: int | None = None
    days: Mapping[int, TaskGroups] = field(default_factory=dict)


class MeasuredAttemptStore:
    """Sets of runs; caches recent ones, as an outdated ETag only makes a writer read again."""

    def __init__(self, tables: Tables) -> None:
        self._table = tables[TABLE]
        self._known = RecentCache[_Place, _StoredSet](_REMEMBERED)
        self._indexed: set[_Place] = set()
        self._noted: dict[_Place, int] = {}

    async def add(
        self, account_key: str, incarnation: str, attempts: Collection[MeasuredAttempt], now: datetime
    ) -> None:
        """Adds the runs that a blob reports, each once. Raises CacheConflictError, StorageError."""
        sets = defaultdict[tuple[str, int], list[MeasuredAttempt]](list)
        for attempt in attempts:
            sets[key_of(attempt.job), day_of(attempt)].append(attempt)
        for job in {job for job, _ in sets}:
            await self._note_change(account_key, job, to_milliseconds(now) // _HOUR)
        for (job, day), some in sets.items():
            await self._note_day(account_key, job, day)
            await self._add(_Place(partition_of(account_key, job), f"{day_key(day)}{SEPARATOR}{incarnation}"), some)

    async def load(self, account_key: str, job_key: str, since: int = 0) -> JobAttempts:
        """Returns a job's measured runs that started at `since`, in seconds since 1970, or later. Raises StorageError.

        Rows that can't be read are left out, and logged.
        """
        partition, found = partition_of(account_key, job_key), defaultdict[int, list[TaskGroups]](list)
        latest = list[int]()
        begin, end = day_key(since // DAY), day_key(10**_DIGITS - 1)
        async for row in rows_between(self._table, partition, begin, end, _SELECTED):
            try:
                with decoding(row, _WHAT, kind=_KIND):
                    found[int(row["RowKey"][:_DIGITS])].append(await self._groups(partition, row, since))
                    latest.append(int(row["last"]))
            except UnreadableError as error:
                _LOG.warning("Measured runs are left out: %s", error)
        days = {day: summed_groups(some) for day, some in found.items()}
        return JobAttempts(summed_groups(days.values()), max(latest, default=None), days)

    async def load_runs(self, account_key: str, job_key: str, since: int = 0) -> list[MeasuredAttempt]:
        """Returns the runs of `load` one by one: of a large job they are many. Raises StorageError."""
        partition, found = partition_of(account_key, job_key), list[MeasuredAttempt]()
        async for row in rows_between(self._table, partition, day_key(since // DAY), day_key(10**_DIGITS - 1)):
            try:
                with decoding(row, _WHAT, kind=_KIND):
                    found += AttemptSet.of_plain(json_of(row, "runs")).runs.values()
            except UnreadableError as error:
                _LOG.warning("Measured runs are left out: %s", error)
        return [one for one in found if one.start >= since]

    async def delete_before(self, account_key: str, day: int) -> int:
        """Deletes the rows of days before `day`; returns the number of sets. Raises StorageError."""
        index, number = _index_partition(account_key), 0
        found = [row["RowKey"] async for row in rows_between(self._table, index, "", day_key(day), ["RowKey"])]
        for key in found:
            own, _, job = key.partition(SEPARATOR)
            partition, begin = partition_of(account_key, job), f"{own}{SEPARATOR}"
            rows = rows_between(self._table, partition, begin, f"{begin}{SEPARATOR}", ["RowKey"])
            keys = [row["RowKey"] async for row in rows]
            await delete_rows(self._table, partition, keys)
            number += len(keys)
        await delete_rows(self._table, index, found)
        return number

    async def _groups(self, partition: str, row: Row, since: int) -> TaskGroups:
        if row["first"] >= since:
            return groups_of_plain(json_of(row, "summary"))
        return (await self._load(_Place(partition, row["RowKey"]))).runs.groups(since)

    async def _note_change(self, account_key: str, job: str, hour: int) -> None:
        """Notes that a job's runs change in an hour, once an hour in this process."""
        place = _Place(changed_partition(account_key), job)
        if self._noted.get(place) == hour:
            return
        with translated("note that measured runs change"):
            row: Row = {"PartitionKey": place.partition, "RowKey": job, "hour": hour}
            await self._table.upsert_entity(row, mode=UpdateMode.REPLACE)
        if len(self._noted) >= _MAX_INDEXED:
            self._noted.clear()
        self._noted[place] = hour

    async def _note_day(self, account_key: str, job: str, day: int) -> None:
        place = _Place(_index_partition(account_key), f"{day_key(day)}{SEPARATOR}{job}")
        if place in self._indexed:
            return
        with translated("note where measured runs are"):
            row: Row = {"PartitionKey": place.partition, "RowKey": place.row}
            await self._table.upsert_entity(row, mode=UpdateMode.MERGE)
        if len(self._indexed) >= _MAX_INDEXED:
            self._indexed.clear()
        self._indexed.add(place)

    async def _add(self, place: _Place, attempts: Collection[MeasuredAttempt]) -> None:
        for _ in range(_TRIES - 1):
            try:
                await self._write(place, attempts)
            except CacheConflictError:  # another host added to the set
                continue
            return
        await self._write(place, attempts)

    async def _write(self, place: _Place, attempts: Collection[MeasuredAttempt]) -> None:
        before = self._known.pop(place) or await self._load(place)
        runs = before.runs.with_runs(attempts)
        etag = before.etag if runs is before.runs else await save_row(self._table, _row(place, runs), before.etag)
        self._known.put(place, _StoredSet(runs, etag), len(runs.runs) + 1)

    async def _load(self, place: _Place) -> _StoredSet:
        """Returns a set as stored; one that can't be read begins anew."""
        row = await load_row(self._table, place.partition, place.row)
        if row is None:
            return _StoredSet()
        try:
            with decoding(row, _WHAT, kind=_KIND):
                return _StoredSet(AttemptSet.of_plain(json_of(row, "runs")), row["etag"])
        except UnreadableError as error:
            _LOG.warning("Measured runs begin anew: %s", error)
            return _StoredSet(etag=row["etag"])


def changed_partition(account_key: str) -> str:
    """Returns the partition of notes on jobs with new runs."""
    return partition_of(account_key, f"{SEPARATOR}changed")


def _index_partition(account_key: str) -> str:
    return partition_of(account_key, f"{SEPARATOR}days")


def day_key(day: int) -> str:
    """Returns the beginning of the row keys of a day since 1970."""
    return f"{day:0{_DIGITS}}"


def _row(place: _Place, runs: AttemptSet) -> Row:
    """Returns the row of a set that isn't empty."""
    return {
        "PartitionKey": place.partition,
        "RowKey": place.row,
        **schema_of(_KIND),
        "first": whole(min(one.start for one in runs.runs.values())),
        "last": whole(max(one.start + one.duration // 1000 for one in runs.runs.values())),
        **json_columns("summary", plain_groups(runs.groups())),
        **json_columns("runs", runs.plain()),
    }
