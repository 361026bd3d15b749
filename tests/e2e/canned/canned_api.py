"""The built page with an API of canned answers, for states that are hard to produce on a real stack.

It serves only the routes that the page reads (accounts, jobs and pools with their parts, ETags, next links), and says
nothing about the real API.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

from tests.e2e.canned.canned_agent import agent_offer, counts, selected
from tests.e2e.canned.canned_efficiency import account_efficiency
from tests.e2e.canned.canned_files import files_of_node, folder_answer, send_part
from tests.e2e.canned.canned_pool_telemetry import node_values, pool_metrics, pool_telemetry
from tests.e2e.canned.canned_queue import queue
from tests.e2e.canned.canned_startup import start_up
from tests.e2e.canned.canned_values import matching_events, matching_jobs, matching_nodes, table_of

DIST = Path(__file__).resolve().parents[3] / "web" / "dist"
POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'"
KINDS = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}


@dataclass(slots=True)
class Canned:
    """The API's answers: `accounts`, `jobs` by account id; `failure` (status, sentence) for every jobs list.

    For one job: `parts` by name (history, failures, timeline), its cached `tasks`, its `live` tasks by id; `broken` has
    (status, sentence) by part, where "job" is the job's own answer, "task" a live task and "files" all files. `asked`
    lists the requested paths with their queries. `files` are the same for every task, `node_files` for every node,
    `kept` are kept outputs by task, `kept_starts` those of every node's start task by the start of the run. With a
    `kept_file` only the end of each file is there: when it was kept, and its first byte.

    For pools: `pools` by account id; every pool has the same `nodes`, `node_states`, `pool_history`,
    `pool_telemetry`, `node_values` (of any metric), `queue`, `start_up` and `autoscale_runs`; broken parts are
    "queue", "startup", "pool", "nodes", "nodestates", "history", "pooltelemetry", "autoscaleruns", "node" and
    "telemetry" (of any node). `schedules` are full answers by account id; broken parts are "schedules" and
    "schedule". `events` are the same for every account, the latest first, and `ingestion` is the state of their
    ingestion; broken parts have the same names. `costs` are answers by grouping, "summary", "a pool" for each pool,
    "runs" for each schedule; broken parts are "cost", "summary" and "waste". `quotas` are the same for every account;
    the broken part has the same name. The next `cut` tables break off in the middle.
    """

    accounts: list[dict[str, Any]] = field(default_factory=list)
    jobs: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    failure: tuple[int, str] | None = None
    everything_fails: bool = False
    parts: dict[str, dict[str, Any]] = field(default_factory=dict)
    tasks: list[dict[str, Any]] = field(default_factory=list)
    live: dict[str, dict[str, Any]] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    node_files: dict[str, bytes] = field(default_factory=files_of_node)
    kept: dict[str, dict[str, Any]] = field(default_factory=dict)
    kept_file: tuple[str, int] | None = None
    kept_starts: dict[str, dict[str, Any]] = field(default_factory=dict)
    pools: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    nodes: list[dict[str, Any]] = field(default_factory=list)
    node_states: dict[str, Any] | None = None
    pool_history: dict[str, Any] | None = None
    pool_telemetry: dict[str, Any] = field(default_factory=pool_telemetry)
    account_telemetry: list[dict[str, Any]] = field(default_factory=list)
    node_values: dict[str, Any] = field(default_factory=node_values)
    pool_metrics: dict[str, Any] = field(default_factory=pool_metrics)
    telemetry: Callable[[dict[str, str]], dict[str, Any]] | None = None
    schedules: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    autoscale_runs: list[dict[str, Any]] = field(default_factory=list)
    queue: dict[str, Any] = field(default_factory=queue)
    start_up: dict[str, Any] = field(default_factory=start_up)
    agent_offer: dict[str, Any] = field(default_factory=agent_offer)
    agent_nodes: list[dict[str, Any]] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)
    conditions: list[dict[str, Any]] = field(default_factory=list)
    unevaluated: list[dict[str, str]] = field(default_factory=list)
    retirements: list[dict[str, Any]] = field(default_factory=list)
    unknown_images: list[dict[str, Any]] = field(default_factory=list)
    costs: dict[str, dict[str, Any]] = field(default_factory=dict)
    efficiency: dict[str, Any] = field(default_factory=account_efficiency)
    quotas: dict[str, Any] = field(default_factory=dict)
    ingestion: dict[str, Any] | None = None
    broken: dict[str, tuple[int, str]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    page_size: int = 1000
    cut: int = 0
    statuses: list[int] = field(default_factory=list)
    url: str = ""
    server: ThreadingHTTPServer | None = None

    def torn(self, text: bytes) -> bytes:
        """Returns the part of a table that is sent."""
        self.cut -= 1
        return text if self.cut < 0 else text[: len(text) // 2]

    def stop(self) -> None:
        """Stops the server, as if the host died."""
        if self.server:
            self.server.shutdown()
            self.server.server_close()


class _Server(ThreadingHTTPServer):
    request_queue_size = 64  # a page opens more at once than the usual 5; others would be tried again after seconds


@contextmanager
def serving(canned: Canned, port: int = 0) -> Iterator[Canned]:
    """Serves on a free port of the loopback interface."""
    server = _Server(("127.0.0.1", port), _handler(canned))
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
            if not address.path.startswith("/api/"):
                status, file = _page(address.path)
                self._send(status, file.read_bytes(), KINDS[file.suffix])
                return
            canned.asked.append(self.path)
            query = parse_qs(address.query)
            status, body = answer(canned, address.path, query)
            if isinstance(body, bytes):
                send_part(self, body, query, canned.kept_file)
            elif status == 200 and "csv" in query.get("format", ""):
                _send_table(self, canned, body)
            else:
                self._send(status, json.dumps(body).encode(), "application/json")

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
                with suppress(ConnectionError):  # the page cancels a request when it needs other data
                    self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    return Handler


def _send_table(handler: BaseHTTPRequestHandler, canned: Canned, body: dict[str, Any]) -> None:
    text = table_of(body["value"])
    handler.send_response(200)
    handler.send_header("Content-Type", "text/csv; charset=utf-8")
    handler.send_header("Content-Length", str(len(text)))
    handler.send_header("Link", f'<{body["nextLink"]}>; rel="next"' if "nextLink" in body else "")
    handler.end_headers()
    with suppress(ConnectionError):
        sent = canned.torn(text)
        handler.wfile.write(sent)
        time.sleep(0.3 if sent != text else 0)  # the sent part arrives before the connection ends


def _page(path: str) -> tuple[int, Path]:
    """Returns a file of the dashboard; for other paths a 404 with its page, as the app does."""
    file = DIST / path.lstrip("/")
    if file.is_file():
        return 200, file
    return 200 if path == "/" else 404, DIST / "index.html"


def answer(canned: Canned, path: str, query: dict[str, list[str]]) -> tuple[int, Any]:
    """Returns a status and a body, of a file its content."""
    if canned.everything_fails or (canned.failure and path != "/api/accounts"):
        status, sentence = canned.failure or (500, "")
        return refusal(status, sentence)
    if path in _OF_ALL_ACCOUNTS:
        return 200, _OF_ALL_ACCOUNTS[path](canned, query.get("account", []))
    account, *job = [unquote(part) for part in path.split("/")[3:]]
    others = {
        "pools": pools_answer,
        "jobschedules": _schedules,
        "cost": _costs,
        "efficiency": lambda canned, *_: (200, canned.efficiency),
        "quotas": _quotas,
        "telemetry": _account_telemetry,
        **_EVENT_PARTS,
    }
    if job[0] in others:
        return others[job[0]](canned, path, [account, *job[1:]], query)
    if len(job) > 1:
        return _part(canned, path, [account, *job[1:]], query)
    start = int(query.get("continuation", ["0"])[0])
    rows = matching_jobs(canned.jobs.get(path.split("/")[3], []), query)
    body: dict[str, Any] = {"value": rows[start : start + canned.page_size]}
    if start + canned.page_size < len(rows):
        body["nextLink"] = f"https://elsewhere.invalid{path}?continuation={start + canned.page_size}"
    return 200, body


def _conditions(canned: Canned, wanted: list[str]) -> dict[str, Any]:
    conditions = [one for one in canned.conditions if not wanted or one["account"] in wanted]
    return {"value": conditions, "leftOut": 0, "unevaluated": canned.unevaluated}


def _retirements(canned: Canned, wanted: list[str]) -> dict[str, Any]:
    entries = [_of_account(entry, *wanted) for entry in canned.retirements]
    return {"value": entries, "unknownImages": canned.unknown_images}


_OF_ALL_ACCOUNTS: Mapping[str, Callable[[Canned, list[str]], dict[str, Any]]] = {
    "/api/accounts": lambda canned, _: {"value": canned.accounts},
    "/api/conditions": _conditions,
    "/api/retirements": _retirements,
}


def _of_account(entry: dict[str, Any], account: str | None = None) -> dict[str, Any]:
    """Returns a retirement with the pools of one account, for which all pools of others are known."""
    if account is None:
        return entry
    pools = [pool for pool in entry["pools"] if pool["account"] == account]
    unknown = sum(name == account for name in entry["unknownIn"])
    return entry | {"pools": pools, "unknownPools": unknown}


def pools_answer(canned: Canned, path: str, names: list[str], query: dict[str, list[str]]) -> tuple[int, Any]:
    """Answers a request for pools by [account, pool, part, node, part of the node]; trailing names may be missing."""
    account, pool, part, node, measured = [*names, "", "", "", ""][:5]
    if measured:
        return _part_of_node(canned, names[4:], query)
    if part in {"telemetry", "agent"}:
        return (_agent if part == "agent" else _pool_telemetry)(canned, path, query, of=node)
    if broken := canned.broken.get("node" if node else part or ("pool" if pool else "pools")):
        return refusal(*broken)
    if part == "nodes" and not node:
        return 200, _paged(canned, path, matching_nodes(canned.nodes, query), query)
    if not pool:
        return 200, _paged(canned, path, canned.pools.get(account, []), query)
    pools = {each["id"]: each for each in canned.pools.get(account, [])}
    nodes = {each["id"]: each for each in canned.nodes}
    parts = {
        "nodestates": canned.node_states,
        "history": canned.pool_history,
        "autoscaleruns": {"value": canned.autoscale_runs},
        "cost": canned.costs.get("a pool"),
        "queue": canned.queue,
        "startup": canned.start_up,
        "whatif": canned.parts.get("whatif"),
    }
    found = nodes.get(node) if node else parts.get(part) if part else pools.get(pool)
    return (200, found) if found else refusal(404, f"There is no {node or part or pool} here.")


def _part_of_node(canned: Canned, names: list[str], query: dict[str, list[str]]) -> tuple[int, Any]:
    """Answers a request for any node's files, kept output of the run that began at `start`, or telemetry."""
    if names[0] == "files":
        return _files(canned, canned.node_files, "/".join(names[1:]), query)
    if names[0] == "output":
        kept = canned.kept_starts.get(query.get("start", [""])[0])
        return (200, kept) if kept else refusal(404, "There is no such node.")
    return _telemetry(canned, query)


def _schedules(canned: Canned, path: str, names: list[str], query: dict[str, list[str]]) -> tuple[int, dict[str, Any]]:
    """Answers a request for job schedules by [account, schedule, part]; trailing names may be missing."""
    account, name, part = [*names, "", ""][:3]
    if part:
        return (200, canned.costs["runs"]) if "runs" in canned.costs else refusal(404, f"There is no {part} here.")
    if broken := canned.broken.get("schedule" if name else "schedules"):
        return refusal(*broken)
    rows = canned.schedules.get(account, [])
    if not name:
        return 200, _paged(canned, path, rows, query)
    found = next((row for row in rows if row["id"] == name), None)
    return (200, found) if found else refusal(404, f"There is no schedule '{name}' here.")


def _pool_telemetry(canned: Canned, path: str, query: dict[str, list[str]], *, of: str) -> tuple[int, dict[str, Any]]:
    if broken := canned.broken.get("poolmetrics" if of == "metrics" else "pooltelemetry"):
        return refusal(*broken)
    return 200, {"nodes": canned.node_values, "metrics": canned.pool_metrics}.get(of, canned.pool_telemetry)


def _account_telemetry(
    canned: Canned, path: str, _: list[str], query: dict[str, list[str]]
) -> tuple[int, dict[str, Any]]:
    """Answers a request for the telemetry of all pools, which is the same for each account."""
    return 200, {"value": canned.account_telemetry}


def _agent(canned: Canned, path: str, query: dict[str, list[str]], *, of: str) -> tuple[int, dict[str, Any]]:
    if broken := canned.broken.get("agentnodes" if of else "agent"):
        return refusal(*broken)
    page = _paged(canned, path, selected(canned.agent_nodes, query), query) | counts(canned.agent_nodes)
    return 200, page if of else canned.agent_offer


def _telemetry(canned: Canned, query: dict[str, list[str]]) -> tuple[int, dict[str, Any]]:
    """Returns the telemetry of any node or task for a query."""
    if not canned.telemetry or "telemetry" in canned.broken:
        return refusal(*canned.broken.get("telemetry", (404, "There is no telemetry here.")))
    return 200, canned.telemetry({name: values[0] for name, values in query.items()})


def _events(canned: Canned, path: str, _: list[str], query: dict[str, list[str]]) -> tuple[int, dict[str, Any]]:
    """Answers a request for events or their ingestion; the continuation is the id of the last event before the page."""
    part = path.rpartition("/")[2]
    if broken := canned.broken.get(part):
        return refusal(*broken)
    if part == "ingestion":
        return (200, canned.ingestion) if canned.ingestion else refusal(404, "There is no such account here.")
    wanted = {name: values[0] for name, values in query.items()}
    rows = matching_events(canned.events, wanted)
    if "continuation" in wanted:
        rows = rows[[event["id"] for event in rows].index(wanted["continuation"]) + 1 :]
    size = min(canned.page_size, int(wanted["maxpagesize"]))
    body: dict[str, Any] = {"value": rows[:size]}
    if len(rows) > size:
        following = urlencode({**wanted, "continuation": rows[size - 1]["id"]})
        body["nextLink"] = f"https://elsewhere.invalid{path}?{following}"
    return 200, body


_EVENT_PARTS = {"events": _events, "ingestion": _events}


def _costs(canned: Canned, path: str, names: list[str], query: dict[str, list[str]]) -> tuple[int, dict[str, Any]]:
    """Answers a request for the costs of the account that they name."""
    if broken := canned.broken.get("cost" if len(names) == 1 else names[1]):
        return refusal(*broken)
    found = canned.costs.get(query["groupBy"][0] if len(names) == 1 else names[1])
    return (200, found | {"account": names[0]}) if found else refusal(404, f"There is no account '{names[0]}' here.")


def _quotas(canned: Canned, path: str, names: list[str], _: dict[str, list[str]]) -> tuple[int, dict[str, Any]]:
    """Answers a request for the quotas of the account that they name."""
    if broken := canned.broken.get("quotas"):
        return refusal(*broken)
    nothing: dict[str, Any] = {"asOf": None, "problem": None, "unknownNodes": 0, "value": [], "findings": []}
    return 200, nothing | canned.quotas | {"account": names[0]}


def _paged(canned: Canned, path: str, rows: list[dict[str, Any]], query: dict[str, list[str]]) -> dict[str, Any]:
    """Returns a page; the continuation is an index."""
    start, size = (int(query.get(name, [usual])[0]) for name, usual in (("continuation", "0"), ("maxpagesize", "100")))
    body: dict[str, Any] = {"value": rows[start : start + min(size, canned.page_size)]}
    if start + len(body["value"]) < len(rows):
        following = {**query, "continuation": [str(start + len(body["value"]))]}
        body["nextLink"] = f"https://elsewhere.invalid{path}?{urlencode(following, doseq=True)}"
    return body


def refusal(status: int, sentence: str) -> tuple[int, dict[str, Any]]:
    return status, {"error": {"code": "Canned", "message": sentence, "target": None}}


def _part(canned: Canned, path: str, names: list[str], query: dict[str, list[str]]) -> tuple[int, Any]:
    """Answers a request for one job by [account, job, part, task]; trailing names may be missing."""
    account, job, part, task, measured = [*names, "", "", ""][:5]
    if measured:
        return _part_of_task(canned, task, names[4:], query)
    broken = canned.broken.get("task" if task else part or "job")
    if broken:
        return refusal(*broken)
    if part == "tasks" and not task:
        return 200, _tasks(canned, path, {key: values[0] for key, values in query.items()})
    jobs = {each["id"]: each for each in canned.jobs.get(account, [])}
    grouped = canned.parts.get(f"{part} by {query['groupBy'][0]}") if "groupBy" in query else None
    found = canned.live.get(task) if task else grouped or canned.parts.get(part) if part else jobs.get(job)
    return (200, found) if found else refusal(404, f"There is no {task or part or job} here.")


def _part_of_task(canned: Canned, task: str, names: list[str], query: dict[str, list[str]]) -> tuple[int, Any]:
    """Answers a request for a task's files, kept output or telemetry, or for a script of a failure group."""
    if names[0] == "files":
        return _files(canned, canned.files, "/".join(names[1:]), query)
    if names[0] == "rerun":
        broken = canned.broken.get("rerun")
        return refusal(*broken) if broken else (200, f"script {urlencode(query, doseq=True)}\n".encode())
    if names[0] == "output":
        kept = canned.kept.get(task)
        return (200, kept) if kept else refusal(404, f"There is no task '{task}'.")
    return _telemetry(canned, query)


def _files(canned: Canned, files: dict[str, bytes], path: str, query: dict[str, list[str]]) -> tuple[int, Any]:
    """Returns a folder or, with a path, the content of a file."""
    if broken := canned.broken.get("files"):
        return refusal(*broken)
    if not path:
        return 200, folder_answer(files, query.get("folder", [""])[0])
    found = files.get(path)
    return (200, found) if found is not None else refusal(404, f"There is no '{path}' among the files.")


def _tasks(canned: Canned, path: str, query: dict[str, str]) -> dict[str, Any]:
    """Returns a page; the continuation is an index. A task's field `group` is its failure group; answers omit it."""
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
