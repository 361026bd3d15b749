"""Leaves: some thousand tasks, sorted by key, as parallel columns that are quick to count and small to store.

The stored form begins with a format byte, so that a later format can be read beside this one. This module accesses no
storage. Only `fold` and `split` change a leaf.
"""

import struct
import zlib
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from operator import itemgetter, lt
from typing import Any

from shared.domain.core.keys import keys_of
from shared.domain.leaves.leaf_counters import LeafCounters
from shared.domain.leaves.run_ends import RunEnds
from shared.domain.leaves.task_columns import TaskColumns
from shared.domain.packing.columns import DAMAGE, joined_parts, parts_of
from shared.domain.tasks.tasks import Task, TaskCounts

FORMAT = 2
MAX_ROWS = 4096
MAX_BYTES = 600_000  # of an entity's 1 MiB, which counts base64 in Azurite, and of a transaction's 4 MiB
_HEADER = struct.Struct("<BII")  # format, rows, checksum of the rest
_RUN = 64  # adjacent new tasks, as from an ordered list; more will follow there
_FEW = 500  # changed tasks up to which updating a summary costs less than a new one


class UnreadableLeafError(ValueError):
    """A stored leaf that this version can't read: its format is newer, or it is damaged."""


class Leaf:
    """Up to a few thousand tasks, sorted by key, with unique ids.

    `moved` are the tasks that folds changed since the leaf was unpacked: their old and their new states, the latter
    including added tasks. It is None where they are many, and for a leaf that wasn't unpacked. `counters` and
    `run_ends` are stored beside the leaf, and folds add to them.
    """

    __slots__ = ("_columns", "_grew_until", "_packed", "counters", "keys", "moved", "run_ends")

    def __init__(self, tasks: Iterable[Task] = (), *, columns: tuple[list[str], TaskColumns] | None = None) -> None:
        """Tasks must be sorted by key; `columns` are their keys and columns, in place of them."""
        if columns is None:
            made = TaskColumns.of(list(tasks))
            columns = keys_of(made.field("id")), made
        self.keys, self._columns = columns
        self._packed: bytes | None = None
        self._grew_until: int | None = None  # the index after the last inserted rows, if more will follow there
        self.moved: tuple[list[Task], list[Task]] | None = None
        self.counters = LeafCounters()
        self.run_ends = RunEnds()

    def __len__(self) -> int:
        return len(self.keys)

    def __iter__(self) -> Iterator[Task]:
        return iter(self._columns)

    def rows(self, places: Iterable[int]) -> list[Task]:
        """Returns the tasks at some indexes."""
        return self._columns.rows(places)

    def row(self, at: int) -> Task:
        return self.rows((at,))[0]

    def column(self, name: str) -> list[Any]:
        """Returns one property of all tasks, named as in `Task`, in a fraction of the time for building tasks."""
        return self._columns.field(name)

    def counts(self) -> TaskCounts:
        return self._columns.counts()

    @property
    def columns(self) -> dict[str, Any]:
        """The columns by name, read-only; see `TaskColumns.by_name`."""
        return self._columns.by_name

    def fold(self, tasks: Iterable[Task]) -> bool:
        """Merges tasks of a read that began later; they win regardless of their stamps. True if anything changed.

        Of a task that one read saw twice, the one received later wins, because its page was served later.
        """
        seen = list(tasks)
        latest = dict(zip(keys_of([task.id for task in seen]), seen, strict=True))
        keys = sorted(latest)
        return self.fold_sorted(keys, [latest[key] for key in keys])

    def fold_sorted(self, keys: Sequence[str], tasks: Sequence[Task]) -> bool:
        """Merges tasks with unique keys in the order of keys; see `fold`."""
        if not keys:
            return False
        place = self._place_for(keys)
        if place is not None:
            self._note_moved({}, tasks)
            self._insert(place, keys, tasks)
            return True
        known: dict[int, Task] = {}
        added: dict[str, Task] = {}
        mine, most, at = self.keys, len(self.keys), 0
        for key, task in zip(keys, tasks, strict=True):
            if at == most or mine[at] != key:  # tasks that changed together are often adjacent
                at = bisect_left(mine, key, at)
            if at < most and mine[at] == key:
                known[at] = task
                at += 1
            else:
                added[key] = task
        new = list(added.values())
        self._note_moved(known, new)
        changed = bool(known) and self._columns.update(list(known), list(known.values()))
        if changed:
            self._packed = None
        if new:
            self._insert(self._place_for(list(added)), list(added), new)
        return changed or bool(new)

    def split(self, limit: int = MAX_ROWS) -> "list[Leaf]":
        """Returns this leaf alone or, past the limits of rows and bytes, several.

        Usually they are of equal size, with room to grow. Where the leaf grew at its end or by many adjacent tasks, as
        from an ordered list, one part ends there. The parts before it are full, except the last two, because growth
        will continue there. No part is small, because tasks that arrive in descending order between two full leaves
        would each start another leaf: a small rest stays with the leaf before it, and if the part before the growth
        would be small, all are of equal size.
        """
        steps = self._steps(limit) if len(self) > limit else []
        parts = [self._part(start, stop) for start, stop in pairwise(steps)] or [self]
        return [small for part in parts for small in part._within(MAX_BYTES)]  # noqa: SLF001

    def pack(self) -> bytes:
        """Returns the stored form: format, rows and checksum, then each column after its length."""
        if self._packed is None:
            body = joined_parts(self._columns.pack())
            self._packed = _HEADER.pack(FORMAT, len(self), zlib.crc32(body)) + body
        return self._packed

    @classmethod
    def unpack(cls, stored: bytes) -> "Leaf":
        """Returns the leaf of a stored form. Raises UnreadableLeafError."""
        try:
            if stored[0] == FORMAT:
                return cls._of_stored(stored)
        except DAMAGE as error:
            raise UnreadableLeafError(f"a leaf is damaged: {error!r}") from error
        raise UnreadableLeafError(f"a leaf has format {stored[0]}; this version reads up to format {FORMAT}")

    @classmethod
    def _of_stored(cls, stored: bytes) -> "Leaf":
        _, count, checksum = _HEADER.unpack_from(stored)
        body = memoryview(stored)[_HEADER.size :]
        if zlib.crc32(body) != checksum:
            raise ValueError("its checksum is another")
        columns, keys = TaskColumns.unpack(parts_of(body), count)
        if not all(map(lt, keys, keys[1:])):
            raise ValueError("its tasks are out of order")
        leaf = cls(columns=(keys, columns))
        leaf._packed, leaf.moved = stored, ([], [])
        return leaf

    def _note_moved(self, known: dict[int, Task], added: Sequence[Task]) -> None:
        """Updates `moved`, `counters` and `run_ends` before rows change."""
        steps = self._columns.steps(known)
        self.counters, self.run_ends = self.counters.after(steps, added), self.run_ends.after(steps, added)
        if self.moved is None or len(known) + len(added) > _FEW:
            self.moved = None
            return
        were, became = self.moved
        rows = self._columns.rows(known)
        changed = [(old, new) for old, new in zip(rows, known.values(), strict=True) if old != new]
        were += [old for old, _ in changed]
        became += [new for _, new in changed]
        became += added

    def _place_for(self, keys: Sequence[str]) -> int | None:
        """Returns the index where sorted keys belong if all belong there, as an ordered list's do; else None."""
        at = bisect_left(self.keys, keys[0])
        return at if at == len(self.keys) or keys[-1] < self.keys[at] else None

    def _insert(self, place: int | None, keys: Sequence[str], tasks: Sequence[Task]) -> None:
        """Inserts rows at `place`; without one, appends them and sorts all rows."""
        at = len(self.keys) if place is None else place
        grew = place is not None and (at == len(self.keys) or len(keys) >= _RUN)
        self._grew_until = at + len(keys) if grew else None
        self._packed = None
        self.keys[at:at] = keys
        self._columns.insert(at, tasks)
        if place is None:
            order = sorted(range(len(self.keys)), key=self.keys.__getitem__)
            self.keys.sort()
            self._columns.reorder(itemgetter(*order))

    def _steps(self, limit: int) -> list[int]:
        """Returns the indexes, including both ends, at which a leaf of more than `limit` rows is split."""
        rows, least = len(self), limit // 4
        end = self._grew_until or 0
        if rows - end < least:
            end = rows if end else 0
        if end < least or rows - end > limit:
            pieces = -(-rows // max(1, limit * 3 // 4))
            return [rows * piece // pieces for piece in range(pieces + 1)]
        steps = [*range(0, end, limit), end]
        if len(steps) > 2:  # noqa: PLR2004  # more than one piece
            steps[-2] = min(steps[-2], end - least)
        return steps if end == rows else [*steps, rows]

    def _part(self, start: int, stop: int) -> "Leaf":
        part = Leaf(columns=(self.keys[start:stop], self._columns.part(start, stop)))
        high = self.keys[stop] if stop < len(self.keys) else None
        low = "" if start == 0 else self.keys[start]
        part.counters = self.counters.part(low, high, is_first=start == 0)
        part.run_ends = self.run_ends.part(low, high)
        return part

    def _within(self, size: int) -> "list[Leaf]":
        """Returns this leaf, or its halves, split until each stored form fits `size` bytes."""
        rows = len(self)
        if rows <= 1 or len(self.pack()) <= size:
            return [self]
        halves = (self._part(0, rows // 2), self._part(rows // 2, rows))
        return [small for half in halves for small in half._within(size)]  # noqa: SLF001
