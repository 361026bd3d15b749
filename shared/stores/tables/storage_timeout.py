"""Time limits for waiting for storage: seconds for API requests, the SDK's own for timers and queues.

A patience belongs to a context and all tasks begun there; without one, nothing is limited here.
"""

import asyncio
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import timedelta
from typing import Any

from azure.core.exceptions import ServiceRequestError, ServiceResponseError

_BUSY = (429, 500, 502, 503, 504)
_MAX_FAILURES = 2  # in a row: the SDK repeats a request once without a pause


class StorageTimeout:
    """The limit of one context; `limit` is the maximum time of one response.

    After a missing response, or two failed attempts in a row, no more requests are sent.
    """

    def __init__(self, limit: timedelta) -> None:
        self._seconds = limit.total_seconds()
        self._failures = 0
        self._end: str | None = None

    async def wait(self, answer: Awaitable[Any]) -> Any:
        """Returns a response of the transport. Raises TimeoutError and ConnectionError, which the SDK doesn't retry."""
        try:
            async with asyncio.timeout(0 if self._end else self._seconds):
                found = await answer
        except TimeoutError:
            self._end = self._end or f"no answer within {self._seconds:g} s"
            raise TimeoutError(self._end) from None
        except (ServiceRequestError, ServiceResponseError) as error:
            self._note_failure(str(error))
            raise
        if found.status_code in _BUSY:
            self._note_failure(f"it answered {found.status_code} twice")
        else:
            self._failures = 0
        return found

    def _note_failure(self, cause: str) -> None:
        self._failures += 1
        if self._failures >= _MAX_FAILURES:
            self._end = cause
            raise ConnectionError(cause)


_patience: ContextVar[StorageTimeout | None] = ContextVar("patience", default=None)


def current_patience() -> StorageTimeout | None:
    return _patience.get()


@contextmanager
def waiting_for_storage(limit: timedelta | None) -> Iterator[None]:
    """Limits the wait for a response of storage inside; None: as long as the SDK does."""
    token = _patience.set(StorageTimeout(limit) if limit else None)
    try:
        yield
    finally:
        _patience.reset(token)
