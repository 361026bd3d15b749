"""What is going to happen, in order of simulated time."""

import heapq
from collections.abc import Callable
from itertools import count

from local.batch_emulator.clock import Clock
from local.batch_emulator.stamps import SECOND

type Happening = Callable[[], None]


class Agenda:
    """`speed` shortens every duration; stamps stay real."""

    def __init__(self, clock: Clock, speed: float) -> None:
        self._clock = clock
        self._speed = speed
        self._due: list[tuple[int, int, Happening]] = []
        self._serial = count()

    def after(self, seconds: float, happening: Happening) -> None:
        """Plans something for `seconds` of unshortened time from now."""
        self.after_exactly(seconds / self._speed, happening)

    def after_exactly(self, seconds: float, happening: Happening) -> None:
        """The same with real seconds, whatever the speed."""
        due = self._clock.simulated + int(seconds * SECOND)
        heapq.heappush(self._due, (due, next(self._serial), happening))

    def run_due(self) -> None:
        """Lets everything happen whose time has come."""
        while self._due and self._due[0][0] <= self._clock.simulated:
            heapq.heappop(self._due)[2]()

    def advance(self, seconds: float) -> None:
        """Stepped mode: moves time, and lets everything happen at its own moment on the way."""
        end = self._clock.now + int(seconds * SECOND)
        while self._due and self._due[0][0] <= end:
            due, _, happening = heapq.heappop(self._due)
            self._clock.set(due)
            happening()
        self._clock.set(end)

    def clear(self) -> None:
        self._due.clear()
