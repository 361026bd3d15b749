"""The emulator's time. `now` is what `Date` and stamps show; `simulated` is what durations are counted in.

Live, both are the real time, but `simulated` stands still in pauses. Stepped, both move only when told to.
"""

import asyncio
import time

from local.batch_emulator.stamps import SECOND


class Clock:
    def __init__(self, *, stepped: bool) -> None:
        self.stepped = stepped
        self._virtual = _real() // SECOND * SECOND
        self._lost = 0
        self._paused_at: int | None = None
        self._resumed = asyncio.Event()

    @property
    def now(self) -> int:
        return self._virtual if self.stepped else _real()

    @property
    def simulated(self) -> int:
        if self.stepped:
            return self._virtual
        return (self._paused_at if self._paused_at is not None else _real()) - self._lost

    @property
    def real(self) -> int:
        """The time that credentials go by, whatever the emulator's own."""
        return _real()

    @property
    def paused(self) -> bool:
        return self._paused_at is not None

    def pause(self) -> None:
        if self._paused_at is None:
            self._paused_at = _real()

    def resume(self) -> None:
        if self._paused_at is not None:
            self._lost += _real() - self._paused_at
            self._paused_at = None
            self._resumed.set()

    async def running(self) -> None:
        """Returns when nothing is paused."""
        while self._paused_at is not None:
            self._resumed.clear()
            await self._resumed.wait()

    def set(self, ticks: int) -> None:
        """Stepped only: moves the virtual time forward."""
        self._virtual = max(self._virtual, ticks)


def _real() -> int:
    return time.time_ns() // 100
