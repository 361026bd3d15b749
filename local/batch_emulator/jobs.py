"""Operations on jobs."""

from local.batch_emulator.collation import order_of
from local.batch_emulator.entities import Job, Json
from local.batch_emulator.faults import bad_property, exists, not_found, wrong_state
from local.batch_emulator.odata import compile_filter
from local.batch_emulator.requests import Listing, Request, Response, checked_id, entity, list_page, selected, written
from local.batch_emulator.simulation import task_counts
from local.batch_emulator.stamps import SECOND
from local.batch_emulator.wire import job_json

_PATCHABLE = {
    "priority", "maxParallelTasks", "constraints", "metadata", "onAllTasksComplete", "poolInfo", "allowTaskPreemption",
}  # fmt: skip


def find_job(request: Request) -> Job:
    job = request.account.jobs.get(request.path["jobId"].lower())
    if job is None:
        raise not_found("Job")
    return job


def create_job(request: Request) -> Response:
    request.refuse_conditions()
    body = request.json()
    name = checked_id(body.get("id"))
    if name.lower() in request.account.jobs:
        raise exists("Job")
    if not (body.get("poolInfo") or {}).get("poolId"):
        raise bad_property("poolInfo", body.get("poolInfo"), "This emulator runs jobs on pools named by poolId only.")
    job = Job(name, body, request.now, request.now, state_at=request.now)
    request.account.jobs[name.lower()] = job
    return written(201, request, f"jobs/{name}", job.modified)


def list_jobs(request: Request) -> Response:
    request.refuse_conditions()
    found = compile_filter(request.query["$filter"], "jobs") if request.query.get("$filter") else None
    order = order_of(request.knobs)
    jobs = request.account.jobs
    listing = Listing(
        keys=sorted(jobs, key=order),
        order=order,
        render=lambda key: job_json(jobs[key], request.url),
        matches=found.matches if found else lambda _: True,
    )
    return list_page(request, listing, "jobs")


def get_job(request: Request) -> Response:
    job = find_job(request)
    request.check_conditions(job.modified)
    return entity(200, selected(job_json(job, request.url), request, "jobs/@Element"), job.modified)


def update_job(request: Request) -> Response:
    job, body = find_job(request), request.json()
    request.check_conditions(job.modified)
    _must_live(job)
    for name, value in body.items():
        if name not in _PATCHABLE:
            raise bad_property(name, value, "It can't be changed.")
    job.spec |= body
    job.modified = max(request.now, job.modified + 1)
    request.simulation.end_if_done(job)
    return written(200, request, f"jobs/{job.id}", job.modified)


def delete_job(request: Request) -> Response:
    job = find_job(request)
    request.check_conditions(job.modified)
    if job.state != "deleting":
        request.simulation.delete(job)
    return Response(202)


def terminate_job(request: Request) -> Response:
    job = find_job(request)
    request.check_conditions(job.modified)
    _must_live(job)
    request.simulation.terminate(job, str(request.json().get("terminateReason") or "UserTerminate"))
    return written(202, request, f"jobs/{job.id}/terminate", job.modified)


def disable_job(request: Request) -> Response:
    job = find_job(request)
    request.check_conditions(job.modified)
    what = request.json().get("disableTasks")
    if what not in ("requeue", "terminate", "wait"):
        raise bad_property("disableTasks", what, "It is one of requeue, terminate, wait.")
    _must_live(job)
    request.simulation.disable(job, what)
    return written(202, request, f"jobs/{job.id}/disable", job.modified)


def enable_job(request: Request) -> Response:
    job = find_job(request)
    request.check_conditions(job.modified)
    _must_live(job)
    request.simulation.enable(job)
    return written(202, request, f"jobs/{job.id}/enable", job.modified)


def get_job_task_counts(request: Request) -> Response:
    request.refuse_conditions()
    job = find_job(request)
    found = (
        _lagging(job, request.now - int(request.knobs.countLagSeconds * SECOND))
        if request.knobs.countLagSeconds
        else None
    )
    counts = found or {
        name: task_counts(job)[name] for name in ("active", "preparing", "running", "completed", "succeeded", "failed")
    }
    tasks = counts | {"running": counts["running"] + counts["preparing"]}
    del tasks["preparing"]
    body: Json = {"odata.metadata": f"{request.url}/$metadata#taskcountsresult/@Element"}
    return Response(200, {**body, "taskCounts": tasks, "taskSlotCounts": _slots(job)}, items=1)


def _slots(job: Job) -> Json:
    found = job.slot_tally
    counts = {name: found[name] for name in ("active", "running", "completed", "succeeded", "failed")}
    return counts | {"running": found["running"] + found["preparing"]}


def _lagging(job: Job, at: int) -> Json:
    """Counts as of an instant, as far as each task's last two states tell."""
    counts = {"active": 0, "preparing": 0, "running": 0, "completed": 0, "succeeded": 0, "failed": 0}
    for task in job.tasks.values():
        if task.created > at:
            continue
        state = task.state if task.state_at <= at else task.previous or "active"
        counts[state] += 1
        if state == "completed":
            counts["succeeded" if task.run.result == "success" else "failed"] += 1
    return counts


def _must_live(job: Job) -> None:
    if job.state in ("completed", "terminating"):
        raise wrong_state("JobCompleted", "The specified job is already in a completed state.")
    if job.state == "deleting":
        raise wrong_state("JobBeingDeleted", "The specified job has been marked for deletion and is being deleted.")
