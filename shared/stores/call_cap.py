"""Protects the customer's quota: so many requests to a Batch account a minute and no more, polls on demand included."""

import asyncio
from collections import deque
from datetime import timedelta
from typing import Any

from azure.core.pipeline.policies import SansIOHTTPPolicy

from shared.errors import BatchThrottledError

_MINUTE = 60.0


class CallCapPolicy(SansIOHTTPPolicy[Any, Any]):
    """Refuses a request once `limit` were sent within a minute, as the service would if it were throttling."""

    def __init__(self, endpoint: str, limit: int) -> None:
        super().__init__()
        self._endpoint = endpoint
        self._limit = limit
        self._sent: deque[float] = deque()

    def on_request(self, request: Any) -> None:  # noqa: ARG002 - the policy's interface
        """Raises BatchThrottledError, which says when there is room again."""
        now = asyncio.get_running_loop().time()
        while self._sent and self._sent[0] <= now - _MINUTE:
            self._sent.popleft()
        if len(self._sent) >= self._limit:
            wait = timedelta(seconds=self._sent[0] + _MINUTE - now)
            raise BatchThrottledError(self._endpoint, wait, cap=self._limit)
        self._sent.append(now)
