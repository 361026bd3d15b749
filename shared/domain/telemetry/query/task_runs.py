"""A task's time on a node: when it was, whose sessions tell of it, and what ran there besides.

What a node measures is of all that runs on it. Nothing here divides it among tasks.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from shared.domain.core.keys import key_of
from shared.domain.core.stamps import from_milliseconds
from shared.domain.tasks.tasks import RUNNING, Task
from shared.domain.telemetry.records.labels import Identity
from shared.domain.timeline.timeline import Run

_INSTANT = timedelta(milliseconds=1)


class Tie(StrEnum):
    """How telemetry belongs to a task: its blob or its records name the task, or they are its node's."""

    TASK = "task"
    NODE = "node"


@dataclass(frozen=True, slots=True)
class TaskRun:
    """A run; `end` is None while it runs. Batch counts so many `earlier` ones, and tells of the latest only.

    `is_retried_internally` where the service itself started the task once more.
    """

    pool: str
    node: str
    start: datetime
    end: datetime | None
    earlier: int
    is_retried_internally: bool = False

    def clipped(self, since: datetime | None, until: datetime | None, now: datetime) -> tuple[datetime, datetime]:
        """The part of it that is asked for; the end isn't after the begin where there is none."""
        begin, end = self.start, max(self.end or now, self.start + _INSTANT)
        return max(since, begin) if since else begin, min(until, end) if until else end


@dataclass(frozen=True, slots=True)
class Stay:
    """A time on a node (pool and node id), from `begin` to `end` in milliseconds since 1970."""

    node: tuple[str, str]
    begin: int
    end: int

    def shared_by(self, runs: Iterable[Run]) -> Sequence[Run]:
        """Those that have a part in it."""
        return [
            run
            for run in runs
            if run.node == self.node and run.start < self.end and (run.end is None or run.end > self.begin)
        ]


def run_of(task: Task) -> TaskRun | None:
    """None where it hasn't begun."""
    if not task.start:
        return None
    end = None if task.state == RUNNING else from_milliseconds(max(task.start, task.end or task.transition))
    return TaskRun(*task.node, from_milliseconds(task.start), end, task.retries + task.requeues)


def tie_of(whose: Identity, job: str, task: str) -> Tie | None:
    """How a session of the task's node belongs to it; None where it names another task."""
    if not whose.task:
        return Tie.NODE
    is_own = key_of(whose.task) == key_of(task) and (not whose.job or key_of(whose.job) == key_of(job))
    return Tie.TASK if is_own else None


def attempts_of(identities: Iterable[Identity]) -> Sequence[str]:
    """The attempts that are named, in the order of their names."""
    return sorted({whose.attempt for whose in identities if whose.attempt})
