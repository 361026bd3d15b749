"""The input of a replay: a job's tasks with the duration of their runs, and when its nodes were there.

Times are milliseconds since the job's first task was created.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple


class ReplayTask(NamedTuple):
    """A task that waits from `release` on, and then runs `runs` times for `duration`; `stage` is that of its group."""

    release: int
    duration: int
    slots: int = 1
    runs: int = 1
    stage: int = 0

    @property
    def slot_time(self) -> int:
        """Milliseconds of all runs, by slots."""
        return self.duration * self.slots * self.runs


class InterruptionRate(NamedTuple):
    """How often spot nodes were interrupted in some hours of nodes, and for how many milliseconds each was away."""

    number: float = 0
    node_hours: float = 1
    away: int = 0

    @property
    def per_hour(self) -> float:
        return self.number / self.node_hours


@dataclass(frozen=True, slots=True)
class Workload:
    """A job's ended tasks in the order in which they were taken; `total` is how many there are beside a sample.

    `needs` has for each stage those that end before it begins. `arrivals` are when each node seen was ready for work,
    `gaps` times from the end of a run to the start of the next in its slot. `nodes` is the most that worked at once,
    `end` when the last run ended. `start_up` is the time from a node's allocation until it is ready. `is_packed`:
    tasks go to the node with the fewest free slots.
    """

    tasks: Sequence[ReplayTask]
    total: int
    nodes: int
    end: int
    arrivals: Sequence[int]
    gaps: Sequence[int] = (0,)
    needs: Sequence[frozenset[int]] = (frozenset(),)
    start_up: int = 0
    is_packed: bool = False

    @property
    def is_sampled(self) -> bool:
        return self.total > len(self.tasks)

    @property
    def widest(self) -> int:
        """The most slots that a task requires."""
        return max(task.slots for task in self.tasks)
