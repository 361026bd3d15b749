"""Entities as the service's JSON (2025-06-01)."""

from local.batch_emulator.entities import Job, Json, Node, Pool, Run, Task
from local.batch_emulator.stamps import etag, stamp

_FOREVER = "P10675199DT2H48M5.4775807S"


def task_json(task: Task, url: str, job_id: str) -> Json:
    """A task as lists and GET show it; `url` is the account's address, as the client wrote it."""
    if task.shown is not None:
        return {**task.shown, "url": f"{url}/jobs/{job_id}/tasks/{task.id}"}
    return _task_json(task, url, job_id)


def _task_json(task: Task, url: str, job_id: str) -> Json:
    body: Json = {
        "id": task.id,
        "url": f"{url}/jobs/{job_id}/tasks/{task.id}",
        "eTag": etag(task.created),
        "creationTime": stamp(task.created),
        "lastModified": stamp(task.created),
        "state": task.state,
        "stateTransitionTime": stamp(task.state_at),
    }
    if task.previous is not None and task.previous_at is not None:
        body |= {"previousState": task.previous, "previousStateTransitionTime": stamp(task.previous_at)}
    body |= {name: value for name, value in task.spec.items() if name != "id"}
    given = task.spec.get("constraints") or {}
    body["constraints"] = {"maxWallClockTime": _FOREVER, "retentionTime": "P7D", "maxTaskRetryCount": 0, **given}
    body["requiredSlots"] = task.slots
    body["executionInfo"] = _run_json(task.run, task)
    if task.where:
        body["nodeInfo"] = task.where
    return body


def _run_json(run: Run, task: Task) -> Json:
    body: Json = {"retryCount": task.retries, "requeueCount": task.requeues}
    if run.start is not None:
        body["startTime"] = stamp(run.start)
    if run.end is not None:
        body["endTime"] = stamp(run.end)
    if run.exit_code is not None:
        body["exitCode"] = run.exit_code
    if run.failure is not None:
        body["failureInfo"] = run.failure
    if run.result is not None:
        body["result"] = run.result
    return body


def hide_task(task: Task, job_id: str) -> None:
    """Keeps what lists show of a task as it is now, whatever happens to it next."""
    if task.shown is None:
        task.shown = _task_json(task, "", job_id)


def job_json(job: Job, url: str) -> Json:
    body: Json = {
        "id": job.id,
        "url": f"{url}/jobs/{job.id}",
        "eTag": etag(job.modified),
        "lastModified": stamp(job.modified),
        "creationTime": stamp(job.created),
        "state": job.state,
        "stateTransitionTime": stamp(job.state_at),
        "priority": 0,
        "maxParallelTasks": -1,
        "onAllTasksComplete": "noaction",
        "onTaskFailure": "noaction",
        "usesTaskDependencies": False,
        "constraints": {"maxWallClockTime": _FOREVER, "maxTaskRetryCount": 0},
    }
    if job.previous is not None and job.previous_at is not None:
        body |= {"previousState": job.previous, "previousStateTransitionTime": stamp(job.previous_at)}
    body |= {name: value for name, value in job.spec.items() if name != "id"}
    run: Json = {"startTime": stamp(job.created), "poolId": job.pool_id}
    if job.ended is not None:
        run["endTime"] = stamp(job.ended)
    if job.reason is not None:
        run["terminateReason"] = job.reason
    return {**body, "executionInfo": run}


def pool_json(pool: Pool, url: str) -> Json:
    dedicated = sum(node.dedicated for node in pool.nodes.values())
    body: Json = {
        "id": pool.id,
        "url": f"{url}/pools/{pool.id}",
        "eTag": etag(pool.modified),
        "lastModified": stamp(pool.modified),
        "creationTime": stamp(pool.created),
        "state": pool.state,
        "stateTransitionTime": stamp(pool.state_at),
        "allocationState": pool.allocation,
        "allocationStateTransitionTime": stamp(pool.allocation_at),
        "resizeTimeout": "PT15M",
        "currentDedicatedNodes": dedicated,
        "currentLowPriorityNodes": len(pool.nodes) - dedicated,
        "targetDedicatedNodes": 0,
        "targetLowPriorityNodes": 0,
        "enableAutoScale": False,
        "enableInterNodeCommunication": False,
        "taskSlotsPerNode": 1,
        "taskSchedulingPolicy": {"nodeFillType": "spread"},
    }
    return body | {name: value for name, value in pool.spec.items() if name != "id"}


def node_json(node: Node, url: str) -> Json:
    body: Json = {
        "id": node.id,
        "url": f"{url}/pools/{node.pool.id}/nodes/{node.id}",
        "state": node.state,
        "schedulingState": "enabled",
        "stateTransitionTime": stamp(node.state_at),
        "allocationTime": stamp(node.allocated),
        "affinityId": f"TVM:{node.id}",
        "vmSize": node.pool.spec.get("vmSize"),
        "totalTasksRun": 0,
        "runningTasksCount": len(node.tasks),
        "runningTaskSlotsCount": sum(task.slots for task in node.tasks.values()),
        "isDedicated": node.dedicated,
    }
    if node.booted is not None:
        body["lastBootTime"] = stamp(node.booted)
    if node.pool.spec.get("startTask"):
        body["startTask"] = node.pool.spec["startTask"]
    if node.start_task is not None:
        body["startTaskInfo"] = node.start_task
    return body
