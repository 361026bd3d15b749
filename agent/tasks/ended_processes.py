"""The tasks of processes that ended a short time ago, which events name by their pid."""

from __future__ import annotations

from collections import OrderedDict

from agent.tasks.identity import TaskIdentity

MAX_SECONDS = 600.0
MAX_ENDED = 10_000


class EndedProcesses:
    """Keeps the task of each process for MAX_SECONDS after its end; the oldest of more than MAX_ENDED go first."""

    def __init__(self) -> None:
        self._ended: OrderedDict[int, tuple[float, TaskIdentity]] = OrderedDict()

    def add(self, pid: int, task: TaskIdentity, now: float) -> None:
        """Takes a process that ended; `now` in seconds of a monotonic clock."""
        self._ended.pop(pid, None)
        self._ended[pid] = (now, task)

    def forget(self, now: float) -> None:
        """Forgets the processes that ended too long ago."""
        while self._ended:
            ended, _ = next(iter(self._ended.values()))
            if len(self._ended) <= MAX_ENDED and now - ended <= MAX_SECONDS:
                break
            self._ended.popitem(last=False)

    def task_of(self, pid: int, now: float) -> TaskIdentity | None:
        """Returns the task of a process that ended within MAX_SECONDS, None where it isn't known."""
        ended, task = self._ended.get(pid, (0.0, None))
        return task if task and now - ended <= MAX_SECONDS else None
