"""The start-ups of a pool's nodes in the API's JSON, for the canned server."""

from typing import Any

from tests.e2e.canned.canned_job import finding
from tests.e2e.canned.canned_values import stamp

SPANS = {
    "allocation": (42.0, 95.5), "boot": (81.0, 140.0), "setup": (33.0, 64.0), "startTask": (120.0, 210.0),
    "wait": (15.0, 400.0), "preparation": (20.0, 31.0), "overhead": (296.0, 480.0), "total": (311.0, 800.0),
}  # fmt: skip


def phases(nodes: int, factor: float = 1.0, **reasons: str) -> list[dict[str, Any]]:
    """Returns the phases of so many nodes; `reasons` are sentences of phases that no node has."""
    found = []
    for phase, (p50, p95) in SPANS.items():
        detail = reasons.get(phase)
        found.append({
            "phase": phase,
            "nodes": 0 if detail else nodes,
            "p50Seconds": None if detail else p50 * factor,
            "p95Seconds": None if detail else p95 * factor,
            "reason": "reason" if detail else None,
            "unknown": [{"reason": "reason", "nodes": nodes, "detail": detail}] if detail else [],
        })  # fmt: skip
    return found


def group(name: str, nodes: int, factor: float = 1.0) -> dict[str, Any]:
    return {"name": name, "nodes": nodes, "phases": phases(nodes, factor)}


def start_up(nodes: int = 0, **changes: Any) -> dict[str, Any]:
    """Returns the start-ups of so many nodes."""
    return {
        "account": "demo",
        "pool": "render-d4s",
        "asOf": stamp(3),
        "since": "2026-11-15",
        "nodes": nodes,
        "limited": False,
        "phases": phases(nodes) if nodes else [],
        "byDay": [],
        "bySize": [],
        "byImage": [],
        "medianTaskSeconds": None,
        "preparationTasks": None,
        "findings": [],
    } | changes


def slow_start_up() -> dict[str, Any]:
    """Returns the start-ups of 400 nodes of two days, sizes and images, with a finding."""
    slow = finding(
        "startUpExceedsTasks",
        "info",
        title="Nodes take longer to start than tasks run",
        evidence={"poolId": "render-d4s", "startUp": 296.0, "medianRun": 48.0, "phase": "startTask", "nodes": 400},
    )
    return start_up(
        400,
        byDay=[group("2026-11-20", 250, 0.8), group("2026-11-21", 150, 1.3)],
        bySize=[group("standard_d4s_v5", 380), group("standard_e4s_v5", 20, 1.5)],
        byImage=[group("canonical/ubuntu-24_04-lts/server", 390), group("", 10)],
        medianTaskSeconds=48.0,
        preparationTasks={"runs": 300, "p50Seconds": 18.0, "p95Seconds": 29.0},
        findings=[slow],
    )
