"""Past values, for counts that lag behind the entities they count."""

from collections import deque
from collections.abc import Callable

from local.batch_emulator.core.stamps import SECOND

_GRAIN = SECOND // 20


class Past[T]:
    """Past values; times and lags are in ticks. Without a lag nothing is stored."""

    def __init__(self) -> None:
        self._kept: deque[tuple[int, T]] = deque()

    def keep(self, present: Callable[[], T], *, now: int, lag: int) -> None:
        """Stores the value before a change; `present` is called only if needed, and its result must not change."""
        if not lag:
            self._kept.clear()
            return
        while self._kept and self._kept[0][0] <= now - lag:
            self._kept.popleft()
        if not self._kept or self._kept[-1][0] < now - _GRAIN:
            self._kept.append((now, present()))

    def seen(self, present: Callable[[], T], *, now: int, lag: int) -> T:
        """Returns the value from `lag` ago."""
        for until, kept in self._kept if lag else ():
            if until > now - lag:
                return kept
        return present()
