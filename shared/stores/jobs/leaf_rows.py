"""Leaves as rows of the table `tasks`: tasks packed in chunks, beside the columns that a directory reads."""

from collections.abc import Sequence
from dataclasses import dataclass

from shared.domain.leaves.leaf_counters import LeafCounters
from shared.domain.leaves.leaf_summaries import summary_after, summary_of
from shared.domain.leaves.leaves import Leaf
from shared.domain.tasks.task_counters import NOTHING, TaskCounters
from shared.domain.tasks.tasks import COUNT_FIELDS, TaskCounts
from shared.stores.tables.rows import Row, Unit, bytes_columns, row_of, written

TASKS = "d"
"""The beginning of the names of columns with packed tasks."""
COUNTERS, RUN_ENDS = "counters", "runEnds"


@dataclass(frozen=True, slots=True)
class LeafEntry:
    """A leaf in a directory: its row, its counts, and the ETag of both.

    `summary` is packed, None for a leaf of an older version. `counters` are those that the leaf's tasks added so far.
    """

    row: str
    counts: TaskCounts
    etag: str | None
    summary: bytes | None = None
    counters: TaskCounters = NOTHING


@dataclass(frozen=True, slots=True)
class LeafReplacement:
    """A leaf and its replacement: the leaf alone, or with the siblings split off, all in one transaction."""

    entry: LeafEntry
    leaves: Sequence[Leaf]

    def rows(self) -> list[str]:
        return [self.entry.row, *(f"s{leaf.keys[0]}" for leaf in self.leaves[1:])]

    def unit(self, partition: str) -> Unit:
        """Returns the operations that write the leaves, which are packed now."""
        before, unit = self.entry, []
        for name, leaf in zip(self.rows(), self.leaves, strict=True):
            is_first = name == before.row
            summary = summary_after(before.summary, before.counts, leaf) if is_first else summary_of(leaf)
            packed, counts = leaf.pack(), leaf.counts()
            columns: Row = {
                "summary": summary.pack(),
                COUNTERS: leaf.counters.pack(),
                **{field: getattr(counts, field) for field in COUNT_FIELDS},
                **bytes_columns(TASKS, packed),
            }
            if leaf.run_ends.times:
                columns[RUN_ENDS] = leaf.run_ends.pack()
            unit.append(written(row_of(partition, name, columns), before.etag if is_first else None))
        return unit


def entry_of(row: Row, etag: str) -> LeafEntry:
    counts = TaskCounts(*(row[field] for field in COUNT_FIELDS))
    counters = LeafCounters.unpack(row.get(COUNTERS)).counters
    return LeafEntry(row["RowKey"], counts, etag, row.get("summary"), counters)
