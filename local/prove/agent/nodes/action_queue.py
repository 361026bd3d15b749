"""A queue of actions by the time at which they are due."""

import heapq
import time
from collections.abc import Callable

type Action = Callable[[], None]


class ActionQueue:
    """Actions by their times, in seconds since the queue was created."""

    def __init__(self) -> None:
        self._queue: list[tuple[float, int, Action]] = []
        self._number = 0
        self._began = time.monotonic()

    def at(self, seconds: float, action: Action) -> None:
        """Schedules an action some seconds after the creation of the queue."""
        self._number += 1
        heapq.heappush(self._queue, (self._began + seconds, self._number, action))

    def later(self, seconds: float, action: Action) -> None:
        """Schedules an action some seconds from now."""
        self.at(time.monotonic() - self._began + seconds, action)

    def run_due(self) -> None:
        """Runs the actions that are due."""
        while self._queue and self._queue[0][0] <= time.monotonic():
            heapq.heappop(self._queue)[2]()
