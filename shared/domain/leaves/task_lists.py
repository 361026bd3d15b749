"""What somebody asks of a job's tasks: which, in what order, how many, from where on."""

from dataclasses import dataclass

from shared.domain.leaves.task_filters import TaskFilter
from shared.domain.leaves.task_order import Position, TaskOrder

ALL = TaskFilter()


@dataclass(frozen=True, slots=True)
class TaskList:
    """Which tasks are wanted: at most `limit`, those behind the position `after`."""

    limit: int
    wanted: TaskFilter = ALL
    order: TaskOrder = TaskOrder()  # noqa: RUF009 - frozen
    after: Position | None = None
