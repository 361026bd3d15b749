"""Sends requests to Table Storage: counts writes, reports storage's time to the clock, and limits waits.

A connection that was idle for longer than storage keeps it isn't used again, as a write that is lost with it may not
be repeated: the process may have been too busy to notice its end.

The time limit is seconds for API requests, and the SDK's own for timers and queues. It belongs to a context and all
tasks begun there; without one, nothing is limited here.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime, timedelta
from typing import Any, override
from urllib.parse import urlsplit

import aiohttp
from azure.core.exceptions import ServiceRequestError, ServiceResponseError
from azure.core.pipeline.transport import AioHttpTransport

from shared.domain.core.stamps import http_date
from shared.stores.tables.shared_reads import forget_reads

type Asking = Callable[[], Callable[[datetime], None]]
_TABLE = re.compile(r"/([A-Za-z][A-Za-z0-9]{2,62})(?:\(|\Z)")
_OPERATION = re.compile(rb"\r\n(?:DELETE|PATCH|POST|PUT) (\S+) HTTP/1\.1\r\n")
_HEAD = 8_000  # bytes in which the first operation of a transaction begins
_BUSY = (429, 500, 502, 503, 504)
_IDLE_SECONDS = 4  # Azurite ends connections after five
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


_timeout: ContextVar[StorageTimeout | None] = ContextVar("timeout", default=None)


@contextmanager
def waiting_for_storage(limit: timedelta | None) -> Iterator[None]:
    """Limits the wait for a response of storage inside; None: as long as the SDK does."""
    token = _timeout.set(StorageTimeout(limit) if limit else None)
    try:
        yield
    finally:
        _timeout.reset(token)


class TableTransport(AioHttpTransport):  # type: ignore[misc]  # untyped there
    """Transport that counts answered writes by table, and those of unknown outcome.

    `asking` is called for each request, and its result with the date of the response.
    """

    def __init__(self, asking: Asking | None, *, trust_env: bool, **options: Any) -> None:
        super().__init__(**options)
        self.writes = Counter[str]()
        self._asking = asking
        self._trust_env = trust_env
        self._has_opened = False

    @override
    async def open(self) -> None:
        if not self._has_opened:
            self._has_opened = True
            self.session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(keepalive_timeout=_IDLE_SECONDS),
                cookie_jar=aiohttp.DummyCookieJar(),
                trust_env=self._trust_env,
                auto_decompress=False,
            )
        await super().open()

    @override
    async def send(self, request: Any, **options: Any) -> Any:
        timeout, answered = _timeout.get(), self._asking() if self._asking else None
        sent = super().send(request, **options)
        try:
            answer = await (timeout.wait(sent) if timeout else sent)
            if answered and (date := http_date(answer.headers.get("Date"))):
                answered(date)
            return answer
        finally:
            if request.method != "GET":
                self.writes[_table_of(request)] += 1
                forget_reads()


def _table_of(request: Any) -> str:
    """Returns the table of a write by its URL, empty if that doesn't show it.

    A transaction has the URL of its first operation, as all are for one table.
    """
    url = request.url or ""
    if urlsplit(url).path.endswith("/$batch"):
        operation = _OPERATION.search(request.content[:_HEAD])
        url = operation[1].decode() if operation else ""
    found = _TABLE.search(urlsplit(url).path)
    return found[1] if found else ""
