"""Telemetry of pools in the API's JSON, for the canned server."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.e2e.canned.canned_values import stamp

CPU = {"name": "system.cpu.utilization", "attributes": {}, "unit": "1"}
RECEIVED = {"name": "system.network.io", "attributes": {"network.io.direction": "receive"}, "unit": "By/s"}
LOSS = {"name": "custom.loss", "attributes": {}, "unit": ""}
HEAT = {"name": "hw.temperature", "attributes": {"hw.type": "gpu"}, "unit": "Cel"}
FANS = {"name": "hw.fan.speed", "attributes": {}, "unit": "rpm"}
_MINUTES = 60
_STATISTICS = {"mean": 0.4, "p50": 0.35, "p95": 0.8, "max": 0.9}


def pool_telemetry(nodes: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
    """Returns an hour of two metrics of all nodes but the last, which is silent; no metrics without nodes."""
    reporting = max(len(nodes) - 1, 0)
    silent = [{"id": each["id"], "seen": stamp(900)} for each in nodes[reporting:]]
    return {
        "from": stamp(60 * _MINUTES),
        "to": stamp(0),
        "step": "PT1M",
        "pool": "render-d4s",
        "nodes": {"listed": len(nodes), "reporting": reporting, "silent": len(silent), "silentNodes": silent},
        "value": [_metric(CPU, reporting, 1), _metric(RECEIVED, reporting, 4 << 20)] if nodes else [],
    }


def _metric(metric: dict[str, Any], nodes: int, scale: float) -> dict[str, Any]:
    last = datetime.now(UTC).replace(second=0, microsecond=0)
    times = [(last - timedelta(minutes=minute)).isoformat() for minute in range(_MINUTES - 1, -1, -1)]
    values = {name: scale * one for name, one in _STATISTICS.items()}
    return {**metric, "points": [{"time": time, "nodes": nodes, **values} for time in times]}


def pool_metrics(*others: dict[str, Any]) -> dict[str, Any]:
    """Returns the metrics that a pool has: two usual ones and others."""
    listed = [CPU, *others, RECEIVED]
    return {"value": listed, "count": len(listed)}


def values_of(metric: dict[str, Any], nodes: Sequence[dict[str, Any]], lowest: float, step: float) -> dict[str, Any]:
    """Returns five values of a metric from the lowest on, by node; the last is silent."""
    found = node_values(nodes)
    for each in found["value"][:-1]:
        each["value"] = lowest + 4 * step * each["value"]
    return found | metric


def node_values(nodes: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
    """Returns a CPU usage of 0%, 25%, 50%, 75%, 100% and so on by node; the last is silent."""
    values = [
        {"id": each["id"], "state": each["state"], "value": number % 5 / 4, "time": stamp(60), "seen": stamp(60)}
        for number, each in enumerate(nodes)
    ]
    for silent in values[-1:]:
        silent |= {"value": None, "time": None, "seen": stamp(900)}
    return {**CPU, "at": stamp(0), "value": values}
