"""Operations on tasks."""

from bisect import bisect_left
from collections.abc import Mapping
from typing import Any

from local.batch_emulator.collation import order_of
from local.batch_emulator.entities import Job, Json, Task
from local.batch_emulator.faults import (
    BatchFaultError,
    bad_property,
    exists,
    not_found,
    unsupported,
    wrong_state,
)
from local.batch_emulator.jobs import find_job
from local.batch_emulator.odata import Filter, compile_filter
from local.batch_emulator.requests import Listing, Request, Response, checked_id, entity, list_page, selected, written
from local.batch_emulator.stamps import etag, stamp
from local.batch_emulator.wire import task_json

_MOST = 100


def find_task(request: Request, job: Job) -> Task:
    task = job.tasks.get(request.path["taskId"].lower())
    if task is None:
        raise not_found("Task")
    return task


def create_task(request: Request) -> Response:
    request.refuse_conditions()
    job, body = _open_job(request), request.json()
    task = _new_task(job, body, request.now)
    request.simulation.add_tasks(job, {task.id.lower(): task})
    return written(201, request, f"jobs/{job.id}/tasks/{task.id}", task.created)


def add_task_collection(request: Request) -> Response:
    request.refuse_conditions()
    job = _open_job(request)
    rows = request.json().get("value")
    if not isinstance(rows, list) or len(rows) > _MOST:
        raise bad_property(
            "value", len(rows) if isinstance(rows, list) else rows, f"At most {_MOST} tasks can be added."
        )
    added: dict[str, Task] = {}
    results = [_added(request, job, row, added) for row in rows]
    request.simulation.add_tasks(job, added)
    body: Json = {"odata.metadata": f"{request.url}/$metadata#taskaddresult", "value": results}
    return Response(200, body, items=len(results))


def _added(request: Request, job: Job, row: Any, added: dict[str, Task]) -> Json:
    name = str(row.get("id")) if isinstance(row, Mapping) else ""
    try:
        if name.lower() in added:
            raise exists("Task")
        task = _new_task(job, row, request.now)
    except BatchFaultError as fault:
        error = {
            "code": fault.code,
            "message": {"lang": "en-us", "value": fault.message},
            "values": [{"key": key, "value": value} for key, value in fault.values.items()],
        }
        return {"status": "ClientError", "taskId": name, "error": error}
    added[task.id.lower()] = task
    return {
        "status": "Success",
        "taskId": task.id,
        "eTag": etag(task.created),
        "lastModified": stamp(task.created),
        "location": f"{request.url}/jobs/{job.id}/tasks/{task.id}",
    }


def _new_task(job: Job, body: Any, now: int) -> Task:
    if not isinstance(body, dict):
        raise bad_property("task", body, "A task is an object.")
    name = checked_id(body.get("id"))
    if not body.get("commandLine"):
        raise bad_property("commandLine", body.get("commandLine"), "It is required.")
    for kind in ("dependsOn", "multiInstanceSettings"):
        if body.get(kind):
            raise unsupported(f"tasks with {kind}")
    if name.lower() in job.tasks:
        raise exists("Task")
    return Task(name, body, now, state_at=now)


def _open_job(request: Request) -> Job:
    job = find_job(request)
    if job.state in ("completed", "terminating"):
        raise wrong_state("JobCompleted", "The specified job is already in a completed state.")
    if job.state == "deleting":
        raise wrong_state("JobBeingDeleted", "The specified job has been marked for deletion and is being deleted.")
    return job


def list_tasks(request: Request) -> Response:
    request.refuse_conditions()
    job = find_job(request)
    found = compile_filter(request.query["$filter"], "tasks") if request.query.get("$filter") else None
    order = order_of(request.knobs)
    listing = Listing(
        keys=_candidates(request, job, found),
        order=order,
        render=lambda key: task_json(job.tasks[key], request.url, job.id),
        matches=found.matches if found else lambda _: True,
    )
    return list_page(request, listing, "tasks")


def _candidates(request: Request, job: Job, found: Filter | None) -> list[str]:
    """Keys in list order; for a plain delta only those that changed since, found by the log of changes."""
    order = order_of(request.knobs)
    if found and found.changed_since is not None:
        start = bisect_left(job.changes, (found.changed_since, ""))
        if len(job.changes) - start < max(1000, len(job.tasks) // 4):
            return sorted({key for _, key in job.changes[start:] if key in job.tasks}, key=order)
    if request.knobs.unorderedLists or request.knobs.idCollation != "ordinal":
        return sorted(job.tasks, key=order)
    if job.order is None:
        job.order = sorted(job.tasks)
    return job.order


def get_task(request: Request) -> Response:
    job = find_job(request)
    task = find_task(request, job)
    request.check_conditions(task.created)
    body = selected(task_json(task, request.url, job.id), request, "tasks/@Element")
    return entity(200, body, task.created)


def delete_task(request: Request) -> Response:
    job = find_job(request)
    task = find_task(request, job)
    request.check_conditions(task.created)
    del job.tasks[task.id.lower()]
    job.order = None
    request.simulation.drop_task(job, task.id.lower(), task)
    return Response(200)


def terminate_task(request: Request) -> Response:
    job = find_job(request)
    task = find_task(request, job)
    request.check_conditions(task.created)
    if task.state == "completed":
        raise wrong_state("TaskCompleted", "The specified task is already in a completed state.")
    request.simulation.end_task(job, task.id.lower(), task)
    request.simulation.end_if_done(job)
    return written(204, request, f"jobs/{job.id}/tasks/{task.id}/terminate", task.created)


def reactivate_task(request: Request) -> Response:
    job = _open_job(request)
    task = find_task(request, job)
    request.check_conditions(task.created)
    if task.state != "completed" or task.run.result == "success":
        raise wrong_state("TaskNotCompleted", "Only a completed task that failed can be reactivated.")
    task.retries = 0
    request.simulation.set_task(job, task.id.lower(), task, "active")
    job.waiting.append(task.id.lower())
    request.simulation.schedule_for(job)
    return written(204, request, f"jobs/{job.id}/tasks/{task.id}/reactivate", task.created)
