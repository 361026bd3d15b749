"""Folds the tasks of a read into the leaves of a generation.

It reads only the leaves with such tasks and writes only those that changed. Every write yields to another poll's.
"""

import asyncio
from bisect import bisect_left
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from itertools import batched, zip_longest
from operator import attrgetter

from shared.domain.core.keys import keys_of
from shared.domain.leaves.leaves import MAX_ROWS, Leaf
from shared.domain.tasks.tasks import Task, TaskCounts
from shared.services.reading.dirty_mark import DirtyMark
from shared.stores.jobs.leaf_rows import LeafEntry, LeafReplacement
from shared.stores.jobs.task_cache import Directory, TaskCache

_WINDOW = 32  # leaves in memory at the same time
_PASS = 20_000  # tasks per fold: a leaf and those split off it must fit one transaction
_WORDS = 1_200_000  # letters of a pass's ids, failures and nodes, for the same reason


@dataclass(frozen=True, slots=True)
class _Touched:
    """A leaf, its index in the directory, and its tasks with their keys."""

    place: int
    entry: LeafEntry
    keys: Sequence[str]
    tasks: Sequence[Task]


type _Window = tuple[_Touched, ...]


async def fold(
    cache: TaskCache,
    directory: Directory,
    tasks: Sequence[Task],
    *,
    leaf_rows: int = MAX_ROWS,
    mark: DirtyMark | None = None,
) -> tuple[Directory, bool]:
    """Returns the directory after folding in `tasks`, and whether anything moved.

    `directory` must have been loaded before the read of `tasks` began. A fold touches each leaf once or twice, for any
    number and order of tasks, so fewer and larger folds cost less. `mark` is made before any leaf is written.

    Raises CacheConflictError, StorageError.
    """
    latest = dict(zip(keys_of([task.id for task in tasks]), tasks, strict=True))
    keys = sorted(latest)
    moved = False
    for part in _passes(keys, [latest[key] for key in keys]):
        directory, part_moved = await _fold_pass(cache, directory, *part, leaf_rows=leaf_rows, mark=mark)
        moved = moved or part_moved
    return directory, moved


async def _fold_pass(
    cache: TaskCache,
    directory: Directory,
    keys: Sequence[str],
    tasks: Sequence[Task],
    *,
    leaf_rows: int,
    mark: DirtyMark | None,
) -> tuple[Directory, bool]:
    if not directory.leaves:
        directory = replace(directory, leaves=(LeafEntry("s", TaskCounts(), None),))
    moved = False
    windows = list(batched(_by_leaf(directory, keys, tasks), _WINDOW, strict=False))
    async with aclosing(_loaded(cache, directory.partition, windows)) as loaded:
        async for window, leaves in loaded:
            rewrites = []
            for touched, leaf in zip(window, leaves, strict=True):
                if leaf.fold_sorted(touched.keys, touched.tasks):
                    rewrites.append(LeafReplacement(touched.entry, leaf.split(leaf_rows)))
                await asyncio.sleep(0)  # otherwise received pages would wait, and no more be requested
            if rewrites and mark:
                await mark.make()
            directory = await cache.save_leaves(directory, rewrites)
            moved = moved or bool(rewrites)
    return directory, moved


async def _loaded(
    cache: TaskCache, partition: str, windows: Sequence[_Window]
) -> AsyncGenerator[tuple[_Window, list[Leaf]]]:
    """Yields each window with its leaves, which are read while the previous one is folded and written."""
    ahead: asyncio.Task[list[Leaf]] | None = None
    try:
        for window, following in zip_longest(windows, windows[1:]):
            leaves = await (ahead or _load(cache, partition, window))
            ahead = asyncio.create_task(_load(cache, partition, following)) if following else None
            yield window, leaves
    finally:
        if ahead:
            ahead.cancel()
            await asyncio.gather(ahead, return_exceptions=True)


async def _load(cache: TaskCache, partition: str, window: _Window) -> list[Leaf]:
    """Loads leaves, by one query if most are neighbours, otherwise one by one."""
    entries = [touched.entry for touched in window]
    is_run = len(window) > 1 and 2 * len(window) > window[-1].place - window[0].place + 1
    return await (cache.load_run if is_run else cache.load_leaves)(partition, entries)


def _by_leaf(directory: Directory, keys: Sequence[str], tasks: Sequence[Task]) -> Iterator[_Touched]:
    """Yields the leaves of tasks sorted by key; tasks before the first leaf belong to it."""
    bounds, start = [leaf.row[1:] for leaf in directory.leaves], 0
    while start < len(keys):
        place = directory.place_of(keys[start])
        end = bisect_left(keys, bounds[place + 1], start) if place + 1 < len(bounds) else len(keys)
        yield _Touched(place, directory.leaves[place], keys[start:end], tasks[start:end])
        start = end


def _passes(keys: Sequence[str], tasks: Sequence[Task]) -> Iterator[tuple[Sequence[str], Sequence[Task]]]:
    """Yields runs of at most 20,000 tasks, fewer if ids, failures and nodes are long."""
    for start in range(0, len(tasks), _PASS):
        part, names = tasks[start : start + _PASS], keys[start : start + _PASS]
        step = max(1, len(part) * _WORDS // max(_WORDS, _letters(part)))
        for at in range(0, len(part), step):
            yield names[at : at + step], part[at : at + step]


def _letters(tasks: Sequence[Task]) -> int:
    pairs = {*map(attrgetter("failure"), tasks), *map(attrgetter("node"), tasks)}
    return sum(map(len, map(attrgetter("id"), tasks))) + sum(len(word) for pair in pairs for word in pair)
