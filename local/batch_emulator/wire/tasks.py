"""Tasks as JSON: one function per property, so that `$select` costs only its properties. Shapes follow recordings."""

from typing import Any

from local.batch_emulator.core.stamps import etag, stamp
from local.batch_emulator.entities import Failure, Job, Json, Task
from local.batch_emulator.protocol.paging import Renderers
from local.batch_emulator.state.command_lines import exit_code
from local.batch_emulator.state.failures import exit_failure

FOREVER = "P10675199DT2H48M5.4775807S"
_WEEK = "P7D"
_SENT = (
    "displayName",
    "dependsOn",
    "exitConditions",
    "containerSettings",
    "resourceFiles",
    "outputFiles",
    "environmentSettings",
    "affinityInfo",
    "applicationPackageReferences",
    "authenticationTokenSettings",
    "multiInstanceSettings",
)
_USER = {"autoUser": {"scope": "pool", "elevationLevel": "nonadmin"}}


def moment(ticks: int | None) -> str | None:
    return None if ticks is None else stamp(ticks)


def root_directory(job_id: str, task_id: str) -> str:
    """Returns a task's directory, below the root of its node's files."""
    return f"workitems/{job_id}/job-1/{task_id}"


def task_renderers(url: str, job: Job) -> Renderers:
    """Returns the renderers of a job's tasks by property, in the service's order."""
    base = f"{url}/jobs/{job.id}/tasks/"
    return {
        "id": lambda task: task.id,
        "url": lambda task: base + task.id,
        "eTag": lambda task: etag(task.modified),
        "creationTime": lambda task: stamp(task.created),
        "lastModified": lambda task: stamp(task.modified),
        "state": lambda task: task.state,
        "stateTransitionTime": lambda task: stamp(task.changed),
        "previousState": lambda task: task.previous,
        "previousStateTransitionTime": lambda task: moment(task.previous_changed),
        "commandLine": lambda task: task.spec["commandLine"],
        **{name: _sent(name) for name in _SENT},
        "userIdentity": lambda task: task.spec.get("userIdentity") or _USER,
        "constraints": _constraints,
        "requiredSlots": lambda task: task.slots,
        "executionInfo": execution_info,
        "nodeInfo": lambda task: _node_info(task, task.node_id, url, job.id),
    }


def subtasks(task: Task, url: str, job: Job) -> list[Json]:
    """Returns the subtasks of a task's latest run: they start and end with the primary."""
    if not task.subtask_nodes:
        return []
    times = {"startTime": moment(task.started), "endTime": moment(task.ended), "result": task.result}
    code = exit_code(task.spec["multiInstanceSettings"]["coordinationCommandLine"]) if task.ended else None
    failure = failure_json(exit_failure(code)) if code else None
    states: Json = {"state": task.state, "stateTransitionTime": stamp(task.changed)}
    if task.previous not in (None, "active"):
        states |= {"previousState": task.previous, "previousStateTransitionTime": moment(task.previous_changed)}
    shown = {**times, "exitCode": code, "failureInfo": failure, **states}
    known = {name: value for name, value in shown.items() if value is not None}
    return [
        {"id": number, "nodeInfo": _node_info(task, node_id, url, job.id), **known}
        for number, node_id in enumerate(task.subtask_nodes, 1)
    ]


def execution_info(task: Task) -> Json:
    info: Json = {}
    if task.started is not None:
        info["startTime"] = stamp(task.started)
    if task.ended is not None:
        info["endTime"] = stamp(task.ended)
    if task.exit_code is not None:
        info["exitCode"] = task.exit_code
    if task.result is not None:
        info["result"] = task.result
    if task.failure is not None:
        info["failureInfo"] = failure_json(task.failure)
    info |= {"retryCount": task.retries, "requeueCount": task.requeues}
    if task.last_retry is not None:
        info["lastRetryTime"] = stamp(task.last_retry)
    if task.last_requeue is not None:
        info["lastRequeueTime"] = stamp(task.last_requeue)
    return info


def failure_json(failure: Failure) -> Json:
    found: Json = {"category": failure.category, "code": failure.code, "message": failure.message}
    if failure.details:
        found["details"] = [{"name": name, "value": value} for name, value in failure.details]
    return found


def _sent(name: str) -> Any:
    return lambda task: task.spec.get(name)


def _constraints(task: Task) -> Json:
    sent = task.spec.get("constraints") or {}
    defaults = {"maxWallClockTime": FOREVER, "retentionTime": _WEEK}
    return {**defaults, **sent, "maxTaskRetryCount": task.max_retries}


def _node_info(task: Task, node_id: str | None, url: str, job_id: str) -> Json | None:
    if node_id is None:
        return None
    node, root = f"{url}/pools/{task.pool_id}/nodes/{node_id}", root_directory(job_id, task.id)
    return {
        "affinityId": f"TVM:{node_id}",
        "nodeUrl": node,
        "poolId": task.pool_id,
        "nodeId": node_id,
        "taskRootDirectory": root,
        "taskRootDirectoryUrl": f"{node}/files/{root}",
    }
