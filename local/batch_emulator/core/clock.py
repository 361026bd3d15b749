"""The emulator's time, live or stepped.

`Date` and stamps show `now`; durations count in `simulated`. In live mode both follow the machine, but `simulated`
stops in pauses. In stepped mode both move only on request, and never back.
"""

import asyncio
import time

from local.batch_emulator.core.stamps import SECOND


def real_now() -> int:
    """Returns the machine's time in ticks; signatures are checked against it in both modes."""
    return time.time_ns() // 100


class Clock:
    def __init__(self, *, stepped: bool, start: int | None = None) -> None:
        self.stepped = stepped
        self._latest = start if start is not None else real_now() // SECOND * SECOND
        self._paused_total = 0
        self._paused_at: int | None = None
        self._running = asyncio.Event()
        self._running.set()

    @property
    def now(self) -> int:
        if not self.stepped:
            self._latest = max(self._latest, real_now())
        return self._latest

    @property
    def latest_active(self) -> int:
        """The latest moment at which events could happen: now, or the start of the current pause."""
        return self.now if self._paused_at is None else self._paused_at

    @property
    def simulated(self) -> int:
        if self.stepped:
            return self._latest
        return self.latest_active - self._paused_total

    @property
    def stored_state(self) -> tuple[int, int, int | None]:
        """The arguments of `restore`: the latest time shown, the sum of pauses, and the start of the current pause."""
        return self.now, self._paused_total, self._paused_at

    def restore(self, latest: int, paused_total: int, paused_at: int | None) -> None:
        """Restores a stored state: time never goes back, and runs. The time since then counts unless it was paused."""
        self._latest = max(self._latest, latest) if not self.stepped else latest
        self._paused_total = paused_total + (0 if paused_at is None else self.now - paused_at)

    @property
    def paused(self) -> bool:
        return self._paused_at is not None

    def pause(self) -> None:
        if self._paused_at is None:
            self._paused_at = self.now
            self._running.clear()

    def resume(self) -> None:
        if self._paused_at is not None:
            self._paused_total += self.now - self._paused_at
            self._paused_at = None
            self._running.set()

    async def wait_until_running(self) -> None:
        """Waits until the clock isn't paused."""
        while self.paused:
            await self._running.wait()

    def move_to(self, moment: int) -> None:
        """Moves to a moment, in stepped mode only; never back."""
        self._latest = max(self._latest, moment)
