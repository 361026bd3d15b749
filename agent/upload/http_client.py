"""HTTP by the standard library: one connection a request, certificates verified, redirects not followed.

Messages of errors name hosts only: addresses may hold signatures, and headers tokens.
"""

from __future__ import annotations

import contextlib
import http.client
import io
import socket
import ssl
import threading
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import SplitResult, urlsplit

from agent.upload.proxies import proxy_of

DEFAULT_TIMEOUT = 30.0
"""Seconds without a byte after which a request fails."""
MAX_TIMEOUTS = 10
"""A request may last for this many timeouts in all, however its answer trickles in."""
MAX_BODY = 64 << 10
"""Bytes of an answer that are read unless more were asked for."""


class NoAnswerError(Exception):
    """A request had no whole answer, so its effect isn't known; the message is a sentence without secrets."""


class Response(NamedTuple):
    """An answer; names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class _WholeLines(io.BufferedReader):
    """The lines of an answer's head, of which one that a closed connection cut off is an error."""

    def readline(self, size: int | None = -1) -> bytes:
        line = super().readline(size)
        if not line.endswith(b"\n") and not 0 <= (-1 if size is None else size) <= len(line):
            raise http.client.RemoteDisconnected("the answer is cut off")
        return line


class _WholeResponse(http.client.HTTPResponse):
    """An answer whose head must be whole: the standard library takes headers that are cut off, even within a number."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.fp = _WholeLines(self.fp.detach())


class _Deadline(threading.Timer):
    """Cuts a connection after some seconds, so that a read that waits for it ends."""

    def __init__(self, connection: http.client.HTTPConnection, seconds: float) -> None:
        super().__init__(seconds, self._cut)
        self.daemon = True
        self.is_over = False
        self._connection = connection

    def _cut(self) -> None:
        self.is_over = True
        with contextlib.suppress(OSError, AttributeError):  # it is closed already
            self._connection.sock.shutdown(socket.SHUT_RDWR)


class HttpClient:
    """Sends requests. `proxies` has HTTP_PROXY, HTTPS_PROXY and NO_PROXY as the environment names them."""

    def __init__(self, proxies: Mapping[str, str], *, timeout: float = DEFAULT_TIMEOUT, ca_file: str = "") -> None:
        self._proxies = proxies
        self._timeout = timeout
        self._ca_file = ca_file
        self._tls: ssl.SSLContext | None = None

    def request(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes = b"", *, limit: int = MAX_BODY
    ) -> Response:
        """Sends a request and returns its answer, at most `limit` bytes of it. Raises NoAnswerError."""
        parts = urlsplit(url)
        try:
            return self._answer(method, parts, headers, body, limit)
        except ssl.SSLCertVerificationError as error:
            raise NoAnswerError(f"The certificate of {parts.hostname} isn't valid: {error.verify_message}.") from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise NoAnswerError(f"{parts.hostname} doesn't answer: {_reason(error)}.") from None

    def _answer(self, method: str, url: SplitResult, headers: Mapping[str, str], body: bytes, limit: int) -> Response:
        connection, target, more = self._connection(url)
        connection.response_class = _WholeResponse
        deadline = _Deadline(connection, self._timeout * MAX_TIMEOUTS)
        try:
            connection.connect()
            deadline.start()
            connection.request(method, target, body=body or None, headers={**headers, **more, "Connection": "close"})
            answer = connection.getresponse()
            content = answer.read(limit)
            found = {name.lower(): value for name, value in answer.getheaders()}
        finally:
            deadline.cancel()
            connection.close()
        if deadline.is_over:
            raise TimeoutError
        if method != "HEAD" and len(content) < min(_length(found), limit):
            raise http.client.IncompleteRead(b"")
        return Response(answer.status, found, content)

    def _connection(self, url: SplitResult) -> tuple[http.client.HTTPConnection, str, Mapping[str, str]]:
        """Returns a connection, the target of its requests, and headers for a proxy."""
        target = url._replace(scheme="", netloc="").geturl() or "/"
        proxy = proxy_of(url, self._proxies)
        host, port = (proxy.host, proxy.port) if proxy else (url.hostname or "", url.port)
        if url.scheme != "https":
            plain = http.client.HTTPConnection(host, port, timeout=self._timeout)
            return plain, url.geturl() if proxy else target, proxy.headers if proxy else {}
        secure = http.client.HTTPSConnection(host, port, timeout=self._timeout, context=self._context())
        if proxy:
            secure.set_tunnel(url.hostname or "", url.port or http.client.HTTPS_PORT, dict(proxy.headers))
        return secure, target, {}

    def _context(self) -> ssl.SSLContext:
        if self._tls is None:
            self._tls = ssl.create_default_context(cafile=self._ca_file or None)
        return self._tls


def _length(headers: Mapping[str, str]) -> int:
    """Returns the length that an answer announces, 0 where it doesn't."""
    written = headers.get("content-length", "")
    return int(written) if written.isdecimal() else 0


def _reason(error: Exception) -> str:
    """Returns an error's kind, and the system's words for it, which hold nothing of the request."""
    words = getattr(error, "strerror", None)
    return f"{type(error).__name__}, {words}" if words else type(error).__name__
