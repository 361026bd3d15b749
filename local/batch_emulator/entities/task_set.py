"""A job's tasks: by id, in list order, and by their last change.

With the log of changes, a delta costs as much as it contains. Entries are in the order in which changes became visible,
each with the highest stamp so far. So a backward walk may stop at the first whose high water lies under the bound.
Stamps alone don't allow this, since node clocks differ.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import Any

from local.batch_emulator.core.collation import Key
from local.batch_emulator.entities import Task

_MAX_LOGGED_CHANGES = 5000


class TaskSet:
    def __init__(self) -> None:
        self._tasks: dict[str, Task] = {}
        self._log: dict[str, tuple[int, Task]] = {}
        self._high_water = 0
        self._ordered: list[Task] = []
        self._keys: list[Any] = []
        self._order: Key | None = None

    def __len__(self) -> int:
        return len(self._tasks)

    def __iter__(self) -> Iterator[Task]:
        return iter(self._tasks.values())

    def __contains__(self, key: str) -> bool:
        return key in self._tasks

    def get(self, key: str) -> Task | None:
        return self._tasks.get(key)

    def add(self, task: Task) -> None:
        self._tasks[task.key] = task
        self._order = None
        self.log_change(task)

    def fill(self, tasks: Sequence[Task]) -> None:
        """Fills an empty set with tasks in the order of their creation."""
        self._tasks = {task.key: task for task in tasks}
        for task in sorted(tasks, key=lambda task: task.changed):
            self.log_change(task)

    def remove(self, task: Task) -> None:
        del self._tasks[task.key]
        self._log.pop(task.key, None)
        self._order = None

    def log_change(self, task: Task) -> None:
        """Logs a change of a task's visible state."""
        self._high_water = max(self._high_water, task.changed)
        self._log.pop(task.key, None)
        self._log[task.key] = (self._high_water, task)

    def listed(
        self, order: Key, after: str | None, since: int | None, *, lowest: str | None = None, highest: str | None = None
    ) -> Iterator[Task]:
        """Returns tasks in list order after an id; with `since`, tasks that changed earlier may be missing.

        Those before the id `lowest` and after `highest`, which are bounds in that order, may also be missing.
        """
        changed = None if since is None else self._changed(since)
        if changed is not None:
            return _after(sorted(changed, key=lambda task: order(task.id)), order, after)
        self._sort(order)
        start = 0 if after is None else bisect_right(self._keys, order(after))
        if lowest is not None:
            start = max(start, bisect_left(self._keys, order(lowest)))
        end = len(self._ordered) if highest is None else bisect_right(self._keys, order(highest))
        return (self._ordered[place] for place in range(start, end))

    def _changed(self, since: int) -> list[Task] | None:
        found: list[Task] = []
        for high_water, task in reversed(self._log.values()):
            if high_water < since:
                break
            if len(found) >= _MAX_LOGGED_CHANGES:
                return None
            found.append(task)
        return found

    def _sort(self, order: Key) -> None:
        if self._order is order:
            return
        self._ordered = sorted(self._tasks.values(), key=lambda task: order(task.id))
        self._keys = [order(task.id) for task in self._ordered]
        self._order = order


def _after(tasks: list[Task], order: Key, after: str | None) -> Iterator[Task]:
    if after is None:
        return iter(tasks)
    place = order(after)
    return (task for task in tasks if order(task.id) > place)
