"""What is going to happen, in order of simulated time. Work is done only for what is due, whatever exists."""

import asyncio
import contextlib
import heapq

from local.batch_emulator.clock import Clock
from local.batch_emulator.ledger import Happening, Ledger
from local.batch_emulator.stamps import SECOND, ticks

_SLICE = 2000
_LONGEST_SLEEP = 1.0
_SHORTEST_SLEEP = 0.002


class Agenda:
    """`speed` divides every duration; stamps stay as the clock has them."""

    def __init__(self, clock: Clock, speed: float, ledger: Ledger) -> None:
        self.speed = speed
        self._clock = clock
        self._due: list[tuple[int, int, Happening]] = []
        self._ledger = ledger
        self._sooner = asyncio.Event()

    def after(self, seconds: float, happening: Happening) -> None:
        """Plans something; `seconds` are shortened by the speed."""
        self.after_exactly(seconds / self.speed, happening)

    def after_exactly(self, seconds: float, happening: Happening) -> None:
        """The same, whatever the speed."""
        due, number = self._clock.simulated + ticks(seconds), self._ledger.number()
        self._ledger.plan(number, due, happening)
        self.take_up(number, due, happening)

    def take_up(self, number: int, due: int, happening: Happening) -> None:
        """Puts something in its place again; `due` is in simulated ticks, of equal ones the lower number is first."""
        if not self._due or due < self._due[0][0]:
            self.wake()
        heapq.heappush(self._due, (due, number, happening))

    def wake(self) -> None:
        """To be called when something may be due sooner than planned: after a pause."""
        self._sooner.set()

    def run_due(self, most: int = _SLICE) -> bool:
        """Lets at most so much happen of what is due; tells whether more is."""
        for _ in range(most):
            if not self._due or self._due[0][0] > self._clock.simulated:
                return False
            self._happen()
        return True

    async def run(self) -> None:
        """Live mode: lets things happen at their time, until cancelled."""
        while True:
            self._sooner.clear()
            if self.run_due():
                await asyncio.sleep(0)
                continue
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._sooner.wait(), self._pause())

    def advance(self, seconds: float) -> None:
        """Stepped mode: moves time, everything happening at its own moment on the way."""
        end = self._clock.now + ticks(seconds)
        while self._due and self._due[0][0] <= end:
            self._clock.move_to(self._due[0][0])
            self._happen()
        self._clock.move_to(end)

    def clear(self) -> None:
        self._due.clear()

    def _happen(self) -> None:
        _, number, happening = heapq.heappop(self._due)
        self._ledger.happen(number, happening)
        happening()

    def _pause(self) -> float:
        if not self._due or self._clock.paused:
            return _LONGEST_SLEEP
        left = (self._due[0][0] - self._clock.simulated) / SECOND
        return min(max(left, _SHORTEST_SLEEP), _LONGEST_SLEEP)
