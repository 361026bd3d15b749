"""The parts of one job in the API's JSON, for the canned server: history, failures, tasks, a live task, a timeline."""

from datetime import UTC, datetime, timedelta
from typing import Any

from tests.e2e.canned.canned_values import counts, stamp

POOL = "render-d4s"
NODES = tuple(f"tvmps_{number:02x}7c41a9e0d5b6_d" for number in range(6))


def insight(**changes: Any) -> dict[str, Any]:
    spread = {"tasks": 5671, "mean": 48.2, "p50": 31.5, "p90": 118.0, "p99": 412.0, "relativeError": 0.0625}
    return {
        "throughput": {"perMinute": {"last5Minutes": 41.2, "last15Minutes": 38.6, "lastHour": 40.1}, "asOf": stamp(3)},
        "estimate": {
            "completionTime": stamp(-22_260),
            "basis": "throughput of the last 15 minutes",
            "remaining": 14_329,
            "reason": None,
        },
        "queueWait": {**spread, "p50": 940.0, "p90": 3_720.0, "p99": 8_050.0, "mean": 1_320.0},
        "runTime": spread,
        "retries": 37,
        "retriedTasks": 21,
        "requeues": 4,
        "requeuedTasks": 4,
        "slots": {"running": 118, "preparing": 6, "active": 14_211},
    } | changes


def history(*, steps: int = 120, minutes: int = 2, gap: range = range(0), doubtful: range = range(0)) -> dict[str, Any]:
    """Returns steps up to now in which tasks complete; `gap` and `doubtful` are numbers of steps."""
    now = datetime.now(UTC).replace(second=0, microsecond=0)
    end = now - timedelta(minutes=now.minute % minutes)
    value = []
    for step in range(steps):
        time = end - timedelta(minutes=minutes * (steps - 1 - step))
        known = step not in gap
        point = {"time": _text(time), "asOf": _text(time) if known else None}
        exact = step not in doubtful if known else None
        value.append({**point, "exact": exact, "taskCounts": _at(step / steps) if known else None})
    begin = end - timedelta(minutes=minutes * steps)
    return {"from": _text(begin), "to": _text(end), "step": f"PT{minutes}M", "value": value}


def _at(part: float) -> dict[str, int]:
    total, done = int(20_000 * min(1, 0.4 + part)), int(12_000 * part**1.4)
    failed, running, preparing = int(done * 0.08), int(900 * min(1, 5 * part)), int(400 * part * (1 - part))
    active = total - done - running - preparing
    return counts(active=active, preparing=preparing, running=running, succeeded=done - failed, failed=failed)


def failure_group(name: str, number: int, **changes: Any) -> dict[str, Any]:
    return {
        "id": name,
        "category": "userError",
        "code": "FailureExitCode",
        "exitCode": 137,
        "count": number,
        "firstTime": stamp(9_000),
        "lastTime": stamp(240),
        "nodes": [{"poolId": POOL, "nodeId": node, "count": 9 - at} for at, node in enumerate(NODES[:5])],
        "otherNodes": 2,
        "tasks": [f"frame-{at:05}" for at in (12, 408, 977)],
        "advice": "The process was killed, most often because memory ran out: use nodes with more, or fewer slots.",
        "kept": 0,
        "outputs": [],
    } | changes


def output_group(name: str, title: str, number: int, *lines: str, **changes: Any) -> dict[str, Any]:
    """Returns kept outputs that say the same; the first example is `frame-00`, the newest `frame-01`."""
    return {
        "id": name,
        "title": title,
        "count": number,
        "lines": list(lines or (title,)),
        "advice": None,
        "failureCategory": None,
        "nodes": [{"poolId": POOL, "nodeId": node, "count": 1} for node in NODES[: min(number, 2)]],
        "otherNodes": max(0, number - 2),
        "tasks": [f"frame-{at:02}" for at in range(number)],
        "first": {"taskId": "frame-00", "endTime": stamp(9_000)},
        "newest": {"taskId": "frame-01" if number > 1 else "frame-00", "endTime": stamp(240 if number > 1 else 9_000)},
    } | changes


def finding(code: str = "slotsBusy", severity: str = "limiting", **changes: Any) -> dict[str, Any]:
    """Returns a cause with evidence of every kind."""
    return {
        "code": code,
        "severity": severity,
        "title": "All slots of the pool 'render-d4s' are busy",
        "detail": "16 of 16 slots are in use, 12 of them by other jobs. No task of another job comes before its own.",
        "evidence": {
            "poolId": POOL,
            "usedSlots": 1600,
            "estimatedWait": 200.0,
            "evaluatedAt": stamp(600),
            "autoScale": True,
            "results": None,
            "jobs": ["urgent (100): 5", "nightly (10): 2"],
            "examples": [],
        },
        "advice": "Wait, make the pool larger, or use another pool.",
        "since": stamp(1_900),
    } | changes


def explanation(*findings: dict[str, Any], running: bool = True, **changes: Any) -> dict[str, Any]:
    return {
        "account": "demo",
        "job": "render",
        "asOf": stamp(4),
        "running": running,
        "summary": "It runs 4 tasks, and 10 wait: all slots of the pool 'render-d4s' are busy.",
        "findings": list(findings),
        "unknown": [],
    } | changes


def efficiency(**changes: Any) -> dict[str, Any]:
    """Returns 24 measured runs that keep one of four cores busy and use little memory."""
    memory = {"name": "memory", "unit": "B", "count": 24, "mean": 2.1e9, "p50": 2e9, "p95": 3.3e9, "offered": 16 << 30}
    memory |= {"lowest": {"value": 1e9, "task": "frame-03"}, "highest": {"value": 3.5e9, "task": "frame-00"}}
    duration = {"name": "duration", "unit": "s", "count": 20, "mean": 41.0, "p50": 40.0, "p95": 90.0, "offered": None}
    duration |= {"lowest": {"value": 4.2, "task": "frame-05"}, "highest": {"value": 95.0, "task": "frame-07"}}
    group: dict[str, Any] = {"prefix": "frame-", "result": None, "exitCode": None, "vmSize": "standard_d4s_v5"}
    group |= {"runs": 24, "enough": True, "figures": [duration, memory]}
    advised = finding(
        "oneBusyCore",
        "info",
        title="Tasks keep at most one of 4 cores busy",
        detail="95 % of 24 runs kept at most 1.0 cores busy on average, of 4 that their slots offer.",
        advice="Set taskSlotsPerNode of a new pool to 3: its nodes have room for 3 such tasks instead of 1.",
        evidence={"cores": 0.98, "offeredCores": 4.0, "sufficientSlots": 3, "vmSize": "standard_d4s_v5"},
        since=None,
        amount=560.25,
    )
    return {
        "account": "demo",
        "job": "render",
        "asOf": stamp(60),
        "runs": 24,
        "completedTasks": 30,
        "enoughRuns": 20,
        "enoughOfAll": 5,
        "slotsPerNode": 1,
        "requiredSlots": 1,
        "currency": "USD",
        "cost": 840.5,
        "usedShares": {"cpu": 0.24, "memory": 0.13, "gpu": None},
        "taskLimit": {"tasks": ["frame-07", "frame-05"], "maxWallClockSeconds": None, "reason": None},
        "groups": [group],
        "findings": [advised],
        "reason": None,
    } | changes


def what_if(**changes: Any) -> dict[str, Any]:
    """Returns replays of 240 tasks: as the job was, and with two slots a node in half the time."""
    was = {"nodes": 4, "slotsPerNode": 1, "vmSize": "standard_d4s_v5", "spot": False, "replays": 50, "end": stamp(60)}
    was |= {"seconds": _spread(3600), "nodeSeconds": _spread(14_400), "cost": _spread(4), "noPrice": None}
    was |= {"uses": [{"use": "held", "nodeSeconds": 14_000, "cost": 3.9}], "waste": 0.1}
    asked = was | {"slotsPerNode": 2, "seconds": _spread(1800), "nodeSeconds": _spread(7200), "cost": _spread(2)}
    return {
        "account": "demo",
        "job": "render",
        "tasks": 240,
        "replayedTasks": 240,
        "measuredRuns": 24,
        "begin": stamp(3700),
        "end": stamp(60),
        "seconds": 3640.0,
        "currency": "USD",
        "asItWas": was,
        "asked": asked,
        "assumptions": ["A run takes as long as it did: 2 on a node keep 2 of its 4 vCPUs busy."],
        "reason": None,
    } | changes


def _spread(expected: float) -> dict[str, float]:
    return {"expected": expected, "low": expected * 0.9, "high": expected * 1.1}


def failures(*groups: dict[str, Any], ungrouped: int = 0) -> dict[str, Any]:
    failed = sum(group["count"] for group in groups) + ungrouped
    return {"asOf": stamp(4), "failed": failed, "groups": list(groups), "ungrouped": ungrouped}


def task(name: str, *, group: str = "", began: float = 600, ran: float = 42, **changes: Any) -> dict[str, Any]:
    """Returns a task that succeeded, or in a failure `group` one that failed with exit code 137."""
    return {
        "id": name,
        "group": group,
        "state": "completed",
        "result": "failure" if group else "success",
        "stateTransitionTime": stamp(began - ran),
        "creationTime": stamp(began + 900),
        "startTime": stamp(began),
        "endTime": stamp(began - ran),
        "exitCode": 137 if group else 0,
        "failureCategory": "userError" if group else None,
        "failureCode": "FailureExitCode" if group else None,
        "retryCount": 1 if group else 0,
        "requeueCount": 0,
        "requiredSlots": 1,
        "poolId": POOL,
        "nodeId": NODES[int(began) % len(NODES)],
    } | changes


def live_task(name: str, **changes: Any) -> dict[str, Any]:
    return {
        "id": name,
        "displayName": "Frame 12 of the opening",
        "exitCodeText": "exit code 137: SIGKILL, killed, often for lack of memory",
        "state": "completed",
        "stateTransitionTime": stamp(558),
        "creationTime": stamp(1_500),
        "commandLine": "/bin/bash -c 'render --scene opening.blend --frame 12 --samples 512 --out $AZ_BATCH_TASK_DIR'",
        "environmentSettings": [
            {"name": "RENDER_THREADS", "value": "4"},
            {"name": "LICENSE_KEY", "value": "[redacted]"},
        ],
        "resourceFiles": [
            {
                "httpUrl": "https://scenes.blob.core.windows.net/films/opening.blend?sv=2025-05-05&sig=[redacted]",
                "filePath": "opening.blend",
            }
        ],
        "requiredSlots": 1,
        "constraints": {"maxTaskRetryCount": 3, "retentionTime": "P7D"},
        "dependsOn": {"taskIds": ["scene-setup"], "taskIdRanges": [{"start": 3, "end": 7}]},
        "executionInfo": {
            "startTime": stamp(600),
            "endTime": stamp(558),
            "exitCode": 137,
            "result": "failure",
            "retryCount": 1,
            "requeueCount": 0,
            "failureInfo": {"category": "userError", "code": "FailureExitCode", "message": "The task exited with 137."},
        },
        "nodeInfo": {"poolId": POOL, "nodeId": NODES[0], "taskRootDirectory": "workitems/render/job-1/frame-00012"},
    } | changes


def timeline(*, runs: int = 14, slots: int = 3) -> dict[str, Any]:
    """Returns runs on `slots` slots of each node; the last run of each slot isn't over."""
    nodes = []
    for at, node in enumerate(NODES):
        found = []
        for lane in range(slots):
            begin = 7_200.0 - 130 * at - 47 * lane
            for number in range(runs):
                ran = 280 + 41 * ((at * 7 + lane * 3 + number * 5) % 7)
                end = begin - ran
                result = "failure" if (at + lane + number) % 9 == 4 else "success"
                last = number == runs - 1 or end <= 60
                name = f"frame-{at}{lane}{number:03}"
                ended = {"end": None, "result": None} if last else {"end": stamp(end), "result": result}
                found.append({"task": name, "start": stamp(begin), "slots": 1, **ended})
                if last:
                    break
                begin = end - 12
        nodes.append({"poolId": POOL, "nodeId": node, "runs": found, "busySlotSeconds": 19_000 - 900 * at})
    return _timeline(nodes, aggregated=False)


def aggregated_timeline(*, steps: int = 48) -> dict[str, Any]:
    nodes = []
    for at, node in enumerate(NODES):
        buckets = [
            {
                "start": stamp(1_800 * (steps - step)),
                "end": stamp(1_800 * (steps - step - 1)),
                "tasks": 40 + (step * 7 + at) % 23,
                "busySlotSeconds": 1_800 * (1 + (step * (at + 2)) % 4) * (0 if 10 < step < 14 else 1),
                "failed": 9 if (step + at) % 11 == 3 else 0,
            }
            for step in range(steps)
        ]
        nodes.append({"poolId": POOL, "nodeId": node, "buckets": buckets, "busySlotSeconds": 260_000 - 9_000 * at})
    return _timeline(nodes, aggregated=True) | {"otherNodes": 34}


def _timeline(nodes: list[dict[str, Any]], *, aggregated: bool) -> dict[str, Any]:
    return {
        "asOf": stamp(4),
        "from": stamp(86_400),
        "to": stamp(),
        "nodes": nodes,
        "otherNodes": 0,
        "aggregated": aggregated,
    }


def _text(time: datetime) -> str:
    return time.isoformat().replace("+00:00", "Z")
