"""Leaves as rows of the table `tasks`: tasks packed in chunks, beside the columns that a directory reads.

Source of the limits: a transaction has at most 100 operations and 4 MiB, an entity 1 MiB, a binary property 64 KiB
(documentation of Table Storage).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from azure.core import MatchConditions
from azure.data.tables import UpdateMode

from shared.domain.leaves.leaf_summaries import summary_after, summary_of
from shared.domain.leaves.leaves import Leaf
from shared.domain.tasks.tasks import COUNT_FIELDS, TaskCounts
from shared.stores.tables.tables import Row

_CHUNK = 64 * 1024
_MAX_OPERATIONS = 100
_MAX_BYTES = 3_000_000  # of 4 MiB, as the wire form is base64 in JSON in a multipart body
type Operation = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class LeafEntry:
    """A leaf in a directory: its row, its counts, and the ETag of both.

    `summary` is packed, None for a leaf of an older version.
    """

    row: str
    counts: TaskCounts
    etag: str | None
    summary: bytes | None = None


@dataclass(frozen=True, slots=True)
class LeafReplacement:
    """A leaf and its replacement: the leaf alone, or with the siblings split off, all in one transaction."""

    entry: LeafEntry
    leaves: Sequence[Leaf]

    def rows(self) -> list[str]:
        return [self.entry.row, *(f"s{leaf.keys[0]}" for leaf in self.leaves[1:])]


def transactions(
    partition: str, rewrites: Iterable[LeafReplacement]
) -> Iterable[tuple[list[Operation], list[LeafEntry]]]:
    """Yields transactions, with the directory entries of their leaves."""
    operations: list[Operation] = []
    written: list[LeafEntry] = []
    size = 0
    for rewrite in rewrites:
        unit: list[Operation] = []
        entries: list[LeafEntry] = []
        unit_size = 0
        for row, leaf in zip(rewrite.rows(), rewrite.leaves, strict=True):
            packed, before = leaf.pack(), rewrite.entry
            told = summary_after(before.summary, before.counts, leaf) if row == before.row else summary_of(leaf)
            entries.append(LeafEntry(row, leaf.counts(), None, told.pack()))
            unit.append(_operation(partition, entries[-1], rewrite.entry, packed))
            unit_size += (len(packed) + len(entries[-1].summary or b"")) * 4 // 3 + 1500
        if operations and (len(operations) + len(unit) > _MAX_OPERATIONS or size + unit_size > _MAX_BYTES):
            yield operations, written
            operations, written, size = [], [], 0
        operations, written, size = operations + unit, written + entries, size + unit_size
    if operations:
        yield operations, written


def _operation(partition: str, leaf: LeafEntry, before: LeafEntry, packed: bytes) -> Operation:
    chunks = {f"d{at // _CHUNK}": packed[at : at + _CHUNK] for at in range(0, len(packed), _CHUNK)}
    columns = {field: getattr(leaf.counts, field) for field in COUNT_FIELDS}
    entity: Row = {
        "PartitionKey": partition, "RowKey": leaf.row, "summary": leaf.summary, **columns, **chunks
    }  # fmt: skip
    if leaf.row == before.row and before.etag is not None:
        condition = {"mode": UpdateMode.REPLACE, "etag": before.etag, "match_condition": MatchConditions.IfNotModified}
        return ("update", entity, condition)
    return ("create", entity)


def joined(row: Row) -> bytes:
    """Returns the packed tasks of a row."""
    packed = b""
    while (chunk := row.get(f"d{len(packed) // _CHUNK}")) is not None:
        packed += chunk
        if len(chunk) < _CHUNK:
            break
    return packed
