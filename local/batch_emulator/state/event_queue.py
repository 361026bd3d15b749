"""The queue of planned events, ordered by simulated time. Its cost depends on due events only."""

import asyncio
import contextlib
import heapq

from local.batch_emulator.core.clock import Clock
from local.batch_emulator.core.stamps import SECOND, ticks
from local.batch_emulator.state.change_log import ChangeLog, PlannedEvent

_MAX_EVENTS = 2000
_MAX_SLEEP = 1.0
_MIN_SLEEP = 0.002


class EventQueue:
    """The event queue. `speed` divides every duration; stamps follow the clock."""

    def __init__(self, clock: Clock, speed: float, change_log: ChangeLog) -> None:
        self.speed = speed
        self._clock = clock
        self._due: list[tuple[int, int, PlannedEvent]] = []
        self._change_log = change_log
        self._wake_up = asyncio.Event()

    def after(self, seconds: float, event: PlannedEvent) -> None:
        """Plans an event; `seconds` are divided by the speed."""
        self.after_exactly(seconds / self.speed, event)

    def after_exactly(self, seconds: float, event: PlannedEvent) -> None:
        """Plans an event; `seconds` are not divided by the speed."""
        due, number = self._clock.simulated + ticks(seconds), self._change_log.next_number()
        self._change_log.mark_planned(number, due, event)
        self.restore(number, due, event)

    def restore(self, number: int, due: int, event: PlannedEvent) -> None:
        """Restores a planned event; `due` is in simulated ticks, and lower numbers come first among equals."""
        if not self._due or due < self._due[0][0]:
            self.wake()
        heapq.heappush(self._due, (due, number, event))

    def wake(self) -> None:
        """Wakes the loop; called when an event may be due sooner than planned, such as after a pause."""
        self._wake_up.set()

    def run_due(self, max_events: int = _MAX_EVENTS) -> bool:
        """Runs at most `max_events` due events; returns whether more are due."""
        for _ in range(max_events):
            if not self._due or self._due[0][0] > self._clock.simulated:
                return False
            self._run_next()
        return True

    async def run(self) -> None:
        """Live mode: runs events at their time, until cancelled."""
        while True:
            self._wake_up.clear()
            if self.run_due():
                await asyncio.sleep(0)
                continue
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._wake_up.wait(), self._sleep_seconds())

    def advance(self, seconds: float) -> None:
        """Stepped mode: advances time and runs each event at its own moment."""
        end = self._clock.now + ticks(seconds)
        while self._due and self._due[0][0] <= end:
            self._clock.move_to(self._due[0][0])
            self._run_next()
        self._clock.move_to(end)

    def clear(self) -> None:
        self._due.clear()

    def _run_next(self) -> None:
        _, number, event = heapq.heappop(self._due)
        self._change_log.mark_executed(number, event)
        event()

    def _sleep_seconds(self) -> float:
        if not self._due or self._clock.paused:
            return _MAX_SLEEP
        left = (self._due[0][0] - self._clock.simulated) / SECOND
        return min(max(left, _MIN_SLEEP), _MAX_SLEEP)
