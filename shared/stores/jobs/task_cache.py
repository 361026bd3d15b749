"""The task cache in Table Storage: one partition per generation of a job, with a head and leaves.

Row `!` is the head, written last. `s<low key>` is a leaf with tasks from `<low key>` to before the next leaf; `s` is
the first. Counts are stored beside the packed tasks, so a directory of all leaves needs no payload. Every write is
conditional: on CacheConflictError another poll wrote meanwhile, and this one must yield.
"""

import asyncio
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from azure.data.tables.aio import TableClient

from shared.domain.leaves.leaf_counters import LeafCounters
from shared.domain.leaves.leaf_summaries import Summary
from shared.domain.leaves.leaves import Leaf, UnreadableLeafError
from shared.domain.leaves.run_ends import RunEnds
from shared.domain.tasks.failure_categories import FailedTasks, failed_tasks_of, is_known
from shared.domain.tasks.failures import Failures
from shared.domain.tasks.job_statistics import StoredJobStatistics
from shared.domain.tasks.task_counters import NOTHING, TaskCounters
from shared.domain.tasks.tasks import COUNT_FIELDS, TaskCounts
from shared.errors import CacheConflictError, UnreadableError
from shared.log import logger
from shared.stores.jobs.heads import HEAD, Head, head_of, head_row, origin_of, sum_of
from shared.stores.jobs.leaf_rows import COUNTERS, RUN_ENDS, TASKS, LeafEntry, LeafReplacement, entry_of
from shared.stores.tables.rows import Row, bytes_of, transactions, write_at_once
from shared.stores.tables.tables import (
    Tables,
    delete_partition,
    load_partitions,
    load_range,
    load_row,
    load_rows,
    save_row,
)

_LOG = logger(__name__)
_DIRECTORIES = 500
_LOGGED_CODES = 100


@dataclass(frozen=True, slots=True)
class Directory:
    """All leaves of a generation in key order, from one query, and the head's ETag (None: no head).

    `statistics` and `failed_tasks` are sums over the leaves once the head was saved.
    """

    partition: str
    leaves: tuple[LeafEntry, ...] = ()
    head_etag: str | None = None
    statistics: StoredJobStatistics | None = field(default=None, compare=False)
    failed_tasks: FailedTasks | None = field(default=None, compare=False)

    @property
    def counters(self) -> TaskCounters:
        return sum((leaf.counters for leaf in self.leaves), NOTHING)

    @property
    def counts(self) -> TaskCounts:
        return sum((leaf.counts for leaf in self.leaves), TaskCounts())

    @property
    def summary(self) -> Summary | None:
        """Returns the sum of the leaves' summaries; None if one is unavailable."""
        return sum_of(leaf.summary for leaf in self.leaves)

    @property
    def origin(self) -> bytes | None:
        """Returns the digest that statistics of these leaves has; None if they can't have any."""
        return origin_of((leaf.row, leaf.summary) for leaf in self.leaves)

    def place_of(self, key: str) -> int:
        """Returns the index of the leaf that holds `key`; the directory must have a leaf."""
        return max(0, bisect_right(self.leaves, f"s{key}", key=lambda leaf: leaf.row) - 1)


class TaskCache:
    """Task cache; caches directories of recent generations, as an outdated ETag only makes a poll yield.

    Outdated sums of leaves show only if the head was written since. So a process that continues another's work must
    call `forget` first.
    """

    def __init__(self, tables: Tables) -> None:
        self._table: TableClient = tables["tasks"]
        self._known: OrderedDict[str, Directory] = OrderedDict()
        self._unknown_codes: set[str] = set()

    async def load_directory(self, partition: str) -> Directory:
        """Returns the directory before now, from memory if this process wrote or read it last."""
        known = self._known.get(partition)
        if known is not None:
            self._known.move_to_end(partition)
            return known
        return self._remember(await self.read_directory(partition))

    async def read_directory(self, partition: str) -> Directory:
        """Returns the directory from storage."""
        head: str | None = None
        leaves: list[LeafEntry] = []
        for row in await load_rows(self._table, partition, ["RowKey", "summary", COUNTERS, *COUNT_FIELDS]):
            if row["RowKey"] == HEAD:
                head = row["etag"]
            elif row["RowKey"].startswith("s"):
                leaves.append(entry_of(row, row["etag"]))
        return Directory(partition, tuple(sorted(leaves, key=lambda leaf: leaf.row)), head)

    def forget(self, partition: str) -> None:
        """Drops a directory after a conflict: the next `load_directory` reads storage."""
        self._known.pop(partition, None)

    async def load_leaf(self, partition: str, entry: LeafEntry) -> Leaf:
        """Returns a leaf's tasks. Raises CacheConflictError if the leaf has changed since the directory was read."""
        intent = "read a leaf of the task cache"
        row = await load_row(self._table, partition, entry.row, intent) if entry.etag else None
        return _leaf_of(row, partition, entry)

    async def load_run(self, partition: str, entries: Sequence[LeafEntry]) -> list[Leaf]:
        """Returns leaves that are close together, in order: one query reads from the first to the last.

        Raises CacheConflictError if they have changed since the directory was read.
        """
        found = await load_range(self._table, partition, entries[0].row, entries[-1].row)
        return [_leaf_of(found.get(entry.row), partition, entry) for entry in entries]

    async def load_leaves(self, partition: str, entries: Sequence[LeafEntry]) -> list[Leaf]:
        """Returns several leaves, a few requests at a time. Raises CacheConflictError."""
        gate = asyncio.Semaphore(8)

        async def load(entry: LeafEntry) -> Leaf:
            async with gate:
                return await self.load_leaf(partition, entry)

        return list(await asyncio.gather(*map(load, entries)))

    async def save_leaves(self, directory: Directory, rewrites: Iterable[LeafReplacement]) -> Directory:
        """Writes leaves in as few transactions as possible, each with its siblings; returns the new directory.

        Raises CacheConflictError; earlier transactions remain, and the next poll converges on them.
        """
        entries = {entry.row: entry for entry in directory.leaves}
        for units in transactions(rewrite.unit(directory.partition) for rewrite in rewrites):
            operations = [operation for unit in units for operation in unit]
            etags = await write_at_once(self._table, operations)
            entries |= {row["RowKey"]: entry_of(row, etags[row["RowKey"]]) for _, row, *_ in operations}
        leaves = tuple(sorted(entries.values(), key=lambda leaf: leaf.row))
        return self._remember(replace(directory, leaves=leaves, statistics=None, failed_tasks=None))

    async def save_head(self, directory: Directory, as_of: datetime) -> Directory:
        """Writes the head, with which the leaves' sums count as of T0. Raises CacheConflictError."""
        summary, origin = directory.summary, directory.origin
        head = Head(as_of, directory.counts, summary.failures if summary else None)
        row = head_row(directory.partition, head, leaves=len(directory.leaves))
        statistics = StoredJobStatistics.of(summary.statistics, origin) if summary and origin else None
        etag = await save_row(self._table, row, directory.head_etag)
        failed = failed_tasks_of(summary.failures) if summary else None
        self._log_unknown(summary.failures if summary else Failures())
        return self._remember(replace(directory, head_etag=etag, statistics=statistics, failed_tasks=failed))

    async def load_head(self, partition: str) -> Head | None:
        """Returns the head from storage; None before its first write, or after its generation was deleted."""
        row = await load_row(self._table, partition, HEAD)
        return head_of(row) if row else None

    async def delete_generation(self, partition: str) -> None:
        """Deletes an unused generation, or the rest of it. Raises StorageError."""
        self.forget(partition)
        await delete_partition(self._table, partition)

    async def load_generations(self, prefix: str) -> list[str]:
        """Returns the existing partitions whose keys begin with `prefix`."""
        return await load_partitions(self._table, prefix)

    def _log_unknown(self, failures: Failures) -> None:
        """Logs each failure code that the table of categories lacks, once a process, and not more than 100 of them."""
        codes = {group.failure[1] for group in failures.groups if not is_known(group.failure[1])}
        for code in sorted(codes - self._unknown_codes)[: _LOGGED_CODES - len(self._unknown_codes)]:
            self._unknown_codes.add(code)
            _LOG.warning("Tasks failed with the unknown code %r; they count as other.", code[:_LOGGED_CODES])

    def _remember(self, directory: Directory) -> Directory:
        self._known[directory.partition] = directory
        self._known.move_to_end(directory.partition)
        while len(self._known) > _DIRECTORIES:
            self._known.popitem(last=False)
        return directory


def _leaf_of(row: Row | None, partition: str, entry: LeafEntry) -> Leaf:
    if entry.etag is None:
        return Leaf()
    if row is None:
        raise CacheConflictError("A leaf of the task cache is gone: its generation was collected.")
    if row["etag"] != entry.etag:
        raise CacheConflictError("Another poll rewrote a leaf of the task cache.")
    try:
        leaf = Leaf.unpack(bytes_of(row, TASKS))
    except UnreadableLeafError as error:
        raise UnreadableError(f"The task cache can't be read in {partition}, row {entry.row}: {error}") from error
    leaf.counters, leaf.run_ends = LeafCounters.unpack(row.get(COUNTERS)), RunEnds.unpack(row.get(RUN_ENDS))
    return leaf
