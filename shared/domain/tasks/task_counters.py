"""Counters of tasks that started, completed, failed and were retried, which never decrease.

A task's *life* begins with its creation and with each reactivation. It adds at most one to `started`, `completed` and
`failed`, so a run that Batch repeats for itself adds nothing to `started`. Each retry adds one to `retried`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from operator import itemgetter
from typing import Self

from shared.domain.tasks.tasks import COMPLETED, FAILURE, RUNNING, Task


@dataclass(frozen=True, slots=True)
class TaskCounters:
    """Numbers of tasks that started, completed and failed, and of retries."""

    started: int = 0
    completed: int = 0
    failed: int = 0
    retried: int = 0

    def __add__(self, other: Self) -> "TaskCounters":
        return TaskCounters(*map(sum, zip(self.values(), other.values(), strict=True)))

    def __sub__(self, other: Self) -> "TaskCounters":
        return TaskCounters(*(mine - others for mine, others in zip(self.values(), other.values(), strict=True)))

    def at_least(self, other: Self) -> "TaskCounters":
        """Returns the greater of each two numbers."""
        return TaskCounters(*map(max, self.values(), other.values()))

    def values(self) -> tuple[int, ...]:
        return self.started, self.completed, self.failed, self.retried


COUNTER_FIELDS = tuple(field.name for field in fields(TaskCounters))
NOTHING = TaskCounters()


LIFE_FIELDS = ("state", "result", "transition", "creation", "retries")
"""The fields of a task that change with each step of its life that counts."""
type Life = tuple[int, int, int, int, int]
life_of: Callable[[Task], Life] = itemgetter(*map(Task._fields.index, LIFE_FIELDS))
"""Returns the values of these fields."""


def shows_start(task: Task) -> bool:
    """Returns whether a task's state shows that it started in its present life.

    That of a task that waits after its node was preempted doesn't, nor does a requeue, as Batch also requeues tasks
    that were assigned to a node and haven't started.
    """
    return task.state == RUNNING or task.retries > 0 or (task.state == COMPLETED and task.start > 0)


def added_by(tasks: Sequence[Task]) -> TaskCounters:
    """Returns the contribution of tasks whose lives weren't seen before."""
    states, results = [task.state for task in tasks], [task.result for task in tasks]
    started = sum(map(shows_start, tasks))
    return TaskCounters(started, states.count(COMPLETED), results.count(FAILURE), sum(task.retries for task in tasks))
