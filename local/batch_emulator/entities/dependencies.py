"""Dependencies between the tasks of a job.

Source: "Create task dependencies to run tasks that depend on other tasks". Ids and ranges may name tasks that don't
exist so far. In a range every number counts, leading zeros are ignored, and the first task with a number decides.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from local.batch_emulator.core.collation import fold
from local.batch_emulator.entities import Json, Task


@dataclass(slots=True, eq=False)
class _Range:
    """A range; `unsatisfied` counts the unsatisfied numbers."""

    start: int
    end: int
    unsatisfied: int
    waiting: list[Task] = field(default_factory=list)


class TaskDependencies:
    """A job's dependencies; a completion checks each distinct open range of its job, jobs without any cost nothing."""

    def __init__(self) -> None:
        self._satisfied: set[str] = set()
        self._numbers: set[int] = set()
        self._waiting: dict[str, list[Task]] = defaultdict(list)
        self._ranges: dict[tuple[int, int], _Range] = {}

    def add(self, task: Task) -> None:
        """Registers a new task's dependencies; with `task.waits` 0 it may run."""
        wanted: Json = task.spec.get("dependsOn") or {}
        open_ids = {fold(name) for name in wanted.get("taskIds") or ()} - self._satisfied
        for key in open_ids:
            self._waiting[key].append(task)
        spans = {(each["start"], each["end"]) for each in wanted.get("taskIdRanges") or ()}
        open_ranges = [found for start, end in spans if (found := self._range(start, end)).unsatisfied]
        for found in open_ranges:
            found.waiting.append(task)
        task.open_dependencies = len(open_ids) + len(open_ranges)

    def is_satisfied(self, key: str) -> bool:
        return key in self._satisfied

    def satisfy(self, key: str) -> list[Task]:
        """Records a task as satisfied for its dependents; returns those that may run now."""
        if key in self._satisfied:
            return []
        self._satisfied.add(key)
        return _unblock(self._waiting.pop(key, ())) + self._satisfy_ranges(key)

    def _satisfy_ranges(self, key: str) -> list[Task]:
        number = int(key) if key.isascii() and key.isdecimal() else None
        if number is None or number in self._numbers:
            return []
        self._numbers.add(number)
        unblocked: list[Task] = []
        for found in [each for each in self._ranges.values() if each.start <= number <= each.end]:
            found.unsatisfied -= 1
            if not found.unsatisfied:
                del self._ranges[found.start, found.end]
                unblocked += _unblock(found.waiting)
        return unblocked

    def _range(self, start: int, end: int) -> _Range:
        found = self._ranges.get((start, end))
        if found is None:
            done = sum(start <= number <= end for number in self._numbers)
            found = _Range(start, end, end - start + 1 - done)
            if found.unsatisfied:
                self._ranges[start, end] = found
        return found


def _unblock(tasks: Iterable[Task]) -> list[Task]:
    found = []
    for task in tasks:
        task.open_dependencies -= 1
        if not task.open_dependencies:
            found.append(task)
    return found
