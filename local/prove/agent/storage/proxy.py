"""The proxy on loopback between agents and storage, which injects faults."""

import contextlib
import http.client
import re
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from local.prove.agent.storage.faults import Fault, FaultPlan
from local.prove.agent.storage.limited_storage import Storage, StorageAnswer, StorageRequest, refusal

_NODE = re.compile(r"/nodes/([^/]+)/")
_DELAY = (0.2, 3.0)  # seconds
_LATE = (0.5, 8.0)
_DOWN_SHARE = 0.5  # of requests that are reset while storage is down; the others get 503
_REFUSALS = {
    Fault.BUSY: refusal(503, "ServerBusy"),
    Fault.ASKED_TO_WAIT: refusal(503, "ServerBusy", retry_after="1"),
    Fault.CONFLICT: refusal(409),
    Fault.MOVED: refusal(412, "AppendPositionConditionNotMet"),
    Fault.FORBIDDEN: refusal(403, "AuthorizationFailure"),
    Fault.NOT_STORAGE: StorageAnswer(200, {"content-type": "text/html"}, b"<p>Sign in</p>", "14"),
}
_AFTER = {Fault.FAILED_AFTER: refusal(500, "OperationTimedOut"), Fault.BUSY_AFTER: refusal(503, "ServerBusy")}
_LENGTH = b"content-length: "
_ATTEMPTED = (OSError, http.client.HTTPException)


@dataclass(frozen=True, slots=True)
class WireAnswer:
    """The bytes of an answer, and whether the connection is reset behind them instead of closed."""

    content: bytes
    is_reset: bool = False


class FaultyProxy:
    """Answers requests by storage's answers or by faults.

    `look` is called with the node before anything is stored for it, so that the unit that is sent still lies in its
    spool. `unsealed` has the paths whose sealing failed by a fault.
    """

    def __init__(self, storage: Storage, plan: FaultPlan, look: Callable[[str], None]) -> None:
        self.unsealed: set[str] = set()
        self._storage, self._plan, self._look = storage, plan, look
        self._late: list[threading.Timer] = []

    def answer(self, request: StorageRequest) -> WireAnswer:
        """Returns the answer to a request."""
        node = _node_of(request.path)
        fault = self._plan.next(node, is_look=request.method == "HEAD")
        if request.action == "seal" and fault not in (None, Fault.DELAYED, Fault.TWICE):
            self.unsealed.add(request.path)
        try:
            answer = self._answer(request, node, fault)
        except _ATTEMPTED:
            answer = None
        if answer is None:
            return WireAnswer(b"", is_reset=True)
        content = _bytes_of(answer)
        if fault is Fault.CUT_OFF:
            return WireAnswer(content[: int(self._plan.uniform(1, len(content)))], is_reset=True)
        if fault is Fault.CUT_IN_LENGTH:
            return WireAnswer(content[: content.index(_LENGTH) + len(_LENGTH) + 1])
        return WireAnswer(content)

    def settle(self) -> None:
        """Waits for the requests that are done late."""
        for timer in self._late:
            timer.join()

    def _answer(self, request: StorageRequest, node: str, fault: Fault | None) -> StorageAnswer | None:
        if fault is Fault.DOWN:
            return None if self._plan.uniform(0, 1) < _DOWN_SHARE else _REFUSALS[Fault.BUSY]
        if fault in _REFUSALS:
            return _REFUSALS[fault]
        self._look(node)
        if fault is Fault.RESET_BEFORE:
            return None
        if fault is Fault.LATE:
            self._do_later(request)
            return None
        answer = self._storage.perform(request)
        if fault is Fault.TWICE:
            answer = self._storage.perform(request)
        if fault is Fault.DELAYED:
            time.sleep(self._plan.uniform(*_DELAY))
        return None if fault is Fault.RESET_AFTER else _AFTER.get(fault, answer) if fault else answer

    def _do_later(self, request: StorageRequest) -> None:
        def perform() -> None:
            with contextlib.suppress(*_ATTEMPTED):
                self._storage.perform(request)

        timer = threading.Timer(self._plan.uniform(*_LATE), perform)
        timer.daemon = True
        self._late.append(timer)
        timer.start()


def _node_of(path: str) -> str:
    found = _NODE.search(path)
    return found[1] if found else ""


@contextmanager
def served(proxy: FaultyProxy) -> Iterator[str]:
    """Yields the address at which the proxy listens, `http://127.0.0.1:PORT`."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 64

        def shutdown_request(self, request: Any) -> None:
            """Closes a connection by a reset."""
            request.close() if _is_reset(request) else super().shutdown_request(request)

        def handle_error(self, request: Any, client_address: Any) -> None:
            """Does nothing: agents are killed amid requests."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None: ...  # noqa: A002 - the base's name

        def respond(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            answer = proxy.answer(StorageRequest(self.command, self.path, headers, body))
            self.wfile.write(answer.content)
            if answer.is_reset:
                self.wfile.flush()
                _reset(self.connection)

        do_GET = do_PUT = do_HEAD = respond  # noqa: N815 - the base's names

    with Server(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def _bytes_of(answer: StorageAnswer) -> bytes:
    headers = {**answer.headers, "content-length": answer.length, "connection": "close"}
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    status = f"HTTP/1.1 {answer.status} {http.client.responses.get(answer.status, 'Other')}\r\n"
    return f"{status}{head}\r\n".encode() + answer.body


def _reset(connection: socket.socket) -> None:
    """Has the end of a connection be a reset."""
    with contextlib.suppress(OSError):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def _is_reset(connection: socket.socket) -> bool:
    with contextlib.suppress(OSError):
        size = struct.calcsize("ii")
        return bool(struct.unpack("ii", connection.getsockopt(socket.SOL_SOCKET, socket.SO_LINGER, size))[0])
    return False
