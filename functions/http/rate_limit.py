"""A per-process, per-minute limit on requests that change something or cause Batch calls, over all callers."""

from collections import deque

from shared.errors import BatchscopeError

_MINUTE = 60.0


class TooManyRequestsError(BatchscopeError):
    """The rate limit was exceeded; `retry_after` is in whole seconds."""

    def __init__(self, limit: int, retry_after: int) -> None:
        super().__init__(f"More than {limit} such requests within a minute; try again in {retry_after} s.")
        self.retry_after = retry_after


class RateLimit:
    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._passed: deque[float] = deque()

    def take(self, now: float) -> None:
        """Counts a request at `now`, in seconds of a monotonic clock. Raises TooManyRequestsError past the limit."""
        while self._passed and self._passed[0] <= now - _MINUTE:
            self._passed.popleft()
        if len(self._passed) >= self._limit:
            raise TooManyRequestsError(self._limit, int(self._passed[0] + _MINUTE - now) + 1)
        self._passed.append(now)
