"""Protects the customer's quota: a maximum of requests to a Batch account per minute, also for polls on demand."""

import asyncio
from datetime import timedelta
from typing import Any

from azure.core.pipeline.policies import SansIOHTTPPolicy

from shared.domain.core.call_window import CallWindow
from shared.errors import BatchThrottledError

_SHORTEST_WAIT = 0.001  # seconds


class RateLimitPolicy(SansIOHTTPPolicy[Any, Any]):
    """Refuses a request for which `calls` has no room, as the service would when throttling."""

    def __init__(self, endpoint: str, calls: CallWindow) -> None:
        super().__init__()
        self._endpoint = endpoint
        self._calls = calls

    def on_request(self, request: Any) -> None:  # noqa: ARG002 - the policy's interface
        """Raises BatchThrottledError with the time until there is room again."""
        if wait := self._calls.take(asyncio.get_running_loop().time()):
            raise BatchThrottledError(self._endpoint, timedelta(seconds=wait), cap=self._calls.limit)


class LongReadRateLimit:
    """Leaves half of an account's calls to its rounds: long reads take turns at the other half, and wait for them.

    A read of many lists at the same time would use all calls of a minute within seconds, and the account's other jobs
    wouldn't be polled for the rest of it.
    """

    def __init__(self, calls: CallWindow) -> None:
        """Takes the call window of the account."""
        self._all = calls
        self._own = CallWindow(max(1, calls.limit // 2))
        self._line = asyncio.Lock()

    async def wait(self, deadline: float) -> bool:
        """Waits for room for a call and takes it; returns False if there is none by the deadline, in loop time."""
        try:
            async with asyncio.timeout_at(deadline):
                await self._line.acquire()
        except TimeoutError:
            return False
        try:
            return await self._first_in_line(deadline)
        finally:
            self._line.release()

    async def _first_in_line(self, deadline: float) -> bool:
        time = asyncio.get_running_loop().time
        while pause := max(self._own.wait(time()), self._all.wait(time())):
            if time() >= deadline:
                return False
            await asyncio.sleep(max(min(pause, deadline - time()), _SHORTEST_WAIT))
        self._own.note(time())
        return True
