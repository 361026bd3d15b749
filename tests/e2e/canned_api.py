"""The built page with an API of canned answers: states that a real stack is hard to bring into, at will.

It speaks only what the page reads (accounts, jobs, ETags, next links) and is no oracle for the real API.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

DIST = Path(__file__).resolve().parents[2] / "web" / "dist"
POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'"
KINDS = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}


@dataclass(slots=True)
class Canned:
    """What the API answers: `accounts`, `jobs` by account id; `failure` (status, sentence) for every jobs list."""

    accounts: list[dict[str, Any]] = field(default_factory=list)
    jobs: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    failure: tuple[int, str] | None = None
    everything_fails: bool = False
    page_size: int = 1000
    statuses: list[int] = field(default_factory=list)
    url: str = ""
    server: ThreadingHTTPServer | None = None

    def stop(self) -> None:
        """The server goes away, as a host that died."""
        if self.server:
            self.server.shutdown()
            self.server.server_close()


@contextmanager
def serving(canned: Canned, port: int = 0) -> Iterator[Canned]:
    """Serves on a free port of the loopback."""
    server = ThreadingHTTPServer(("127.0.0.1", port), _handler(canned))
    canned.server, canned.url = server, f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield canned
    finally:
        canned.stop()


def _handler(canned: Canned) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            address = urlsplit(self.path)
            if address.path.startswith("/api/"):
                status, body = answer(canned, address.path, parse_qs(address.query))
                self._send(status, json.dumps(body).encode(), "application/json")
            else:
                file = DIST / address.path.lstrip("/")
                file = file if file.is_file() else DIST / "index.html"
                self._send(200, file.read_bytes(), KINDS[file.suffix])

        def _send(self, status: int, body: bytes, kind: str) -> None:
            etag = f'"{sha256(body).hexdigest()[:16]}"'
            status = 304 if status == 200 and self.headers["If-None-Match"] == etag else status
            if kind == "application/json":
                canned.statuses.append(status)
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Security-Policy", POLICY)
            self.send_header("ETag", etag)
            self.send_header("Content-Length", "0" if status == 304 else str(len(body)))
            self.end_headers()
            if status != 304:
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    return Handler


def answer(canned: Canned, path: str, query: dict[str, list[str]]) -> tuple[int, dict[str, Any]]:
    """A status and a body."""
    if canned.everything_fails or (canned.failure and path != "/api/accounts"):
        status, sentence = canned.failure or (500, "")
        return status, {"error": {"code": "Canned", "message": sentence, "target": None}}
    if path == "/api/accounts":
        return 200, {"value": canned.accounts}
    start = int(query.get("continuation", ["0"])[0])
    rows = _matching(canned.jobs.get(path.split("/")[3], []), query)
    body: dict[str, Any] = {"value": rows[start : start + canned.page_size]}
    if start + canned.page_size < len(rows):
        body["nextLink"] = f"https://elsewhere.invalid{path}?continuation={start + canned.page_size}"
    return 200, body


def _matching(jobs: list[dict[str, Any]], query: dict[str, list[str]]) -> list[dict[str, Any]]:
    state, prefix = query.get("state", [""])[0], query.get("prefix", [""])[0].lower()
    return [job for job in jobs if (not state or job["state"] == state) and job["id"].lower().startswith(prefix)]
