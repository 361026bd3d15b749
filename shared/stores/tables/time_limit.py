"""A time limit for one response; for a Batch account it includes the body and our own retry.

The SDK's time-outs restart with every byte and every retry: a service that hangs or trickles would delay a round for
minutes.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from azure.core.pipeline import PipelineRequest
from azure.core.pipeline.policies import AsyncHTTPPolicy

LIMIT = timedelta(seconds=30)
"""The maximum of Batch itself (its parameter `timeout`), and of Table Storage (documented)."""


@asynccontextmanager
async def answered_within(limit: timedelta) -> AsyncIterator[None]:
    """Cancels the work inside after the limit. Raises TimeoutError with a message."""
    try:
        async with asyncio.timeout(limit.total_seconds()):
            yield
    except TimeoutError as error:
        raise TimeoutError(str(error) or f"no whole answer within {limit.total_seconds():g} s") from error


class TimeLimitPolicy(AsyncHTTPPolicy[Any, Any]):
    """Time limit of a request; it must precede the retry policy, so that it covers all attempts together."""

    def __init__(self, limit: timedelta) -> None:
        super().__init__()
        self._limit = limit

    async def send(self, request: PipelineRequest[Any]) -> Any:
        async with answered_within(self._limit):
            return await self.next.send(request)
