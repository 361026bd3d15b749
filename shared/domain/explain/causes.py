"""The closed list of causes for which tasks wait, each with who must act: codes of explanations (docs/explanations.md).

A job's cause is the first finding of its explanation. `unknown` is the cause where none was found, or before the job
was explained.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

type Actor = Literal["submitter", "operator", "service", "nobody"]
UNKNOWN = "unknown"
CAUSES: Mapping[str, Actor] = MappingProxyType({
    "autoPoolFailed": "submitter",
    "jobNotStarted": "submitter",
    "jobDeleted": "nobody",
    "jobExpired": "nobody",
    "jobCompleted": "nobody",
    "jobTerminating": "nobody",
    "jobDeleting": "nobody",
    "jobDisabled": "submitter",
    "jobEnabling": "nobody",
    "dependenciesFailed": "submitter",
    "dependencyCycle": "submitter",
    "dependenciesUnsatisfied": "nobody",
    "poolMissing": "submitter",
    "poolDeleting": "operator",
    "taskNeedsMoreSlots": "submitter",
    "poolTargetZero": "operator",
    "maxParallelTasks": "submitter",
    "startTaskFailed": "operator",
    "nodesUnusable": "operator",
    "nodesUnreachable": "service",
    "nodesOffline": "operator",
    "nodesDeallocated": "operator",
    "autoScaleFailed": "operator",
    "resizeFailed": "operator",
    "nodesPreempted": "service",
    "poolResizing": "nobody",
    "nodesStarting": "nobody",
    "nodesRebooting": "nobody",
    "nodesReimaging": "nobody",
    "nodesUpgrading": "nobody",
    "poolEmpty": "operator",
    "preparationFailed": "submitter",
    "higherPriorityJobs": "nobody",
    "olderJobs": "nobody",
    "slotsBusy": "nobody",
    "tasksRetriedForEver": "submitter",
    "tasksOutOfMemory": "submitter",
    "nodeDisksFull": "operator",
    "nodeGpuErrors": "operator",
    "nodeTasksFail": "operator",
    "nodesToBePreempted": "service",
    "tasksPreempted": "nobody",
    "resizeFailedBefore": "nobody",
    "slotsFree": "nobody",
    "noTasks": "nobody",
    "allTasksCompleted": "nobody",
    UNKNOWN: "nobody",
})  # fmt: skip
