"""Pools and their nodes in the API's JSON, for the canned server."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.e2e.canned.canned_values import stamp

VCPUS = 4
SLOTS = 4
MAX_CAUSES = 20


def pool(name: str, *, account: str = "demo", nodes: dict[str, int] | None = None, **changes: Any) -> dict[str, Any]:
    """Returns a pool of dedicated `nodes`, given by state; the running ones use all of their slots."""
    counts = {"running": 6, "idle": 2} if nodes is None else nodes
    total, running = sum(counts.values()), counts.get("running", 0)
    return {
        "id": name,
        "account": account,
        "state": "active",
        "allocationState": "steady",
        "vmSize": "standard_d4s_v5",
        "taskSlotsPerNode": SLOTS,
        "dedicated": {"current": total, "target": total},
        "spot": {"current": 0, "target": 0},
        "cores": {"total": VCPUS * total, "busy": float(VCPUS * running)},
        "unknownCores": 0,
        "slots": {"total": SLOTS * total, "used": SLOTS * running, "free": SLOTS * counts.get("idle", 0)},
        "runningTasks": SLOTS * running,
        "verdict": {
            "asOf": stamp(3),
            "source": "fullRead",
            "level": "exact",
            "reason": "All of its nodes were listed.",
            "checkedAt": stamp(3),
        },
        "displayName": None,
        "creationTime": stamp(7_200),
        "stateTransitionTime": stamp(7_200),
        "allocationStateTransitionTime": stamp(7_000),
        "nodeCounts": counts,
        "vmSizes": {"standard_d4s_v5": total},
        "nodeAgentVersions": {"1.12.3": total},
        "flappingNodes": 0,
        "interruptions": None,
        "resizeErrors": [],
        "autoScale": None,
        "startTask": None,
        "settings": None,
        "settingsLeftOut": [],
        "settingChanges": [],
        "settingChangesLeftOut": 0,
        "retirements": [],
    } | changes


def resize_error(code: str = "AccountCoreQuotaReached", *, current: bool = True, **changes: Any) -> dict[str, Any]:
    return {
        "code": code,
        "message": "The specified account has reached core quota.",
        "time": stamp(600),
        "current": current,
        "firstSeen": stamp(580),
        "lastSeen": stamp(3 if current else 300),
        "attempts": 1,
        "vmSizes": [],
    } | changes


def auto_scale(**changes: Any) -> dict[str, Any]:
    return {
        "formula": "pending = $PendingTasks.GetSample(1);\n$TargetDedicatedNodes = min(20, pending);",
        "evaluationInterval": "PT5M",
        "lastEvaluation": stamp(120),
        "results": "$TargetDedicatedNodes=8;pending=8",
        "error": None,
    } | changes


def start_task(**changes: Any) -> dict[str, Any]:
    return {
        "commandLine": "/bin/sh -c './install.sh --license [redacted]'",
        "environment": {"SCENES": "/mnt/scenes", "LICENSE_KEY": "[redacted]"},
        "waitForSuccess": True,
        "maxTaskRetryCount": 2,
    } | changes


def node(number: int, state: str = "idle", *, age: float = 600, **changes: Any) -> dict[str, Any]:
    running = SLOTS if state == "running" else 0
    return {
        "id": f"tvmps_{number:05x}7c41a9e0d5b6_d",
        "pool": "render-d4s",
        "account": "demo",
        "state": state,
        "stateTransitionTime": stamp(age),
        "secondsInState": age,
        "cause": None,
        "schedulingState": "enabled",
        "isDedicated": True,
        "vmSize": "standard_d4s_v5",
        "nodeAgentVersion": "1.12.3",
        "cores": VCPUS,
        "lastBootTime": stamp(age + 60),
        "allocationTime": stamp(age + 120),
        "runningTasks": running,
        "runningSlots": running,
        "totalTasksRun": 212,
        "totalTasksSucceeded": 209,
        "asOf": stamp(3),
        "level": "exact",
        "lastSeen": stamp(3),
        "startTaskInfo": None,
        "errors": [],
        "recentTasks": [],
        "recentTasksAsOf": stamp(20),
        "flapping": False,
        "flaps": 0,
        "interruptions": interruptions(),
        "history": [{"state": state, "since": stamp(age), "until": None, "current": True}],
        "historySince": stamp(age + 120),
        "historyComplete": True,
    } | changes


def interruptions(**changes: Any) -> dict[str, Any]:
    return {
        "total": 0,
        "lastHour": 0,
        "lastDay": 0,
        "latest": None,
        "since": stamp(86_400),
        "unexplainedRestarts": 0,
    } | changes


def pool_history(*, steps: int = 60, gap: range = range(0)) -> dict[str, Any]:
    """Returns minutes up to now in which a pool grows and sometimes loses spot nodes; `gap` are numbers of steps."""
    end = datetime.now(UTC).replace(second=0, microsecond=0)
    value = [_point(end - timedelta(minutes=steps - 1 - step), step, known=step not in gap) for step in range(steps)]
    return {"from": _text(end - timedelta(minutes=steps)), "to": _text(end), "step": "PT1M", "value": value}


def _point(time: datetime, step: int, *, known: bool) -> dict[str, Any]:
    names = ("nodeCounts", "target", "current", "slots", "cores", "tasks", "preempted", "resizeErrors", "waitedSeconds")
    if not known:
        return {"time": _text(time), "asOf": None, "exact": None} | dict.fromkeys(names)
    running, lost = 10 + step // 2, step % 20 == 10
    counts = {"running": running, "idle": 4, "starttaskfailed": 2} | ({"preempted": 3} if lost else {})
    total = sum(counts.values())
    return {
        "time": _text(time),
        "asOf": _text(time),
        "exact": step % 30 != 7,
        "nodeCounts": counts,
        "target": {"dedicated": 40, "spot": 10},
        "current": {"dedicated": total, "spot": 0},
        "slots": {"total": SLOTS * total, "used": SLOTS * running, "free": SLOTS * 4},
        "cores": {"total": VCPUS * total, "busy": float(VCPUS * running)},
        "tasks": SLOTS * running,
        "preempted": 3 if lost else 0,
        "resizeErrors": 0,
        "waitedSeconds": {} if step % 5 != 3 else {"slotsBusy": 5400.0, "poolEmpty": 90.0},
    }


def _text(time: datetime) -> str:
    return time.isoformat().replace("+00:00", "Z")


def node_states(nodes: list[dict[str, Any]], *, other: int = 0) -> dict[str, Any]:
    """Returns the states of these nodes as the API sums them up."""
    keys = ("id", "state", "stateTransitionTime", "isDedicated", "runningTasks", "flapping")
    causes = Counter(each["cause"] for each in nodes if each["cause"]).most_common()
    sizes = sorted({each["vmSize"] for each in nodes})
    places = {cause: min(place, MAX_CAUSES) for place, (cause, _) in enumerate(causes)}
    return {
        "pool": "render-d4s",
        "account": "demo",
        "nodes": [
            {key: each[key] for key in keys}
            | {"cause": places.get(each["cause"]), "vmSize": sizes.index(each["vmSize"])}
            for each in nodes
        ],
        "otherNodes": other,
        "causes": [{"cause": cause, "nodes": number} for cause, number in causes[:MAX_CAUSES]],
        "otherCauses": sum(number for _, number in causes[MAX_CAUSES:]),
        "vmSizes": sizes,
    }


def sums(pools: list[dict[str, Any]]) -> dict[str, Any]:
    """Returns the totals of an account's pools."""
    read = [each for each in pools if each["nodeCounts"] is not None]
    nodes: Counter[str] = Counter()
    for each in read:
        nodes.update(each["nodeCounts"])
    known = [each for each in read if each["cores"]]
    return {
        "pools": {
            "total": len(pools),
            "byState": dict(Counter(each["state"] for each in pools)),
            "notRead": len(pools) - len(read),
            "asOf": stamp(3),
        },
        "nodeCounts": dict(nodes),
        "slots": {key: sum(each["slots"][key] for each in read) for key in ("total", "used", "free")},
        "cores": {key: sum(each["cores"][key] for each in known) for key in ("total", "busy")},
        "unknownCores": sum(sum(each["nodeCounts"].values()) for each in read if not each["cores"]),
    }
