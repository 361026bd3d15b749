"""A per-process, per-minute limit on requests that change something or cause Batch calls, over all callers."""

from shared.domain.core.call_window import CallWindow
from shared.errors import BatchscopeError


class TooManyRequestsError(BatchscopeError):
    """The rate limit was exceeded; `retry_after` is in whole seconds."""

    def __init__(self, limit: int, retry_after: int) -> None:
        super().__init__(f"More than {limit} such requests within a minute; try again in {retry_after} s.")
        self.retry_after = retry_after


class RateLimit:
    def __init__(self, limit: int) -> None:
        self._window = CallWindow(limit)

    def take(self, now: float) -> None:
        """Counts a request at `now`, in seconds of a monotonic clock. Raises TooManyRequestsError past the limit."""
        if wait := self._window.take(now):
            raise TooManyRequestsError(self._window.limit, int(wait) + 1)
