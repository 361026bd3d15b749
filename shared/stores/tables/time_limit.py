"""A limit to how long one answer may take, of a Batch account its body and our own retry included.

The SDK's own time-outs restart with every byte and with every retry: a service that hangs or trickles would keep a
round waiting for minutes.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from azure.core.pipeline import PipelineRequest
from azure.core.pipeline.policies import AsyncHTTPPolicy

LIMIT = timedelta(seconds=30)
"""As long as Batch itself takes at most (its parameter `timeout`), and Table Storage (documented)."""


@asynccontextmanager
async def answered_within(limit: timedelta) -> AsyncIterator[None]:
    """Raises TimeoutError, in words, and ends what was under way."""
    try:
        async with asyncio.timeout(limit.total_seconds()):
            yield
    except TimeoutError as error:
        raise TimeoutError(str(error) or f"no whole answer within {limit.total_seconds():g} s") from error


class TimeLimitPolicy(AsyncHTTPPolicy[Any, Any]):
    """Belongs before the retry policy, so that the limit counts for all attempts together."""

    def __init__(self, limit: timedelta) -> None:
        super().__init__()
        self._limit = limit

    async def send(self, request: PipelineRequest[Any]) -> Any:
        async with answered_within(self._limit):
            return await self.next.send(request)
