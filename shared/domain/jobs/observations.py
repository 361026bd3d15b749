"""Observations of a job's tasks beside their counts: required slots, unlimited retries, the preparation task."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class OversizedTasks:
    """Waiting tasks that require more slots than a node has: the `number` of those that were read, and their `slots`.

    `unread` may be oversized, too: the waiting tasks that weren't read. It is 0 where all that were read fit.
    """

    number: int = 0
    slots: int = 0
    unread: int = 0


NONE_OVERSIZED = OversizedTasks()


@dataclass(frozen=True, slots=True)
class RequiredSlots:
    """The numbers of a job's first waiting tasks by the slots that each requires, the fewest slots first."""

    tasks: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, tasks: Mapping[int, int]) -> "RequiredSlots":
        return cls(tuple(sorted(tasks.items())))

    @property
    def looked(self) -> int:
        """The number of tasks that were read."""
        return sum(number for _, number in self.tasks)

    @property
    def least_slots(self) -> int:
        return self.tasks[0][0]

    @property
    def most_slots(self) -> int:
        return self.tasks[-1][0]

    def oversized(self, slots_per_node: int, waiting: int) -> OversizedTasks:
        """Returns those of all `waiting` tasks that fit on no node."""
        wide = [(slots, number) for slots, number in self.tasks if slots > slots_per_node]
        if not wide:
            return NONE_OVERSIZED
        number, slots = sum(number for _, number in wide), sum(slots * number for slots, number in wide)
        return OversizedTasks(number, slots, max(waiting - self.looked, 0))

    def may_differ(self, waiting: int, slots: int | None) -> bool:
        """Returns whether these tasks, or any of all `waiting` ones with so many slots in total, differ in slots."""
        return self.least_slots < self.most_slots or slots != waiting * self.least_slots


@dataclass(frozen=True, slots=True)
class RetriedTask:
    """A failed task that is retried without limit (maxTaskRetryCount -1), and its retries so far.

    `others` counts further unfinished tasks of the job with several retries, which may be limited.
    """

    id: str
    retries: int
    others: int = 0


@dataclass(frozen=True, slots=True)
class Preparation:
    """Results of a job's preparation task on the nodes where it began.

    `failed_nodes` are node keys. `failures` are sentences with their numbers, the most frequent first. `since` is the
    end of the first failure.
    """

    nodes: int
    succeeded: int
    failed_nodes: frozenset[str] = frozenset()
    failures: tuple[tuple[str, int], ...] = ()
    since: datetime | None = None
