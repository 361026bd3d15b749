"""A small server that keeps append blobs as storage does, and fails as networks and services do."""

import socket
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

FAULTS = (
    "none",
    "reset before",
    "reset after",
    "refuse 503",
    "refuse 409",
    "refuse 412",
    "fail after",
    "late",
    "cut off",
    "foreign",
)
FOREIGN = b"foreign v=1\n"
type Answer = tuple[int, dict[str, str], bytes]


@dataclass
class Blob:
    content: bytes = b""
    blocks: int = 0
    sealed: bool = False


@dataclass
class AppendService:
    """Its blobs, and the faults of the next requests."""

    max_blocks: int = 50_000
    blobs: dict[str, Blob] = field(default_factory=dict)
    faults: deque[str] = field(default_factory=deque)
    requests: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    address: str = ""
    late: list[tuple[Any, ...]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def perform(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Answer:
        """Does what a request asks for."""
        parts = urlsplit(path)
        name, action = parts.path.lstrip("/"), parse_qs(parts.query).get("comp", [""])[0]
        blob = self.blobs.get(name)
        if method == "PUT" and not action:
            self.blobs.setdefault(name, Blob())
            return refused(409, "BlobAlreadyExists") if blob else accepted(201)
        if blob is None:
            return refused(404, "BlobNotFound")
        if action == "appendblock":
            return self.append(blob, headers, body)
        if action == "seal":
            blob.sealed = True
            return accepted(200)
        shown = {"x-ms-blob-committed-block-count": str(blob.blocks), "x-ms-blob-sealed": str(blob.sealed).lower()}
        if method == "HEAD":
            return accepted(200, {**shown, "content-length": str(len(blob.content))})
        begin, end = map(int, headers["x-ms-range"].removeprefix("bytes=").split("-"))
        return accepted(206, shown, blob.content[begin : end + 1])

    def append(self, blob: Blob, headers: dict[str, str], body: bytes) -> Answer:
        if blob.sealed:
            return refused(409, "BlobIsSealed")
        if blob.blocks >= self.max_blocks:
            return refused(409, "BlockCountExceedsLimit")
        if int(headers["x-ms-blob-condition-appendpos"]) != len(blob.content):
            return refused(412, "AppendPositionConditionNotMet")
        blob.content += body
        blob.blocks += 1
        return accepted(201, {"x-ms-blob-committed-block-count": str(blob.blocks)})

    def answer(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Answer | None:
        """Returns the answer to a request, None for a connection that ends without one."""
        with self.lock:
            self.requests.append(f"{method} {path}")
            self.headers.append(headers)
            fault = self.faults.popleft() if self.faults else "none"
            asked = (method, path, headers, body)
            self.late, due = [], self.late
            if fault == "late":
                self.late.append(asked)
            found = self._answer(fault, asked)
            for request in due:
                self.perform(*request)
            return found

    def _answer(self, fault: str, asked: tuple[str, str, dict[str, str], bytes]) -> Answer | None:
        if fault in ("reset before", "late"):
            return None
        if fault.startswith("refuse"):
            status = int(fault.split()[1].rstrip(","))
            more = {"retry-after": "2"} if status == 503 or fault.endswith("retry-after") else {}
            return (status, {"x-ms-request-id": "1", **more}, b"")
        if fault == "foreign":
            self._write_foreign(asked[1])
        found = self.perform(*asked)
        if fault == "fail after":
            return refused(500, "OperationTimedOut")
        if fault == "cut off" and asked[0] == "GET":
            return found[0], {**found[1], "content-length": str(len(found[2]))}, found[2][:-1]
        return None if fault == "reset after" else found

    def _write_foreign(self, path: str) -> None:
        blob = self.blobs.get(urlsplit(path).path.lstrip("/"))
        if blob and not blob.sealed and blob.blocks < self.max_blocks:
            blob.content += FOREIGN
            blob.blocks += 1


def accepted(status: int, headers: dict[str, str] | None = None, body: bytes = b"") -> Answer:
    return status, {"x-ms-request-id": "1", **(headers or {})}, body


def refused(status: int, code: str) -> Answer:
    return status, {"x-ms-request-id": "1", "x-ms-error-code": code}, b""


@contextmanager
def served(service: Any) -> Iterator[str]:
    """Yields the address at which a service's `answer` is asked."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None: ...  # noqa: A002 - the base's name

        def respond(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            found = service.answer(self.command, self.path, headers, body)
            self.close_connection = True
            if found is None:
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            status, shown, content = found
            self.send_response(status)
            for name, value in {"content-length": str(len(content)), **shown}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_PUT = do_HEAD = do_CONNECT = respond  # noqa: N815 - the base's names

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()
