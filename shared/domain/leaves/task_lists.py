"""A query for a job's tasks: filter, order, limit and position."""

from dataclasses import dataclass

from shared.domain.leaves.task_filters import TaskFilter
from shared.domain.leaves.task_order import Position, TaskOrder

ALL = TaskFilter()


@dataclass(frozen=True, slots=True)
class TaskList:
    """At most `limit` tasks that match `wanted`, after the position `after`."""

    limit: int
    wanted: TaskFilter = ALL
    order: TaskOrder = TaskOrder()  # noqa: RUF009 - frozen
    after: Position | None = None
