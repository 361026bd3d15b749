"""Pools, nodes and node counts as JSON. Shapes follow recordings."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from local.batch_emulator.core.stamps import etag, stamp
from local.batch_emulator.entities import Json, Node, Pool, StartTask
from local.batch_emulator.protocol.paging import Renderers
from local.batch_emulator.protocol.size_rules import COMING_MACHINE_SETTINGS
from local.batch_emulator.protocol.versions import has_communication_mode, has_several_sizes, hidden_node_states
from local.batch_emulator.wire.endpoints import endpoints, ipv6_address
from local.batch_emulator.wire.tasks import execution_info, failure_json, moment

_DEFAULTS: Mapping[str, Any] = {
    "displayName": None,
    "resizeTimeout": "PT15M",
    "targetDedicatedNodes": 0,
    "targetLowPriorityNodes": 0,
    "enableAutoScale": False,
    "autoScaleFormula": None,
    "autoScaleEvaluationInterval": None,
    "enableInterNodeCommunication": False,
    "taskSlotsPerNode": 1,
    "taskSchedulingPolicy": {"nodeFillType": "Spread"},
    "startTask": None,
    "virtualMachineConfiguration": None,
    "networkConfiguration": None,
    "identity": None,
    "applicationPackageReferences": None,
    "userAccounts": None,
    "metadata": None,
    "mountConfiguration": None,
    "upgradePolicy": None,
    "resourceTags": None,
}
_COMMUNICATION: Renderers = {
    "targetNodeCommunicationMode": lambda pool: pool.spec.get("targetNodeCommunicationMode", "default"),
    "currentNodeCommunicationMode": lambda _: "simplified",
}
_COUNTED = [
    "creating",
    "idle",
    "offline",
    "preempted",
    "rebooting",
    "reimaging",
    "running",
    "starting",
    "startTaskFailed",
    "leavingPool",
    "unknown",
    "unusable",
    "waitingForStartTask",
    "deallocated",
    "deallocating",
    "upgradingOS",
]


def pool_renderers(url: str, version: str) -> Renderers:
    modes = _COMMUNICATION if has_communication_mode(version) else {}
    sizes = {"vmSkuProfile": _sent("vmSkuProfile", None)} if has_several_sizes(version) else _WITHOUT_COMING
    return {
        "id": lambda pool: pool.id,
        "url": lambda pool: f"{url}/pools/{pool.id}",
        "eTag": lambda pool: etag(pool.modified),
        "lastModified": lambda pool: stamp(pool.modified),
        "creationTime": lambda pool: stamp(pool.created),
        "state": lambda pool: pool.state,
        "stateTransitionTime": lambda pool: stamp(pool.changed),
        "allocationState": lambda pool: pool.allocation,
        "allocationStateTransitionTime": lambda pool: stamp(pool.allocation_changed),
        "vmSize": lambda pool: pool.vm_size,
        "resizeErrors": lambda pool: (pool.errors or None) if pool.allocation == "steady" else None,
        "currentDedicatedNodes": lambda pool: pool.node_count(dedicated=True),
        "currentLowPriorityNodes": lambda pool: pool.node_count(dedicated=False),
        **{name: _sent(name, default) for name, default in _DEFAULTS.items()},
        "autoScaleRun": lambda pool: pool.scaling and pool.scaling.run,
        **modes,
        **sizes,
    }


def node_renderers(url: str, pool: Pool) -> Renderers:
    base = f"{url}/pools/{pool.id}/nodes/"
    return {
        "id": lambda node: node.id,
        "url": lambda node: base + node.id,
        "state": lambda node: node.state,
        "schedulingState": lambda node: node.scheduling,
        "stateTransitionTime": lambda node: stamp(node.changed),
        "lastBootTime": lambda node: moment(node.booted),
        "allocationTime": lambda node: stamp(node.allocated),
        "ipAddress": lambda node: node.ip,
        "ipv6Address": ipv6_address,
        "affinityId": lambda node: f"TVM:{node.id}",
        "vmSize": lambda node: node.vm_size,
        "totalTasksRun": lambda node: node.total,
        "totalTasksSucceeded": lambda node: node.succeeded,
        "runningTasksCount": lambda node: len(node.running),
        "runningTaskSlotsCount": slots_used,
        "recentTasks": lambda node: _recent_tasks(node, url),
        "startTask": lambda _: pool.spec.get("startTask"),
        "startTaskInfo": lambda node: _start_task_info(node.start_task) if node.start_task else None,
        "errors": lambda node: node.errors or None,
        "isDedicated": lambda node: node.dedicated,
        "endpointConfiguration": endpoints,
        "nodeAgentInfo": lambda node: (
            {"version": node.agent_version, "lastUpdateTime": stamp(node.booted)} if node.booted else None
        ),
        "virtualMachineInfo": lambda _: {"imageReference": _image(pool)},
    }


def node_count_renderers(version: str, *, now: int, lag: int) -> Renderers:
    """Returns renderers of counts that are `lag` ticks old."""
    hidden = hidden_node_states(version)
    states = [name for name in _COUNTED if name not in hidden]

    def counted(pool: Pool, *, dedicated: bool) -> Json:
        counts = pool.lagged_node_counts.read(pool.node_counts, now=now, lag=lag)
        found = {state: number for (state, kind), number in counts.items() if kind == dedicated}
        return {**{name: found.get(name.lower(), 0) for name in states}, "total": sum(found.values())}

    return {
        "poolId": lambda pool: pool.id,
        "dedicated": lambda pool: counted(pool, dedicated=True),
        "lowPriority": lambda pool: counted(pool, dedicated=False),
    }


def slots_used(node: Node) -> int:
    """Returns the slots of the tasks that a node shows as running."""
    return sum(run.task.slots for run in node.running)


def true_nodes(pool: Pool) -> Json:
    """Returns the counts of the pool's node list now."""
    nodes = list(pool.nodes.values())
    return {
        "nodes": dict(Counter(node.state for node in nodes)),
        "dedicated": pool.node_count(dedicated=True),
        "spot": pool.node_count(dedicated=False),
        "slotsUsed": sum(slots_used(node) for node in nodes),
        "slotsTotal": len(nodes) * pool.slots_per_node,
        "vmSizes": dict(Counter(node.vm_size for node in nodes)),
        "nodeAgentVersions": dict(Counter(node.agent_version for node in nodes if node.booted)),
        "cores": sum(node.vcpus for node in nodes if node.has_machine),
        "busyCores": sum(node.vcpus * slots_used(node) for node in nodes) / pool.slots_per_node,
    }


def _sent(name: str, default: Any) -> Any:
    return lambda pool: pool.spec.get(name, default)


def _without_coming(pool: Pool) -> Json | None:
    machine = pool.spec.get("virtualMachineConfiguration")
    return machine and {name: value for name, value in machine.items() if name not in COMING_MACHINE_SETTINGS}


_WITHOUT_COMING: Renderers = {"virtualMachineConfiguration": _without_coming}


def _recent_tasks(node: Node, url: str) -> list[Json] | None:
    return [
        {
            "taskUrl": f"{url}/jobs/{job.id}/tasks/{task.id}",
            "jobId": job.id,
            "taskId": task.id,
            **({"subtaskId": task.subtask_nodes.index(node.id) + 1} if node.id in task.subtask_nodes else {}),
            "taskState": task.state,
            "executionInfo": execution_info(task),
        }
        for job, task in reversed(node.recent)
    ] or None


def _start_task_info(run: StartTask) -> Json:
    """Returns startTaskInfo, whose exit code and failure appear only after completion, not between retries."""
    info: Json = {"state": run.state, "startTime": stamp(run.started), "retryCount": run.retries}
    if run.last_retry is not None:
        info["lastRetryTime"] = stamp(run.last_retry)
    if run.result:
        info["result"] = run.result
    if run.ended is not None:
        info |= {"endTime": stamp(run.ended), "exitCode": run.exit_code}
    if run.failure:
        info["failureInfo"] = failure_json(run.failure)
    return info


def _image(pool: Pool) -> Json:
    image = (pool.spec.get("virtualMachineConfiguration") or {}).get("imageReference") or {}
    return {"version": "latest", **image, "exactVersion": "1.0.0"}
