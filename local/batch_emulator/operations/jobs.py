"""Operations on jobs. A job may name a missing pool: its tasks then stay active (documented)."""

from local.batch_emulator.core.collation import comparison_key, fold
from local.batch_emulator.core.errors import already_exists, conflict
from local.batch_emulator.entities import Job, Json
from local.batch_emulator.filtering.filter_rows import JOBS, PREPARATIONS
from local.batch_emulator.filtering.filters import compile_filter
from local.batch_emulator.protocol import bodies
from local.batch_emulator.protocol.job_rules import CLOSED, check_change, check_values, require_open
from local.batch_emulator.protocol.paging import page, render_entity, select_renderers, sorted_from_position
from local.batch_emulator.protocol.requests import Request, Response, entity_response, validate_id, write_response
from local.batch_emulator.protocol.versions import has_slot_counts
from local.batch_emulator.wire.jobs import job_renderers, task_counts
from local.batch_emulator.wire.preparation import preparation_renderers


def create_job(request: Request) -> Response:
    body = request.body
    bodies.JOB.check(body)
    name = validate_id(body["id"])
    check_values(body)
    if fold(name) in request.account.jobs:
        raise already_exists("Job")
    if fold(name) in request.account.schedules:
        raise conflict("JobScheduleWithSameIdExists", "A job schedule with the specified job id exists.")
    request.simulation.require_job_quota()
    job = request.simulation.jobs.begin(name, body)
    return write_response(request, 201, f"jobs/{job.id}", job.modified)


def list_jobs(request: Request) -> Response:
    compiled = compile_filter(request.query.get("$filter"), JOBS, comparison_key(request.settings))
    return page(
        request,
        "jobs",
        sorted_from_position(request, request.account.jobs),
        compiled.matches,
        job_renderers(request.url),
    )


def get_job(request: Request) -> Response:
    job = request.job()
    request.check(job.modified)
    return entity_response(
        request, "jobs", render_entity(job, select_renderers(request, job_renderers(request.url))), job.modified
    )


def update_job(request: Request) -> Response:
    job, body = request.job(), request.body
    request.check(job.modified)
    require_open(job)
    bodies.JOB_PATCH.check(body)
    check_values(body)
    check_change(job, body)
    return _changed(request, job, job.spec | body)


def replace_job(request: Request) -> Response:
    """Replaces a job; omitted properties get their defaults (documented), but immutable ones stay."""
    job, body = request.job(), request.body
    request.check(job.modified)
    require_open(job)
    bodies.JOB_PUT.check(body)
    check_values(body)
    check_change(job, {"onAllTasksComplete": "noaction", **body})
    kept = {name: value for name, value in job.spec.items() if name not in bodies.JOB_PUT.known}
    return _changed(request, job, kept | body)


def _changed(request: Request, job: Job, spec: Json) -> Response:
    job.spec = spec
    job.modified = max(request.now, job.modified + 1)
    request.mark_changed(job, request.account)
    request.simulation.jobs.changed(job)
    return write_response(request, 200, f"jobs/{job.id}", job.modified)


def delete_job(request: Request) -> Response:
    job = request.job()
    request.check(job.modified)
    if job.state == "deleting":
        raise conflict(*CLOSED["deleting"])
    request.simulation.jobs.delete(job)
    return Response(202)


def terminate_job(request: Request) -> Response:
    job = request.job()
    request.check(job.modified)
    bodies.TERMINATE.check(request.body)
    require_open(job)
    request.simulation.jobs.terminate(job, str(request.body.get("terminateReason") or "UserTerminate"))
    return write_response(request, 202, f"jobs/{job.id}/terminate", job.modified)


def disable_job(request: Request) -> Response:
    job = request.job()
    request.check(job.modified)
    bodies.DISABLE.check(request.body)
    option = bodies.choice(request.body, "disableTasks", "", ("requeue", "terminate", "wait"))
    require_open(job)
    if job.state in ("disabling", "disabled"):
        raise conflict("JobDisabled", "The specified job is disabled already.")
    request.simulation.jobs.disable(job, option)
    return write_response(request, 202, f"jobs/{job.id}/disable", job.modified)


def enable_job(request: Request) -> Response:
    job = request.job()
    request.check(job.modified)
    require_open(job)
    if job.state not in ("disabling", "disabled"):
        raise conflict("OperationInvalidForCurrentState", "The specified job is not disabled.")
    request.simulation.jobs.enable(job)
    return write_response(request, 202, f"jobs/{job.id}/enable", job.modified)


def get_job_task_counts(request: Request) -> Response:
    counts = request.job().task_counts.lagged(request.now, request.simulation.context.lag)
    kind = "taskcountsresult" if has_slot_counts(request.version) else "taskcounts"
    return entity_response(request, kind, task_counts(counts, request.version))


def list_job_preparation_and_release_task_status(request: Request) -> Response:
    job = request.job()
    compiled = compile_filter(request.query.get("$filter"), PREPARATIONS, comparison_key(request.settings))
    if not job.spec.get("jobPreparationTask"):
        raise conflict("JobPreparationTaskNotSpecified", "The specified job does not have a job preparation task.")
    preparation_statuses = sorted_from_position(request, job.preparation_statuses)
    kind = "jobpreparationandreleasetaskstatuslist"
    return page(request, kind, preparation_statuses, compiled.matches, preparation_renderers(request.url, job))


ACTIONS = (
    create_job,
    list_jobs,
    get_job,
    update_job,
    replace_job,
    delete_job,
    terminate_job,
    disable_job,
    enable_job,
    get_job_task_counts,
    list_job_preparation_and_release_task_status,
)
