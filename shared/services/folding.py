"""Takes what a read saw into the leaves of a generation.

Only the leaves that it touches are read, only those that moved are written, and every write gives way to another
poll's.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace

from shared.domain.keys import keys_of
from shared.domain.leaves import MAX_ROWS
from shared.domain.tasks import Task, TaskCounts
from shared.stores.task_cache import Directory, LeafEntry, Rewrite, TaskCache, load_leaves

_WINDOW = 64  # leaves in memory at once
_PASS = 20_000  # tasks folded at once; a leaf and what splits off it must fit one transaction


async def fold(
    cache: TaskCache, directory: Directory, tasks: Sequence[Task], *, leaf_rows: int = MAX_ROWS
) -> tuple[Directory, bool]:
    """The directory after `tasks` were folded in, and whether anything moved.

    `directory` must have been loaded before the read of `tasks` began. Raises CacheConflictError, StorageError.
    """
    moved = False
    for start in range(0, len(tasks), _PASS):
        directory, part_moved = await _fold_pass(cache, directory, tasks[start : start + _PASS], leaf_rows)
        moved = moved or part_moved
    return directory, moved


async def _fold_pass(
    cache: TaskCache, directory: Directory, tasks: Sequence[Task], leaf_rows: int
) -> tuple[Directory, bool]:
    if not directory.leaves:
        directory = replace(directory, leaves=(LeafEntry("s", TaskCounts(), None),))
    touched = _by_leaf(directory, tasks)
    moved = False
    for start in range(0, len(touched), _WINDOW):
        window = touched[start : start + _WINDOW]
        leaves = await load_leaves(cache, directory.partition, [entry for entry, _ in window])
        rewrites = [
            Rewrite(entry, leaf.split(leaf_rows))
            for (entry, rows), leaf in zip(window, leaves, strict=True)
            if leaf.fold(rows)
        ]
        directory = await cache.save_leaves(directory, rewrites)
        moved = moved or bool(rewrites)
    return directory, moved


def _by_leaf(directory: Directory, tasks: Sequence[Task]) -> list[tuple[LeafEntry, list[Task]]]:
    bounds = [leaf.row for leaf in directory.leaves]
    places: dict[int, list[Task]] = {}
    for key, task in zip(keys_of([task.id for task in tasks]), tasks, strict=True):
        places.setdefault(max(0, bisect_right(bounds, f"s{key}") - 1), []).append(task)
    return [(directory.leaves[place], places[place]) for place in sorted(places)]
