"""The orders of task lists, and the selection of a page's tasks from all leaves of a job.

A task has one position in an order, which changes only with the task. So pages that each begin after the previous
page's last position neither repeat nor miss a task. Tasks with an unknown value come last in both directions; equal
values are in the order of ids. Times are in milliseconds. The wait of a task is known where Batch counts no retry and
no requeue of it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from operator import itemgetter, not_, sub
from typing import Any

from shared.domain.core.keys import key_of
from shared.domain.leaves.leaves import Leaf
from shared.domain.tasks.tasks import Task

BY_ID = "id"
_FIELDS = {
    "creationTime": ("creation",),
    "stateTransitionTime": ("transition",),
    "startTime": ("start",),
    "endTime": ("end",),
    "runTime": ("end", "start"),  # the difference
    "waitTime": ("start", "creation", "retries", "requeues"),  # the difference, of tasks without retries and requeues
}
ORDERS = (BY_ID, *_FIELDS)
_POSITION = itemgetter(0)

type Position = tuple[bool, int, str]
"""Whether the value is unknown, the value (negative if descending; 0 for unknown and ids), the key."""


@dataclass(frozen=True, slots=True)
class TaskOrder:
    """One of ORDERS, ascending or descending."""

    by: str = BY_ID
    descending: bool = False

    @property
    def is_by_id(self) -> bool:
        return self.by == BY_ID

    def position(self, task: Task) -> Position:
        """Returns a task's position in this order."""
        moments = [[getattr(task, name)] for name in _FIELDS.get(self.by, ())]
        return self._of(next(_values(moments), None), key_of(task.id))

    def positions(self, leaf: Leaf, places: Iterable[int]) -> list[Position]:
        """Returns the positions of the tasks at some indexes of a leaf."""
        keys, values = leaf.keys, list(_values([leaf.column(name) for name in _FIELDS[self.by]]))
        return [self._of(values[at], keys[at]) for at in places]

    def _of(self, value: int | None, key: str) -> Position:
        if value is None:
            return not self.is_by_id, 0, key
        return False, -value if self.descending else value, key


def _values(moments: list[Any]) -> Iterator[int | None]:
    """Yields moments, or differences of two; None where one is unknown, or where a further column isn't 0."""
    if not moments:
        return iter(())
    if len(moments) == 1:
        return (moment or None for moment in moments[0])
    ends, starts, *others = moments
    known = map(all, zip(ends, starts, *(map(not_, other) for other in others), strict=True))
    return (span if is_known else None for span, is_known in zip(map(sub, ends, starts), known, strict=True))


class BestTasks:
    """The first `limit` tasks after a position, from any number of leaves; it keeps few more than those."""

    def __init__(self, order: TaskOrder, limit: int, after: Position | None = None) -> None:
        self._order = order
        self._limit = limit
        self._after = after
        self._last: Position | None = None  # of `limit` rows found already; later ones are dropped
        self._found: list[tuple[Position, Task]] = []

    def take(self, leaf: Leaf, places: list[int]) -> None:
        """Adds tasks of a leaf, by index; no task may be added twice."""
        after, last = self._after, self._last
        fresh = [
            (position, at)
            for position, at in zip(self._order.positions(leaf, places), places, strict=True)
            if (after is None or position > after) and (last is None or position < last)
        ]
        fresh.sort()
        first = fresh[: self._limit]
        self._found += zip((position for position, _ in first), leaf.rows(at for _, at in first), strict=True)
        if len(self._found) > 2 * self._limit:
            self._cut()

    def tasks(self) -> list[Task]:
        """Returns the tasks in order."""
        self._cut()
        return [task for _, task in self._found]

    def _cut(self) -> None:
        self._found.sort(key=_POSITION)
        del self._found[self._limit :]
        if len(self._found) == self._limit:
            self._last = self._found[-1][0]
