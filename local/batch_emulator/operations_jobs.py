"""Operations on jobs. A job may name a pool that doesn't exist: its tasks then stay active (documented)."""

from typing import Any

from local.batch_emulator import bodies
from local.batch_emulator.backlog import ReadyTasks
from local.batch_emulator.collation import comparison_key, fold
from local.batch_emulator.entities import Job
from local.batch_emulator.errors import absent_property, bad_property, conflict, exists, undone
from local.batch_emulator.filter_rows import JOBS
from local.batch_emulator.filters import compile_filter
from local.batch_emulator.paging import in_order, page, rendered, selected
from local.batch_emulator.requests import Request, Response, checked_id, nested, one, written
from local.batch_emulator.tally import Tally
from local.batch_emulator.task_set import TaskSet
from local.batch_emulator.wire_jobs import job_renderers, task_counts

_CLOSED = {
    "terminating": ("JobBeingTerminated", "The specified job is being terminated."),
    "completed": ("JobCompleted", "The specified job is already in a completed state."),
    "deleting": ("JobBeingDeleted", "The specified job is being deleted."),
}
_ALL_COMPLETE = ("noaction", "terminatejob")


def must_be_open(job: Job) -> None:
    """Raises RefusedError for jobs that have ended or are about to."""
    if job.state in _CLOSED:
        raise conflict(*_CLOSED[job.state])


def create_job(request: Request) -> Response:
    body = request.body
    bodies.JOB.check(body)
    name = checked_id(body["id"])
    _check_values(body)
    if fold(name) in request.account.jobs:
        raise exists("Job")
    simulation, now = request.simulation, request.now
    job = Job(
        id=name,
        key=fold(name),
        number=simulation.next_number(),
        account=request.account,
        spec=body,
        created=now,
        modified=now,
        changed=now,
        tasks=TaskSet(),
        tally=Tally(),
        ready=ReadyTasks(),
    )
    request.account.jobs[job.key] = job
    simulation.jobs.look(job)
    return written(request, 201, f"jobs/{job.id}", job.modified)


def list_jobs(request: Request) -> Response:
    found = compile_filter(request.query.get("$filter"), JOBS, comparison_key(request.knobs))
    return page(request, "jobs", in_order(request, request.account.jobs), found.matches, job_renderers(request.url))


def get_job(request: Request) -> Response:
    job = request.job()
    request.check(job.modified)
    return one(request, "jobs", rendered(job, selected(request, job_renderers(request.url))), job.modified)


def update_job(request: Request) -> Response:
    job, body = request.job(), request.body
    request.check(job.modified)
    must_be_open(job)
    bodies.JOB_PATCH.check(body)
    _check_values(body)
    if "poolInfo" in body and job.state != "disabled":
        raise conflict(
            "OperationInvalidForCurrentState", "The job's pool can be changed while the job is disabled only."
        )
    job.spec |= body
    job.modified = max(request.now, job.modified + 1)
    request.simulation.jobs.look(job)
    return written(request, 200, f"jobs/{job.id}", job.modified)


def delete_job(request: Request) -> Response:
    job = request.job()
    request.check(job.modified)
    if job.state == "deleting":
        raise conflict(*_CLOSED["deleting"])
    request.simulation.jobs.delete(job)
    return Response(202)


def terminate_job(request: Request) -> Response:
    job = request.job()
    request.check(job.modified)
    bodies.TERMINATE.check(request.body)
    must_be_open(job)
    request.simulation.jobs.terminate(job, str(request.body.get("terminateReason") or "UserTerminate"))
    return written(request, 202, f"jobs/{job.id}/terminate", job.modified)


def disable_job(request: Request) -> Response:
    job = request.job()
    request.check(job.modified)
    bodies.DISABLE.check(request.body)
    what = bodies.choice(request.body, "disableTasks", "", ("requeue", "terminate", "wait"))
    must_be_open(job)
    if job.state in ("disabling", "disabled"):
        raise conflict("JobDisabled", "The specified job is disabled already.")
    request.simulation.jobs.disable(job, what)
    return written(request, 202, f"jobs/{job.id}/disable", job.modified)


def enable_job(request: Request) -> Response:
    job = request.job()
    request.check(job.modified)
    must_be_open(job)
    if job.state not in ("disabling", "disabled"):
        raise conflict("OperationInvalidForCurrentState", "The specified job is not disabled.")
    request.simulation.jobs.enable(job)
    return written(request, 202, f"jobs/{job.id}/enable", job.modified)


def get_job_task_counts(request: Request) -> Response:
    counts = request.job().tally.seen(request.now, request.simulation.stage.lag)
    return one(request, "taskcountsresult", task_counts(counts))


def _check_values(body: bodies.Body) -> None:
    bodies.choice(body, "onAllTasksComplete", "noaction", _ALL_COMPLETE)
    if bodies.choice(body, "onTaskFailure", "noaction", ("noaction", "performexitoptionsjobaction")) != "noaction":
        raise undone("onTaskFailure=performexitoptionsjobaction")
    bodies.number(body, "priority", 0, least=-1000, most=1000)
    bodies.number(body, "maxParallelTasks", -1, least=-1)
    bodies.number(nested(body, "constraints"), "maxTaskRetryCount", 0, least=-1)
    if "poolInfo" in body:
        _check_pool(nested(body, "poolInfo"))


def _check_pool(info: Any) -> None:
    if info.get("autoPoolSpecification"):
        raise undone("property autoPoolSpecification")
    if not info.get("poolId"):
        raise absent_property("poolInfo.poolId")
    if not isinstance(info["poolId"], str):
        raise bad_property("poolInfo.poolId", info["poolId"], "It is a string.")


ACTIONS = (
    create_job,
    list_jobs,
    get_job,
    update_job,
    delete_job,
    terminate_job,
    disable_job,
    enable_job,
    get_job_task_counts,
)
