"""Operations on tasks."""

from collections.abc import Mapping
from typing import Any

from local.batch_emulator.core.collation import comparison_key, fold
from local.batch_emulator.core.errors import BatchError, already_exists, conflict, invalid_property, missing_property
from local.batch_emulator.core.stamps import etag, stamp
from local.batch_emulator.entities import Job, Json, Task
from local.batch_emulator.filtering.filter_rows import TASKS
from local.batch_emulator.filtering.filters import compile_filter
from local.batch_emulator.protocol import bodies
from local.batch_emulator.protocol.job_rules import require_open, special_task_id
from local.batch_emulator.protocol.paging import page, position_of, render_entity, select_renderers
from local.batch_emulator.protocol.requests import (
    Request,
    Response,
    entity_response,
    nested,
    validate_id,
    write_response,
)
from local.batch_emulator.state.exit_rules import check_dependencies, check_exit_conditions
from local.batch_emulator.wire.tasks import subtasks, task_renderers

_MAX_TASKS = 100


def create_task(request: Request) -> Response:
    job = request.job()
    require_open(job)
    task = _new_task(request, job, request.body)
    request.simulation.tasks.add(job, [task])
    return write_response(request, 201, f"jobs/{job.id}/tasks/{task.id}", task.modified)


def create_task_collection(request: Request) -> Response:
    job = request.job()
    require_open(job)
    bodies.COLLECTION.check(request.body)
    compiled = request.body["value"]
    if not isinstance(compiled, list) or len(compiled) > _MAX_TASKS:
        raise invalid_property("value", type(compiled).__name__, f"It is a list of at most {_MAX_TASKS} tasks.")
    added: dict[str, Task] = {}
    results = [_add_result(request, job, row, added) for row in compiled]
    request.simulation.tasks.add(job, added.values())
    metadata = f"{request.url}/$metadata#taskaddresult"
    return Response(200, {"odata.metadata": metadata, "value": results}, items=len(results))


def list_tasks(request: Request) -> Response:
    job, position = request.job(), position_of(request)
    comparison = comparison_key(request.settings)
    compiled = compile_filter(request.query.get("$filter"), TASKS, comparison)
    lowest, highest = (compiled.lowest, compiled.highest) if position.key is comparison else (None, None)
    tasks = job.tasks.listed(position.key, position.after, compiled.since, lowest=lowest, highest=highest)
    return page(request, "tasks", tasks, compiled.matches, task_renderers(request.url, job))


def get_task(request: Request) -> Response:
    job, task = request.task()
    request.check(task.modified)
    return entity_response(
        request,
        "tasks",
        render_entity(task, select_renderers(request, task_renderers(request.url, job))),
        task.modified,
    )


def replace_task(request: Request) -> Response:
    """Replaces a task's constraints; omitted ones get their defaults (documented)."""
    job, task = request.task()
    request.check(task.modified)
    bodies.TASK_PUT.check(request.body)
    if task.state == "completed":
        raise conflict("TaskCompleted", "The specified task is already in a completed state.")
    task.max_retries = _retries(job, request.body)
    task.spec = {**task.spec, "constraints": nested(request.body, "constraints")}
    task.updated = max(request.now, task.modified + 1)
    request.mark_changed(task, job)
    return write_response(request, 200, f"jobs/{job.id}/tasks/{task.id}", task.modified)


def list_subtasks(request: Request) -> Response:
    """Returns the subtasks of the latest run, without its primary; there are none while a task is active."""
    job, task = request.task()
    rows = subtasks(task, request.url, job)
    return Response(200, {"odata.metadata": f"{request.url}/$metadata#subtasks", "value": rows}, items=len(rows))


def delete_task(request: Request) -> Response:
    job, task = request.task()
    request.check(task.modified)
    request.simulation.tasks.delete(job, task)
    request.simulation.jobs.check_completion(job)
    return Response(200)


def terminate_task(request: Request) -> Response:
    job, task = request.task()
    request.check(task.modified)
    if task.state == "completed":
        raise conflict("TaskCompleted", "The specified task is already in a completed state.")
    request.simulation.tasks.end(job, task)
    request.simulation.jobs.check_completion(job)
    return write_response(request, 204, f"jobs/{job.id}/tasks/{task.id}/terminate", task.modified)


def reactivate_task(request: Request) -> Response:
    job, task = request.task()
    request.check(task.modified)
    require_open(job)
    if task.state != "completed":
        raise conflict("TaskNotCompleted", "The specified task is not in a completed state.")
    if task.result == "success":
        raise conflict("TaskSucceeded", "The specified task has already completed successfully.")
    request.simulation.tasks.reactivate(job, task)
    return write_response(request, 204, f"jobs/{job.id}/tasks/{task.id}/reactivate", task.modified)


def _add_result(request: Request, job: Job, row: Any, added: dict[str, Task]) -> Json:
    name = str(row.get("id", "")) if isinstance(row, Mapping) else ""
    try:
        if fold(name) in added:
            raise already_exists("Task")
        task = _new_task(request, job, row)
    except BatchError as refusal:
        error = {
            "code": refusal.code,
            "message": {"lang": "en-us", "value": refusal.message},
            "values": [{"key": key, "value": value} for key, value in refusal.values.items()],
        }
        return {"status": "ClientError", "taskId": name, "error": error}
    added[task.key] = task
    return {
        "status": "Success",
        "taskId": task.id,
        "eTag": etag(task.modified),
        "lastModified": stamp(task.modified),
        "location": f"{request.url}/jobs/{job.id}/tasks/{task.id}",
    }


def _new_task(request: Request, job: Job, body: Any) -> Task:
    if not isinstance(body, dict):
        raise invalid_property("value", body, "A task is an object.")
    bodies.task(request.version).check(body)
    name = validate_id(body["id"])
    bodies.check_command_line(body)
    bodies.objects(body, "resourceFiles")
    check_dependencies(job, nested(body, "dependsOn"))
    check_exit_conditions(job, nested(body, "exitConditions"))
    retries = _retries(job, body)
    slots = bodies.slots(body, "requiredSlots")
    _check_instances(nested(body, "multiInstanceSettings"), slots)
    if fold(name) in job.tasks:
        raise already_exists("Task")
    _check_special_task_ids(job, name)
    return Task(
        id=name,
        key=fold(name),
        number=request.simulation.next_number(),
        spec=body,
        slots=slots,
        max_retries=retries,
        created=request.now,
        changed=request.now,
    )


def _check_instances(settings: Mapping[str, Any], slots: int) -> None:
    if not settings:
        return
    bodies.number(settings, "numberOfInstances", 1, minimum=1)
    if not settings.get("coordinationCommandLine"):
        raise missing_property("multiInstanceSettings.coordinationCommandLine")
    bodies.objects(settings, "commonResourceFiles")
    if slots != 1:
        raise invalid_property("requiredSlots", slots, "It is 1 for multi-instance tasks.")


def _retries(job: Job, body: Json) -> int:
    inherited = int((job.spec.get("constraints") or {}).get("maxTaskRetryCount") or 0)
    constraints = nested(body, "constraints")
    for name in ("maxWallClockTime", "retentionTime"):
        bodies.duration(constraints, name)
    return bodies.number(constraints, "maxTaskRetryCount", inherited, minimum=-1)


def _check_special_task_ids(job: Job, name: str) -> None:
    for property_name, code in (("jobPreparationTask", "Preparation"), ("jobReleaseTask", "Release")):
        if job.spec.get(property_name) and fold(special_task_id(job, property_name)) == fold(name):
            text = f"The specified task id is that of the job {code.lower()} task."
            raise conflict(f"TaskIdSameAsJob{code}Task", text)


ACTIONS = (
    create_task,
    create_task_collection,
    list_tasks,
    get_task,
    replace_task,
    list_subtasks,
    delete_task,
    terminate_task,
    reactivate_task,
)
