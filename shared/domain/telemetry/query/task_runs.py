"""A task's run on a node: its interval, the sessions that name it, and other tasks' runs there.

A node's measurements cover everything that runs on it. Nothing here apportions them to tasks.
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


class TaskAffinity(StrEnum):
    """How telemetry relates to a task: its blob or records name the task, or it is the node's."""

    TASK = "task"
    NODE = "node"


@dataclass(frozen=True, slots=True)
class TaskRun:
    """A run; `end` is None while it runs. `earlier` is Batch's count of earlier runs, whose details it doesn't report.

    `is_retried_internally` marks a run that the service itself restarted.
    """

    pool: str
    node: str
    start: datetime
    end: datetime | None
    earlier: int
    is_retried_internally: bool = False

    def clipped(self, since: datetime | None, until: datetime | None, now: datetime) -> tuple[datetime, datetime]:
        """Returns the requested part of the run; an end that isn't after the begin means that there is none."""
        begin, end = self.start, max(self.end or now, self.start + _INSTANT)
        return max(since, begin) if since else begin, min(until, end) if until else end


@dataclass(frozen=True, slots=True)
class NodeInterval:
    """An interval on a node (pool and node id), from `begin` to `end` in milliseconds since 1970."""

    node: tuple[str, str]
    begin: int
    end: int

    def shared_by(self, runs: Iterable[Run]) -> Sequence[Run]:
        """Returns the runs that overlap the interval on the node."""
        return [
            run
            for run in runs
            if run.node == self.node and run.start < self.end and (run.end is None or run.end > self.begin)
        ]


def run_of(task: Task) -> TaskRun | None:
    """Returns the task's latest run, or None before its start."""
    if not task.start:
        return None
    end = None if task.state == RUNNING else from_milliseconds(max(task.start, task.end or task.transition))
    return TaskRun(*task.node, from_milliseconds(task.start), end, task.retries + task.requeues)


def tie_of(whose: Identity, job: str, task: str) -> TaskAffinity | None:
    """Returns how a session of the task's node relates to it; None where the session names another task."""
    if not whose.task:
        return TaskAffinity.NODE
    is_own = key_of(whose.task) == key_of(task) and (not whose.job or key_of(whose.job) == key_of(job))
    return TaskAffinity.TASK if is_own else None


def attempts_of(identities: Iterable[Identity]) -> Sequence[str]:
    """Returns the named attempts, sorted."""
    return sorted({whose.attempt for whose in identities if whose.attempt})
