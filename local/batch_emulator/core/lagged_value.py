"""Values as of some time ago, for counts that lag behind the entities they count."""

from collections import deque
from collections.abc import Callable

from local.batch_emulator.core.stamps import SECOND

_MIN_SPACING = SECOND // 20


class LaggedValue[T]:
    """A value that is read with a lag; times and lags are in ticks. Without a lag nothing is stored."""

    def __init__(self) -> None:
        self._recorded: deque[tuple[int, T]] = deque()

    def record(self, current: Callable[[], T], *, now: int, lag: int) -> None:
        """Records the value before a change; `current` is called only if needed, and its result must not change."""
        if not lag:
            self._recorded.clear()
            return
        while self._recorded and self._recorded[0][0] <= now - lag:
            self._recorded.popleft()
        if not self._recorded or self._recorded[-1][0] < now - _MIN_SPACING:
            self._recorded.append((now, current()))

    def read(self, current: Callable[[], T], *, now: int, lag: int) -> T:
        """Returns the value from `lag` ago."""
        for until, value in self._recorded if lag else ():
            if until > now - lag:
                return value
        return current()
