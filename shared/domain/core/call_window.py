"""How many calls may go out a minute: within any sixty seconds, whenever they begin."""

from collections import deque

_MINUTE = 60.0


class CallWindow:
    """At most `limit` calls within any minute; `now` is in seconds of a clock that never goes back."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._sent: deque[float] = deque()

    def wait(self, now: float) -> float:
        """Seconds until there is room for one more call, 0 where there is."""
        while self._sent and self._sent[0] + _MINUTE <= now:
            self._sent.popleft()
        return self._sent[0] + _MINUTE - now if len(self._sent) >= self.limit else 0.0

    def note(self, now: float) -> None:
        """After a call was sent."""
        self._sent.append(now)
