"""The built page with an API of canned answers: states that a real stack is hard to bring into, at will.

It speaks only what the page reads (accounts, jobs, a job's parts, ETags, next links) and is no oracle for the real API.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

DIST = Path(__file__).resolve().parents[2] / "web" / "dist"
POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'"
KINDS = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}


@dataclass(slots=True)
class Canned:
    """What the API answers: `accounts`, `jobs` by account id; `failure` (status, sentence) for every jobs list.

    Of one job: `parts` by name (history, failures, timeline), its cached `tasks`, its `live` tasks by id; `broken` has
    (status, sentence) by part, where "job" is the job itself and "task" a live task. `asked` has paths with queries.
    """

    accounts: list[dict[str, Any]] = field(default_factory=list)
    jobs: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    failure: tuple[int, str] | None = None
    everything_fails: bool = False
    parts: dict[str, dict[str, Any]] = field(default_factory=dict)
    tasks: list[dict[str, Any]] = field(default_factory=list)
    live: dict[str, dict[str, Any]] = field(default_factory=dict)
    broken: dict[str, tuple[int, str]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
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
                canned.asked.append(self.path)
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
            if status == 503:
                self.send_header("Retry-After", "12")
            self.send_header("Content-Length", "0" if status == 304 else str(len(body)))
            self.end_headers()
            if status != 304:
                with suppress(ConnectionError):  # the page gives a read up when it wants something else
                    self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    return Handler


def answer(canned: Canned, path: str, query: dict[str, list[str]]) -> tuple[int, dict[str, Any]]:
    """A status and a body."""
    if canned.everything_fails or (canned.failure and path != "/api/accounts"):
        status, sentence = canned.failure or (500, "")
        return refusal(status, sentence)
    if path == "/api/accounts":
        return 200, {"value": canned.accounts}
    account, *job = [unquote(part) for part in path.split("/")[3:]]
    if len(job) > 1:
        return _part(canned, path, [account, *job[1:]], query)
    start = int(query.get("continuation", ["0"])[0])
    rows = _matching(canned.jobs.get(path.split("/")[3], []), query)
    body: dict[str, Any] = {"value": rows[start : start + canned.page_size]}
    if start + canned.page_size < len(rows):
        body["nextLink"] = f"https://elsewhere.invalid{path}?continuation={start + canned.page_size}"
    return 200, body


def refusal(status: int, sentence: str) -> tuple[int, dict[str, Any]]:
    return status, {"error": {"code": "Canned", "message": sentence, "target": None}}


def _part(canned: Canned, path: str, names: list[str], query: dict[str, list[str]]) -> tuple[int, dict[str, Any]]:
    """Of one job, by [account, job, part, task], as far as they are named."""
    account, job, part, task = [*names, "", ""][:4]
    broken = canned.broken.get("task" if task else part or "job")
    if broken:
        return refusal(*broken)
    if part == "tasks" and not task:
        return 200, _tasks(canned, path, {key: values[0] for key, values in query.items()})
    jobs = {each["id"]: each for each in canned.jobs.get(account, [])}
    found = canned.live.get(task) if task else canned.parts.get(part) if part else jobs.get(job)
    return (200, found) if found else refusal(404, f"There is no {task or part or job} here.")


def _tasks(canned: Canned, path: str, query: dict[str, str]) -> dict[str, Any]:
    """A page; the continuation is a place, and a task's failure group its member `group`, which no answer has."""
    start, size = int(query.get("continuation", "0")), min(canned.page_size, int(query["maxpagesize"]))
    rows = [
        {name: value for name, value in task.items() if name != "group"}
        for task in canned.tasks
        if query.get("state", task["state"]) == task["state"]
        and query.get("result", task["result"]) == task["result"]
        and query.get("failureGroup", task["group"]) == task["group"]
        and task["id"].startswith(query.get("prefix", ""))
    ]
    by, _, way = query.get("orderby", "").partition(" ")
    if by == "startTime":
        rows.sort(key=lambda task: task["startTime"] or "", reverse=way == "desc")
    body: dict[str, Any] = {"value": rows[start : start + size]}
    if start + size < len(rows):
        body["nextLink"] = f"https://elsewhere.invalid{path}?{urlencode({**query, 'continuation': start + size})}"
    return body


def _matching(jobs: list[dict[str, Any]], query: dict[str, list[str]]) -> list[dict[str, Any]]:
    state, prefix = query.get("state", [""])[0], query.get("prefix", [""])[0].lower()
    return [job for job in jobs if (not state or job["state"] == state) and job["id"].lower().startswith(prefix)]
