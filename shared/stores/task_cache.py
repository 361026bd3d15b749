"""The task cache in Table Storage: one partition per generation of a job, a head and leaves.

Row `!` is the head, written last; `s<low key>` is a leaf whose tasks have keys from `<low key>` up to the next leaf's;
`s` is the first. A leaf's counts stand beside its packed tasks, so a directory of all leaves costs no payload. Every
write is conditional: a CacheConflictError means that another poll wrote meanwhile and this one must give way.

Source of the limits: a transaction has at most 100 operations and 4 MiB, an entity 1 MiB, a binary property 64 KiB
(documentation of Table Storage).
"""

import asyncio
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from azure.core import MatchConditions
from azure.core.exceptions import ResourceNotFoundError
from azure.data.tables import UpdateMode
from azure.data.tables.aio import TableClient

from shared.domain.leaves import Leaf, UnreadableLeafError
from shared.domain.tasks import COUNT_FIELDS, TaskCounts
from shared.errors import CacheConflictError, StorageError
from shared.stores.tables import (
    Row,
    Tables,
    delete_partition,
    load_partitions,
    load_range,
    load_rows,
    save_row,
    translated,
    with_etag,
)

HEAD = "!"
_CHUNK = 64 * 1024
_MAX_OPERATIONS = 100
_MAX_BYTES = 3_000_000  # of 4 MiB, as the wire form is base64 in JSON in a multipart body
_DIRECTORIES = 500
_GONE = 404
_COLLECTED = "A leaf of the task cache is gone: its generation was collected."


@dataclass(frozen=True, slots=True)
class LeafEntry:
    """One leaf in a directory: its row, its counts, and the ETag under which both were seen."""

    row: str
    counts: TaskCounts
    etag: str | None


@dataclass(frozen=True, slots=True)
class Directory:
    """All leaves of a generation in key order, as one query saw them, and the head's ETag (None: no head yet)."""

    partition: str
    leaves: tuple[LeafEntry, ...] = ()
    head_etag: str | None = None

    @property
    def counts(self) -> TaskCounts:
        return sum((leaf.counts for leaf in self.leaves), TaskCounts())

    def place_of(self, key: str) -> int:
        """The index of the leaf that holds `key`; the directory must have a leaf."""
        return max(0, bisect_right(self.leaves, f"s{key}", key=lambda leaf: leaf.row) - 1)


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A leaf and what it becomes: itself alone, or itself and the siblings split off; one transaction writes them."""

    entry: LeafEntry
    leaves: Sequence[Leaf]

    def rows(self) -> list[str]:
        return [self.entry.row, *(f"s{leaf.keys[0]}" for leaf in self.leaves[1:])]


class TaskCache:
    """Remembers directories of recent generations: an ETag that is out of date only makes a poll give way.

    But sums of leaves that are out of date show nowhere unless the head was written since, so whoever goes on with what
    another process has begun has to `forget` first.
    """

    def __init__(self, tables: Tables) -> None:
        self._table: TableClient = tables["tasks"]
        self._known: OrderedDict[str, Directory] = OrderedDict()

    async def load_directory(self, partition: str) -> Directory:
        """The directory as it was before now; from memory where this process wrote or read it last."""
        known = self._known.get(partition)
        if known is not None:
            self._known.move_to_end(partition)
            return known
        return self._remember(await self.read_directory(partition))

    async def read_directory(self, partition: str) -> Directory:
        """The directory as storage has it now."""
        head: str | None = None
        leaves: list[LeafEntry] = []
        for row in await load_rows(self._table, partition, ["RowKey", *COUNT_FIELDS]):
            if row["RowKey"] == HEAD:
                head = row["etag"]
            elif row["RowKey"].startswith("s"):
                counts = TaskCounts(*(row[field] for field in COUNT_FIELDS))
                leaves.append(LeafEntry(row["RowKey"], counts, row["etag"]))
        return Directory(partition, tuple(sorted(leaves, key=lambda leaf: leaf.row)), head)

    def forget(self, partition: str) -> None:
        """After a conflict: the next `load_directory` reads storage."""
        self._known.pop(partition, None)

    async def load_leaf(self, partition: str, entry: LeafEntry) -> Leaf:
        """A leaf's tasks. Raises CacheConflictError if it isn't what the directory saw."""
        if entry.etag is None:
            return Leaf()
        try:
            with translated("read a leaf of the task cache"):
                row = await self._table.get_entity(partition, entry.row)
        except StorageError as error:
            if isinstance(error.__cause__, ResourceNotFoundError):
                raise CacheConflictError(_COLLECTED) from error
            raise
        return _leaf_of(with_etag(row), partition, entry)

    async def load_run(self, partition: str, entries: Sequence[LeafEntry]) -> list[Leaf]:
        """Leaves that stand close together, in order: one query reads all between the first and the last.

        Raises CacheConflictError if they aren't what the directory saw.
        """
        found = await load_range(self._table, partition, entries[0].row, entries[-1].row)
        return [_leaf_of(found.get(entry.row), partition, entry) for entry in entries]

    async def save_leaves(self, directory: Directory, rewrites: Iterable[Rewrite]) -> Directory:
        """Writes leaves, as many to a transaction as fit; a leaf and its siblings never part. Gives the new directory.

        Raises CacheConflictError; transactions before it stand, which the next poll finds and converges on.
        """
        entries = {entry.row: entry for entry in directory.leaves}
        for operations, counts in _transactions(directory.partition, rewrites):
            try:
                with translated("write the task cache"):
                    answers = await self._table.submit_transaction(operations)
            except StorageError as error:
                if getattr(error.__cause__, "status_code", None) == _GONE:
                    raise CacheConflictError(_COLLECTED) from error
                raise
            for (row, total), answer in zip(counts, answers, strict=True):
                entries[row] = LeafEntry(row, total, str(answer["etag"]))
        leaves = tuple(sorted(entries.values(), key=lambda leaf: leaf.row))
        return self._remember(replace(directory, leaves=leaves))

    async def save_head(self, directory: Directory, as_of: datetime) -> Directory:
        """Writes the head, which makes the leaves' sums official as of T0. Raises CacheConflictError."""
        counts = directory.counts
        row = {
            "PartitionKey": directory.partition,
            "RowKey": HEAD,
            "asOf": as_of,
            "leaves": len(directory.leaves),
            **{field: getattr(counts, field) for field in COUNT_FIELDS},
        }
        etag = await save_row(self._table, row, directory.head_etag)
        return self._remember(replace(directory, head_etag=etag))

    async def delete_generation(self, partition: str) -> None:
        """Deletes a generation that nothing points to, or what is left of it. Raises StorageError."""
        self.forget(partition)
        await delete_partition(self._table, partition)

    async def load_generations(self, prefix: str) -> list[str]:
        """The partitions there are whose keys begin with `prefix`."""
        return await load_partitions(self._table, prefix)

    def _remember(self, directory: Directory) -> Directory:
        self._known[directory.partition] = directory
        self._known.move_to_end(directory.partition)
        while len(self._known) > _DIRECTORIES:
            self._known.popitem(last=False)
        return directory


async def load_leaves(cache: TaskCache, partition: str, entries: Sequence[LeafEntry]) -> list[Leaf]:
    """Several leaves at once, a few requests at a time. Raises CacheConflictError."""
    gate = asyncio.Semaphore(8)

    async def load(entry: LeafEntry) -> Leaf:
        async with gate:
            return await cache.load_leaf(partition, entry)

    return list(await asyncio.gather(*map(load, entries)))


async def load_run(cache: TaskCache, partition: str, entries: Sequence[LeafEntry]) -> list[Leaf]:
    """The same for leaves most of which are neighbours."""
    return await cache.load_run(partition, entries)


type Operation = tuple[Any, ...]
type Counted = list[tuple[str, TaskCounts]]


def _transactions(partition: str, rewrites: Iterable[Rewrite]) -> Iterable[tuple[list[Operation], Counted]]:
    operations: list[Operation] = []
    counts: Counted = []
    size = 0
    for rewrite in rewrites:
        unit: list[Operation] = []
        unit_counts: Counted = []
        unit_size = 0
        for row, leaf in zip(rewrite.rows(), rewrite.leaves, strict=True):
            packed, total = leaf.pack(), leaf.counts()
            unit.append(_operation(partition, row, rewrite.entry, packed, total))
            unit_counts.append((row, total))
            unit_size += len(packed) * 4 // 3 + 1500
        if operations and (len(operations) + len(unit) > _MAX_OPERATIONS or size + unit_size > _MAX_BYTES):
            yield operations, counts
            operations, counts, size = [], [], 0
        operations, counts, size = operations + unit, counts + unit_counts, size + unit_size
    if operations:
        yield operations, counts


def _operation(partition: str, row: str, entry: LeafEntry, packed: bytes, counts: TaskCounts) -> Operation:
    chunks = {f"d{at // _CHUNK}": packed[at : at + _CHUNK] for at in range(0, len(packed), _CHUNK)}
    columns = {field: getattr(counts, field) for field in COUNT_FIELDS}
    entity: Row = {"PartitionKey": partition, "RowKey": row, **columns, **chunks}
    if row == entry.row and entry.etag is not None:
        condition = {"mode": UpdateMode.REPLACE, "etag": entry.etag, "match_condition": MatchConditions.IfNotModified}
        return ("update", entity, condition)
    return ("create", entity)


def _leaf_of(row: Row | None, partition: str, entry: LeafEntry) -> Leaf:
    if entry.etag is None:
        return Leaf()
    if row is None:
        raise CacheConflictError(_COLLECTED)
    if row["etag"] != entry.etag:
        raise CacheConflictError("Another poll rewrote a leaf of the task cache.")
    try:
        return Leaf.unpack(_joined(row))
    except UnreadableLeafError as error:
        raise StorageError(f"The task cache can't be read in {partition}, row {entry.row}: {error}") from error


def _joined(row: Row) -> bytes:
    packed = b""
    while (chunk := row.get(f"d{len(packed) // _CHUNK}")) is not None:
        packed += chunk
        if len(chunk) < _CHUNK:
            break
    return packed
