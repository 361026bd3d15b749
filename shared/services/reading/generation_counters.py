"""Compares the tasks of two generations of a job, so that its counters go on exactly from one to the next.

Deleted tasks are in the old generation alone, and took part in its counters. Tasks that polls missed are in the new one
alone, or further on. So only tasks of the new one add, each by how its life differs from the old generation's.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import batched

from shared.domain.core.keys import KeyRange
from shared.domain.leaves.leaf_counters import LeafCounters
from shared.domain.leaves.leaves import Leaf
from shared.domain.tasks.task_counters import LIFE_FIELDS, NOTHING, TaskCounters, life_of
from shared.errors import UnreadableError
from shared.stores.jobs.leaf_rows import LeafEntry, LeafReplacement
from shared.stores.jobs.task_cache import Directory, TaskCache

_WINDOW = 16  # leaves in memory at the same time


async def gained_between(cache: TaskCache, old: Directory, new: Directory) -> TaskCounters:
    """Returns what tasks of the new generation add to the counters of the old one's leaves.

    It notes in the new leaves which of their tasks had started, and when retried runs ended. Tasks in the range of an
    old leaf that can't be read add nothing. Raises StorageError, CacheConflictError.
    """
    gain, reader = NOTHING, _OldLeaves(cache, old)
    for entries in batched(new.leaves, _WINDOW, strict=False):
        noted = []
        for entry, leaf in zip(entries, await cache.load_run(new.partition, entries), strict=True):
            following = new.place_of(entry.row[1:]) + 1
            high = new.leaves[following].row[1:] if following < len(new.leaves) else None
            waiting, ends = leaf.counters.waiting, leaf.run_ends
            for known, keys in await reader.within(KeyRange(entry.row[1:], high)):
                found = _gain(known, keys, leaf)
                gain, waiting = gain + found.counters, waiting | found.waiting
                ends = ends.joined(known.run_ends.part(keys.low, keys.high)) if known else ends
            if (waiting, ends) != (leaf.counters.waiting, leaf.run_ends):
                leaf.counters, leaf.run_ends = replace(leaf.counters, waiting=waiting), ends
                noted.append(LeafReplacement(entry, [leaf]))
        new = await cache.save_leaves(new, noted) if noted else new
    return gain


class _OldLeaves:
    """The leaves of the old generation in the order of keys, each read once or twice."""

    def __init__(self, cache: TaskCache, directory: Directory) -> None:
        self._cache = cache
        self._directory = directory
        self._bounds = [entry.row[1:] for entry in directory.leaves]
        self._last: tuple[LeafEntry, Leaf | None] | None = None

    async def within(self, wanted: KeyRange) -> list[tuple[Leaf | None, KeyRange]]:
        """Returns the leaves with keys in a range, each with its part of it; None for one that can't be read."""
        found, ends = [], [*self._bounds[1:], None] if self._bounds else []
        for entry, low, high in zip(self._directory.leaves, self._bounds, ends, strict=True):
            common = wanted.common(KeyRange(low, high))
            if not common.is_empty:
                found.append((await self._load(entry), common))
        return found or [(Leaf(), wanted)]

    async def _load(self, entry: LeafEntry) -> Leaf | None:
        if self._last is None or self._last[0] is not entry:
            try:
                leaf: Leaf | None = await self._cache.load_leaf(self._directory.partition, entry)
            except UnreadableError:
                leaf = None
            self._last = entry, leaf
        return self._last[1]


def _gain(old: Leaf | None, keys: KeyRange, new: Leaf) -> LeafCounters:
    """Returns what the tasks of the new leaf in a range add, and which of them wait after a start."""
    if old is None:
        return LeafCounters()
    known = dict(zip(old.keys, _moves(old), strict=True))
    places = keys.places(new.keys)
    moves = zip(places, _moves(new)[places.start : places.stop], strict=True)
    moved = [place for place, move in moves if known.get(new.keys[place]) != move]
    were = {key: at for at, key in enumerate(old.keys)} if moved else {}
    added = [place for place in moved if new.keys[place] not in were]
    changed = [place for place in moved if new.keys[place] in were]
    pairs = zip(old.rows(were[new.keys[place]] for place in changed), new.rows(changed), strict=True)
    steps = ((life_of(before), before.start > 0, task) for before, task in pairs)
    after = LeafCounters(waiting=old.counters.waiting).after(steps, new.rows(added))
    return replace(after, waiting=after.waiting.intersection(new.keys[places.start : places.stop]))


def _moves(leaf: Leaf) -> Sequence[tuple[int, ...]]:
    """Returns of each task the columns without whose change it adds nothing."""
    return list(zip(*map(leaf.column, LIFE_FIELDS), strict=True))
