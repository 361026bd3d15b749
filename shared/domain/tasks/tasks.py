"""The cached properties of one task, and counts of many. Field names are the Batch REST API's."""

from dataclasses import dataclass
from typing import NamedTuple, Self

STATES = ("active", "preparing", "running", "completed")
RESULTS = ("none", "success", "failure")
ACTIVE, PREPARING, RUNNING, COMPLETED = range(4)
NO_RESULT, SUCCESS, FAILURE = range(3)
VALIDATED_TASKS = 200_000  # the service doesn't validate Get Task Counts of larger jobs (its documentation)


class Task(NamedTuple):
    """The last known state of one task.

    Times are milliseconds since 1970, 0 where unknown. `state` and `result` index STATES and RESULTS. `failure` is
    (category, code) and `node` (pool id, node id), both empty strings where there is none. `start` and `end` are those
    of the latest run.
    """

    id: str
    state: int
    result: int = NO_RESULT
    transition: int = 0
    creation: int = 0
    start: int = 0
    end: int = 0
    exit_code: int | None = None
    failure: tuple[str, str] = ("", "")
    retries: int = 0
    requeues: int = 0
    slots: int = 1
    node: tuple[str, str] = ("", "")

    @property
    def ran_before(self) -> bool:
        """True where Batch counts an earlier run, so that the start of the wait for the latest one is unknown.

        It counts requeues that a user requested. It counts none for a task whose node was preempted or lost, so that
        task's wait includes the earlier run.
        """
        return bool(self.retries or self.requeues)


@dataclass(frozen=True, slots=True)
class TaskCounts:
    """Tasks of a job by state; `succeeded` and `failed` split `completed`."""

    active: int = 0
    preparing: int = 0
    running: int = 0
    completed: int = 0
    succeeded: int = 0
    failed: int = 0

    @property
    def total(self) -> int:
        return self.active + self.preparing + self.running + self.completed

    def __add__(self, other: Self) -> "TaskCounts":
        return TaskCounts(
            self.active + other.active,
            self.preparing + other.preparing,
            self.running + other.running,
            self.completed + other.completed,
            self.succeeded + other.succeeded,
            self.failed + other.failed,
        )

    def as_service_counts(self) -> "TaskCounts":
        """Returns the counts in the form of Get Task Counts, which counts preparing tasks as running."""
        return TaskCounts(self.active, 0, self.preparing + self.running, self.completed, self.succeeded, self.failed)


COUNT_FIELDS = ("active", "preparing", "running", "completed", "succeeded", "failed")


def counts_of(states: bytes | bytearray, results: bytes | bytearray) -> TaskCounts:
    """Returns the counts of two parallel columns of state and result numbers."""
    active, preparing, running, completed = (states.count(number) for number in range(4))
    return TaskCounts(active, preparing, running, completed, results.count(SUCCESS), results.count(FAILURE))


def lies_between(service: TaskCounts, before: TaskCounts, after: TaskCounts) -> bool:
    """Returns whether every one-way count of `service` lies between those of two reads around it.

    A one-way count only rises or only falls while tasks run.
    """
    triples = zip(_steady(before), _steady(service), _steady(after), strict=True)
    return all(min(first, last) <= middle <= max(first, last) for first, middle, last in triples)


def _steady(counts: TaskCounts) -> tuple[int, ...]:
    return (counts.active, counts.completed, counts.succeeded, counts.failed, counts.total)
