"""Accounts and jobs in the API's JSON, for the canned server."""

import csv
import io
from datetime import UTC, datetime, timedelta
from typing import Any


def stamp(seconds_ago: float = 0) -> str:
    return (datetime.now(UTC) - timedelta(seconds=seconds_ago)).isoformat().replace("+00:00", "Z")


def counts(
    *, active: int = 0, preparing: int = 0, running: int = 0, succeeded: int = 0, failed: int = 0
) -> dict[str, int]:
    completed = succeeded + failed
    return {
        "active": active,
        "preparing": preparing,
        "running": running,
        "completed": completed,
        "succeeded": succeeded,
        "failed": failed,
        "total": active + preparing + running + completed,
    }


def job(name: str, *, account: str = "demo", state: str = "active", **changes: Any) -> dict[str, Any]:
    verdict = {
        "asOf": stamp(3),
        "source": "delta",
        "level": "exact",
        "reason": "Get Task Counts agrees.",
        "checkedAt": stamp(3),
    }
    return {
        "id": name,
        "account": account,
        "state": state,
        "previousState": None,
        "creationTime": "2026-11-21T07:00:00Z",
        "stateTransitionTime": "2026-11-21T07:00:00Z",
        "poolId": "render-d4s",
        "priority": 0,
        "displayName": None,
        "deleted": False,
        "terminateReason": None,
        "taskCounts": counts(active=10, running=4, succeeded=6),
        "verdict": verdict,
        "progress": None,
    } | changes


def last_round(**changes: Any) -> dict[str, Any]:
    return {
        "asOf": stamp(3),
        "startedAt": stamp(3),
        "finishedAt": stamp(2.6),
        "outcome": "succeeded",
        "reason": None,
        "jobsPolled": 8,
        "jobsFailed": 0,
        "batchCalls": 12,
    } | changes


def account(name: str = "demo", jobs: list[dict[str, Any]] | None = None, **changes: Any) -> dict[str, Any]:
    states: dict[str, int] = {}
    total = dict.fromkeys(counts(), 0)
    for each in jobs or []:
        states[each["state"]] = states.get(each["state"], 0) + 1
        for key, number in (each["taskCounts"] or {}).items():
            total[key] += number
    return {
        "id": name,
        "name": name,
        "region": None,
        "endpoint": "http://127.0.0.1:7300",
        "enabled": True,
        "pollSeconds": 5,
        "jobs": states,
        "taskCounts": total,
        "pools": None,
        "poolsReason": None,
        "nodeCounts": None,
        "slots": None,
        "cores": None,
        "unknownCores": None,
        "schedules": None,
        "schedulesReason": None,
        "lastRound": last_round(),
    } | changes


def matching_events(events: list[dict[str, Any]], wanted: dict[str, str]) -> list[dict[str, Any]]:
    """Returns the events that pass the API's filters."""
    ids = {"job": "jobId", "task": "taskId", "pool": "poolId", "node": "nodeId", "kind": "kind"}
    return [
        event
        for event in events
        if all(event[name] == wanted.get(asked, event[name]) for asked, name in ids.items())
        and wanted.get("from", "") <= event["time"] < wanted.get("to", "9")
    ]


def matching_nodes(nodes: list[dict[str, Any]], query: dict[str, list[str]]) -> list[dict[str, Any]]:
    """Returns the nodes that pass the API's filters."""
    state, cause, prefix = (query.get(name, [""])[0] for name in ("state", "cause", "prefix"))
    return [
        node
        for node in nodes
        if (not state or node["state"] == state)
        and cause.casefold() in (node["cause"] or "").casefold()
        and node["id"].startswith(prefix)
        and ("flapping" not in query or node["flapping"])
    ]


def matching_jobs(jobs: list[dict[str, Any]], query: dict[str, list[str]]) -> list[dict[str, Any]]:
    state, prefix = query.get("state", [""])[0], query.get("prefix", [""])[0].lower()
    return [job for job in jobs if (not state or job["state"] == state) and job["id"].lower().startswith(prefix)]


def table_of(rows: list[dict[str, Any]]) -> bytes:
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]) if rows else ["id"])
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()
