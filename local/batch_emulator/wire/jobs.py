"""Jobs and their task counts as JSON. Shapes follow recordings."""

from collections.abc import Mapping
from typing import Any

from local.batch_emulator.core.stamps import etag, stamp
from local.batch_emulator.entities import Job, Json
from local.batch_emulator.entities.task_counts import Counts
from local.batch_emulator.protocol.paging import Renderers
from local.batch_emulator.protocol.versions import has_slot_counts, has_validation_status
from local.batch_emulator.wire.tasks import FOREVER, failure_json, moment

_DEFAULTS: Mapping[str, Any] = {
    "displayName": None,
    "priority": 0,
    "maxParallelTasks": -1,
    "allowTaskPreemption": False,
    "usesTaskDependencies": False,
    "jobManagerTask": None,
    "jobPreparationTask": None,
    "jobReleaseTask": None,
    "poolInfo": None,
    "commonEnvironmentSettings": None,
    "networkConfiguration": None,
    "metadata": None,
    "onAllTasksComplete": "noaction",
    "onTaskFailure": "noaction",
}
FIXED_DEFAULTS = {name: value for name, value in _DEFAULTS.items() if value is not None}
_CONSTRAINTS = {"maxWallClockTime": FOREVER, "maxTaskRetryCount": 0}


def job_renderers(url: str) -> Renderers:
    return {
        "id": lambda job: job.id,
        "url": lambda job: f"{url}/jobs/{job.id}",
        "eTag": lambda job: etag(job.modified),
        "lastModified": lambda job: stamp(job.modified),
        "creationTime": lambda job: stamp(job.created),
        "state": lambda job: job.state,
        "stateTransitionTime": lambda job: stamp(job.changed),
        "previousState": lambda job: job.previous,
        "previousStateTransitionTime": lambda job: moment(job.previous_changed),
        **{name: _sent(name, default) for name, default in _DEFAULTS.items()},
        "constraints": lambda job: constraints(job.spec),
        "executionInfo": _execution_info,
    }


def task_counts(counts: Counts, version: str) -> Json:
    """Returns counts as in Get Task Counts, which counts preparing tasks as running."""
    if not has_slot_counts(version):
        status = {"validationStatus": "validated"} if has_validation_status(version) else {}
        return {**_as_documented(counts.tasks), **status}
    return {"taskCounts": _as_documented(counts.tasks), "taskSlotCounts": _as_documented(counts.slots)}


def true_counts(job: Job) -> Json:
    """Returns the counts of the job's task list now."""
    found = job.task_counts.counts.tasks
    return {**found, "completed": found["succeeded"] + found["failed"], "total": sum(found.values())}


def _as_documented(found: Mapping[str, int]) -> Json:
    return {
        "active": found["active"],
        "running": found["running"] + found["preparing"],
        "completed": found["succeeded"] + found["failed"],
        "succeeded": found["succeeded"],
        "failed": found["failed"],
    }


def _sent(name: str, default: Any) -> Any:
    return lambda job: job.spec.get(name, default)


def constraints(spec: Mapping[str, Any]) -> Json:
    """Returns a job's constraints with defaults for those not sent."""
    return _CONSTRAINTS | (spec.get("constraints") or {})


def _execution_info(job: Job) -> Json:
    info: Json = {"startTime": stamp(job.created), **({"poolId": job.pool_id} if job.pool_id else {})}
    if job.ended is not None:
        info |= {"endTime": stamp(job.ended), **({"terminateReason": job.reason} if job.reason else {})}
    if job.failure:
        info["schedulingError"] = failure_json(job.failure)
    return info
