"""Rules for jobs and schedules' job specifications, and the job states that accept requests."""

from typing import Any

from local.batch_emulator.core.errors import conflict, invalid_property, missing_property
from local.batch_emulator.entities import Job
from local.batch_emulator.protocol import bodies
from local.batch_emulator.protocol.pool_rules import check_pool_values
from local.batch_emulator.protocol.requests import nested, validate_id
from local.batch_emulator.protocol.size_rules import check_one_size
from local.batch_emulator.protocol.zone_rules import check_zones

CLOSED = {
    "terminating": ("JobBeingTerminated", "The specified job is being terminated."),
    "completed": ("JobCompleted", "The specified job is already in a completed state."),
    "deleting": ("JobBeingDeleted", "The specified job is being deleted."),
}
_ALL_COMPLETE = ("noaction", "terminatejob")
_FAILURE = ("noaction", "performexitoptionsjobaction")
_SPECIAL_TASKS = {"jobPreparationTask": "jobpreparation", "jobReleaseTask": "jobrelease"}


def require_open(job: Job) -> None:
    """Raises BatchError for jobs that have ended or are ending."""
    if job.state in CLOSED:
        raise conflict(*CLOSED[job.state])


def check_values(body: bodies.Body) -> None:
    """Raises BatchError for an invalid value of a job."""
    bodies.choice(body, "onAllTasksComplete", "noaction", _ALL_COMPLETE)
    bodies.choice(body, "onTaskFailure", "noaction", _FAILURE)
    bodies.number(body, "priority", 0, minimum=-1000, maximum=1000)
    bodies.number(body, "maxParallelTasks", -1, minimum=-1)
    constraints = nested(body, "constraints")
    bodies.number(constraints, "maxTaskRetryCount", 0, minimum=-1)
    bodies.duration(constraints, "maxWallClockTime")
    if "poolInfo" in body:
        _check_pool(nested(body, "poolInfo"))
    for name in _SPECIAL_TASKS:
        _check_special_task(nested(body, name), name)
    if body.get("jobReleaseTask") and not body.get("jobPreparationTask"):
        raise invalid_property("jobReleaseTask", "", "A job release task needs a job preparation task.")
    manager = nested(body, "jobManagerTask")
    if manager:
        validate_id(manager.get("id"))
        _check_special_task(manager, "jobManagerTask")
        bodies.slots(manager, "requiredSlots")


def check_change(job: Job, body: bodies.Body) -> None:
    """Raises BatchError for a change that a job's state forbids (reference of Update Job and Replace Job)."""
    if "poolInfo" in body and body["poolInfo"] != job.spec.get("poolInfo") and job.state != "disabled":
        text = "The job's pool can be changed while the job is disabled only."
        raise conflict("OperationInvalidForCurrentState", text)
    previous, wanted = job.spec.get("onAllTasksComplete"), body.get("onAllTasksComplete")
    if str(previous).lower() == "terminatejob" and str(wanted).lower() == "noaction":
        raise invalid_property("onAllTasksComplete", wanted, "It can't be changed from terminatejob to noaction.")


def special_task_id(job: Job, name: str) -> str:
    """Returns the id of a job's preparation or release task."""
    return str((job.spec.get(name) or {}).get("id") or _SPECIAL_TASKS[name])


def _check_special_task(spec: bodies.Body, name: str) -> None:
    if not spec:
        return
    bodies.check_command_line(spec, f"{name}.commandLine")
    bodies.check_sizes(spec)
    bodies.number(nested(spec, "constraints"), "maxTaskRetryCount", 0, minimum=-1)
    bodies.duration(nested(spec, "constraints"), "maxWallClockTime")


def _check_auto_pool(rules: bodies.Body) -> None:
    bodies.AUTO_POOL.check(rules)
    bodies.choice(rules, "poolLifetimeOption", "", ("job", "jobschedule"))
    specification = nested(rules, "pool")
    bodies.POOL_SPECIFICATION.check(specification)
    check_pool_values(specification)
    check_one_size(specification)
    check_zones(specification)


def _check_pool(info: Any) -> None:
    if info.get("autoPoolSpecification"):
        _check_auto_pool(nested(info, "autoPoolSpecification"))
        return
    if not info.get("poolId"):
        raise missing_property("poolInfo.poolId")
    if not isinstance(info["poolId"], str):
        raise invalid_property("poolInfo.poolId", info["poolId"], "It is a string.")
