"""Collector of start tasks that don't end: no task can start on the node meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from agent.events.event import event
from agent.records.record import Record

KIND = "start_task_hang"
MAX_SECONDS = 1800.0
"""How long a start task usually may run; downloads of images take some minutes."""
_BILLION = 1_000_000_000


class StartTaskProcess(NamedTuple):
    """A process of the start task; `started` is in nanoseconds since 1970 by today's clock, which may have been set.

    The agent's own processes are none.
    """

    pid: int
    started: int


class StartTaskHangs:
    """Looks at the processes of the start task every 60 s; `max_seconds` is the bound of their life."""

    name = "start_task_hangs"
    interval = 60.0

    def __init__(self, processes: Callable[[], Iterable[StartTaskProcess]], max_seconds: float = MAX_SECONDS) -> None:
        self._processes = processes
        self._max_seconds = max_seconds
        self._reported: set[int] = set()

    def collect(self, now: int) -> Iterable[Record]:
        """Yields one event for all processes that passed the bound since the last call; it names the oldest."""
        late = [process for process in self._processes() if now - process.started > self._max_seconds * _BILLION]
        pids = {process.pid for process in late}
        is_known = bool(pids & self._reported)
        self._reported = pids
        if late and not is_known:
            yield _event(min(late, key=lambda process: process.started), now)


def _event(process: StartTaskProcess, now: int) -> Record:
    seconds = (now - process.started) / _BILLION
    message = f"The start task still runs after {seconds / 60:.0f} min (process {process.pid}); no task can start here."
    return event(KIND, message, {"pid": process.pid, "seconds": seconds})
