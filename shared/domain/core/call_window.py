"""A rate limit on calls: a sliding window of sixty seconds."""

from collections import deque

_MINUTE = 60.0


class CallWindow:
    """At most `limit` calls within any minute; `now` is in seconds of a monotonic clock."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._sent: deque[float] = deque()

    def wait(self, now: float) -> float:
        """Returns the seconds until one more call is allowed, 0 where it is allowed now."""
        while self._sent and self._sent[0] + _MINUTE <= now:
            self._sent.popleft()
        return self._sent[0] + _MINUTE - now if len(self._sent) >= self.limit else 0.0

    def take(self, now: float) -> float:
        """Counts a call that is allowed now. Returns the seconds until it is, 0 where it was counted."""
        wait = self.wait(now)
        if not wait:
            self.note(now)
        return wait

    def note(self, now: float) -> None:
        """Records that a call was sent."""
        self._sent.append(now)
