"""Requests to Table Storage: which are sent, how long they wait, and what transactions consist of.

Writes are counted by table, and storage's time is reported to the clock. A connection that was idle for longer than
storage keeps it isn't used again, as a write that is lost with it may not be repeated: the process may have been too
busy to notice its end.

The time limit is seconds for API requests, and the SDK's own for timers and queues. It belongs to a context and all
tasks begun there; without one, nothing is limited here.

Bodies of transactions are written and their answers read here, as the SDK makes MIME messages in ten times the time.
The SDK still makes the operations, signs and sends the request, and retries it.

Reads are repeated from memory while one piece of work goes on, such as explaining several jobs of an account: each
explanation reads the account's, its jobs' and its pools' rows by itself, and within a few seconds these are the same.
Only reads inside the block share, also those of tasks that it starts. A row of a partition that was read as a whole is
taken from there. A write inside the block, or a conflict with another writer, forgets everything read so far. Task
leaves aren't kept, as they are large; the dependencies beside them are.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime, timedelta
from typing import Any, override
from urllib.parse import urlsplit
from uuid import uuid4

import aiohttp
import orjson
from azure.core.exceptions import HttpResponseError, ServiceRequestError, ServiceResponseError
from azure.core.pipeline.transport import AioHttpTransport
from azure.core.rest import HttpRequest
from azure.data.tables.aio import TableClient

from shared.domain.core.stamps import http_date

type Asking = Callable[[], Callable[[datetime], None]]
_TABLE = re.compile(r"/([A-Za-z][A-Za-z0-9]{2,62})(?:\(|\Z)")
_OPERATION = re.compile(rb"\r\n(?:DELETE|PATCH|POST|PUT) (\S+) HTTP/1\.1\r\n")
_HEAD = 8_000  # bytes in which the first operation of a transaction begins
_BUSY = (429, 500, 502, 503, 504)
_IDLE_SECONDS = 4  # Azurite ends connections after five
_MAX_FAILURES = 2  # in a row: the SDK repeats a request once without a pause
_ACCEPTED, _OK = 202, 200
_MULTIPLE = 300
_BOUNDARY = re.compile(rb'boundary="?([^"\r\n;]+)')
_STATUS = re.compile(rb"HTTP/1\.[01] (\d{3}) ?([^\r\n]*)")
_ETAG = re.compile(rb"\r?\netag: *([^\r\n]*)", re.IGNORECASE)
_END = re.compile(rb"\r?\n\r?\n")
type _Key = tuple[object, ...]
type _Rows = list[dict[str, Any]]
_LARGE, _KEPT_OF_LARGE = "tasks", "dependencies"  # the table whose rows aren't kept, and the one row that is
WHOLE = "PartitionKey eq @partition"
"""The filter for all rows of a partition."""
_READ = ContextVar[dict[_Key, _Rows] | None]("rows read", default=None)


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


class TransactionClient(TableClient):
    """A table whose transactions are written and read here."""

    @override
    async def _batch_send(self, table_name: str, *reqs: HttpRequest, **kwargs: Any) -> list[Mapping[str, Any]]:
        """Sends operations in one transaction; returns the new `etag` of each row, and nothing of deleted ones.

        Raises HttpResponseError with the first error, and ServiceResponseError where the outcome is unknown.
        """
        boundary = f"batch_{uuid4()}"
        request = HttpRequest(
            "POST",
            f"{self.scheme}://{self._primary_hostname}/$batch",
            headers={
                "x-ms-version": self.api_version,
                "DataServiceVersion": "3.0",
                "MaxDataServiceVersion": "3.0;NetFx",
                "Content-Type": f"multipart/mixed; boundary={boundary}",
                "Accept": "application/json",
            },
            content=_body(boundary, reqs),
        )
        response = await self._client.send_request(request, stream=True, **kwargs)
        body = await response.read()
        if response.status_code != _ACCEPTED:
            raise _failure(response.status_code, response.reason, body)
        answers: list[Mapping[str, Any]] = [_answer(part) for part in _parts(body)]
        if len(answers) != len(reqs):
            raise _unknown(f"it has {len(answers)} parts for {len(reqs)} operations")
        return answers


def _body(boundary: str, operations: tuple[HttpRequest, ...]) -> bytes:
    inner = f"changeset_{uuid4()}"
    begin = f"--{boundary}\r\nContent-Type: multipart/mixed; boundary={inner}\r\n\r\n".encode()
    parts = b"".join(_part(inner, number, one) for number, one in enumerate(operations))
    return begin + parts + f"--{inner}--\r\n\r\n--{boundary}--\r\n".encode()


def _part(boundary: str, number: int, operation: HttpRequest) -> bytes:
    headers = "".join(f"{name}: {value}\r\n" for name, value in operation.headers.items())
    content: Any = operation.content or b""
    head = (
        f"--{boundary}\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n"
        f"Content-ID: {number}\r\n\r\n{operation.method} {operation.url} HTTP/1.1\r\n{headers}\r\n"
    )
    return head.encode() + (content.encode() if isinstance(content, str) else content) + b"\r\n"


def _parts(body: bytes) -> Iterator[bytes]:
    """Yields the answers to operations, each an HTTP response. Raises ServiceResponseError."""
    inner = _BOUNDARY.search(body)
    if inner is None:
        raise _unknown("it has no parts")
    _, *parts = body.split(b"--" + inner[1])
    if not parts or not parts[-1].startswith(b"--"):
        raise _unknown("it has no end")
    for part in parts[:-1]:
        head = _END.search(part)
        if head is None:
            raise _unknown("a part has no end of its headers")
        yield part[head.end() :]


def _answer(part: bytes) -> dict[str, str]:
    status, end = _STATUS.match(part), _END.search(part)
    if status is None:
        raise _unknown("a part has no status")
    code, head = int(status[1]), part[: end.start()] if end else part
    if not _OK <= code < _MULTIPLE:
        raise _failure(code, status[2].decode(errors="replace"), part[end.end() :] if end else b"")
    etag = _ETAG.search(head)
    return {"etag": etag[1].decode()} if etag else {}


def _unknown(reason: str) -> ServiceResponseError:
    return ServiceResponseError(f"the answer to a transaction can't be read: {reason}")


def _failure(status: int, reason: str | None, body: bytes) -> HttpResponseError:
    """Returns an error with the service's code and message, if the body has them."""
    try:
        found = orjson.loads(body)["odata.error"]
        code, message = str(found["code"]), str(found["message"]["value"])
    except (ValueError, TypeError, LookupError):
        code, message = "", reason or f"status {status}"
    error = HttpResponseError(f"{message}\nErrorCode:{code}" if code else message)
    error.status_code, error.reason = status, reason
    return error


@contextmanager
def reads_shared() -> Iterator[None]:
    """Keeps rows that are read inside the block until it ends; each reader gets its own copy."""
    token = _READ.set({})
    try:
        yield
    finally:
        _READ.reset(token)


def kept(*key: object) -> _Rows | None:
    """Returns copies of the rows that were read by this key, None where they weren't, or outside of a block."""
    found = (_READ.get() or {}).get(key)
    return None if found is None else [dict(row) for row in found]


def kept_row(table: str, partition: str, row: str) -> _Rows | None:
    """Returns a copy of a row that was read, alone or with its whole partition; none, if it wasn't there.

    Returns None where it wasn't read, or outside of a block.
    """
    known = _READ.get() or {}
    if (alone := kept(table, partition, row)) is not None:
        return alone
    whole = known.get((table, WHOLE, partition, None))
    return None if whole is None else [dict(found) for found in whole if found["RowKey"] == row]


def keep(rows: _Rows, table: str, *key: object) -> None:
    """Keeps rows of a table by a key, which begins with its name; does nothing outside of a block."""
    known = _READ.get()
    if known is not None and (is_sharing(table) or key[1:] == (_KEPT_OF_LARGE,)):
        known[table, *key] = [dict(row) for row in rows]


def is_sharing(table: str) -> bool:
    """Returns whether rows of a table are kept now; those of others needn't be gathered for `keep`."""
    return _READ.get() is not None and not table.endswith(_LARGE)


def forget_reads() -> None:
    """Forgets all rows read inside the present block."""
    if known := _READ.get():
        known.clear()
