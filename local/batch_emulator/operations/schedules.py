"""Operations on job schedules."""

from local.batch_emulator.core.collation import comparison_key, fold
from local.batch_emulator.core.errors import conflict, invalid_property
from local.batch_emulator.core.stamps import parse_stamp
from local.batch_emulator.entities import Json, Schedule
from local.batch_emulator.filtering.filter_rows import JOBS_OF_SCHEDULE, SCHEDULES
from local.batch_emulator.filtering.filters import compile_filter
from local.batch_emulator.protocol import bodies
from local.batch_emulator.protocol.job_rules import check_values
from local.batch_emulator.protocol.paging import page, render_entity, select_renderers, sorted_from_position
from local.batch_emulator.protocol.requests import (
    Request,
    Response,
    entity_response,
    etag_headers,
    nested,
    require_found,
    validate_id,
    write_response,
)
from local.batch_emulator.wire.jobs import job_renderers
from local.batch_emulator.wire.schedules import schedule_renderers

_MIN_SECONDS = 60
_CLOSED = {
    "terminating": ("JobScheduleBeingTerminated", "The specified job schedule is being terminated."),
    "completed": ("JobScheduleCompleted", "The specified job schedule is already in completed state."),
    "deleting": ("JobScheduleBeingDeleted", "The specified job schedule is being deleted."),
}


def create_job_schedule(request: Request) -> Response:
    body = request.body
    bodies.SCHEDULE.check(body)
    name = validate_id(body["id"])
    _check_values(body)
    if fold(name) in request.account.schedules:
        raise conflict("JobScheduleExists", "The specified job schedule already exists.")
    if fold(name) in request.account.jobs:
        raise conflict("JobWithSameIdExists", "A job with the specified job schedule id exists.")
    request.simulation.require_job_quota()
    now = request.now
    schedule = Schedule(name, fold(name), request.simulation.next_number(), body, now, now, now)
    request.account.schedules[schedule.key] = schedule
    request.simulation.schedules.plan(schedule)
    return write_response(request, 201, f"jobschedules/{schedule.id}", schedule.modified)


def list_job_schedules(request: Request) -> Response:
    filter_ = compile_filter(request.query.get("$filter"), SCHEDULES, comparison_key(request.settings))
    schedules = sorted_from_position(request, request.account.schedules)
    return page(request, "jobschedules", schedules, filter_.matches, schedule_renderers(request.url))


def get_job_schedule(request: Request) -> Response:
    schedule = _schedule(request)
    body = render_entity(schedule, select_renderers(request, schedule_renderers(request.url)))
    return entity_response(request, "jobschedules", body, schedule.modified)


def job_schedule_exists(request: Request) -> Response:
    return Response(200, None, etag_headers(_schedule(request).modified))


def list_jobs_from_schedule(request: Request) -> Response:
    schedule = _schedule(request)
    filter_ = compile_filter(request.query.get("$filter"), JOBS_OF_SCHEDULE, comparison_key(request.settings))
    jobs = {key: job for key, job in request.account.jobs.items() if job.schedule is schedule}
    return page(request, "jobs", sorted_from_position(request, jobs), filter_.matches, job_renderers(request.url))


def update_job_schedule(request: Request) -> Response:
    """Changes the specification of future jobs (documented: existing ones stay unchanged)."""
    schedule, body = _require_open(request), request.body
    bodies.SCHEDULE_PATCH.check(body)
    _check_values(body)
    schedule.spec |= body
    return _changed(request, schedule)


def replace_job_schedule(request: Request) -> Response:
    schedule, body = _require_open(request), request.body
    bodies.SCHEDULE_PUT.check(body)
    _check_values(body)
    kept: Json = {name: schedule.spec[name] for name in ("id", "displayName") if name in schedule.spec}
    schedule.spec = {**kept, **body}
    return _changed(request, schedule)


def disable_job_schedule(request: Request) -> Response:
    schedule = _require_open(request)
    if schedule.state == "disabled":
        raise conflict("JobScheduleDisabled", "The specified job schedule is disabled.")
    request.simulation.schedules.disable(schedule)
    return write_response(request, 204, f"jobschedules/{schedule.id}/disable", schedule.modified)


def enable_job_schedule(request: Request) -> Response:
    schedule = _require_open(request)
    if schedule.state != "disabled":
        raise conflict("OperationInvalidForCurrentState", "The specified job schedule is not disabled.")
    request.simulation.schedules.enable(schedule)
    return write_response(request, 204, f"jobschedules/{schedule.id}/enable", schedule.modified)


def terminate_job_schedule(request: Request) -> Response:
    schedule = _require_open(request)
    request.simulation.schedules.terminate(schedule)
    return write_response(request, 202, f"jobschedules/{schedule.id}/terminate", schedule.modified)


def delete_job_schedule(request: Request) -> Response:
    schedule = _schedule(request)
    if schedule.state == "deleting":
        raise conflict(*_CLOSED["deleting"])
    request.simulation.schedules.delete(schedule)
    return Response(202)


def _schedule(request: Request) -> Schedule:
    """Returns the requested schedule if the conditional headers hold. Raises BatchError."""
    schedule = require_found(request.account.schedules.get(fold(request.ids["jobScheduleId"])), "JobSchedule")
    request.check(schedule.modified)
    return schedule


def _require_open(request: Request) -> Schedule:
    schedule = _schedule(request)
    if schedule.state in _CLOSED:
        raise conflict(*_CLOSED[schedule.state])
    return schedule


def _changed(request: Request, schedule: Schedule) -> Response:
    schedule.modified = max(request.now, schedule.modified + 1)
    request.mark_changed(schedule, request.account)
    if schedule.state == "active" and "schedule" in request.body:
        request.simulation.schedules.plan(schedule)
    return write_response(request, 200, f"jobschedules/{schedule.id}", schedule.modified)


def _check_values(body: bodies.Body) -> None:
    rules = nested(body, "schedule")
    bodies.SCHEDULE_RULES.check(rules)
    for name in ("startWindow", "recurrenceInterval"):
        bodies.duration(rules, name, minimum=_MIN_SECONDS)
    for name in ("doNotRunUntil", "doNotRunAfter"):
        _check_moment(rules, name)
    if "jobSpecification" in body:
        specification = nested(body, "jobSpecification")
        bodies.SPECIFICATION.check(specification)
        check_values(specification)


def _check_moment(rules: bodies.Body, name: str) -> None:
    try:
        parse_stamp(str(rules.get(name, "2000-01-01")))
    except ValueError as error:
        raise invalid_property(name, rules[name], str(error)) from None


ACTIONS = (
    create_job_schedule,
    list_job_schedules,
    get_job_schedule,
    job_schedule_exists,
    list_jobs_from_schedule,
    update_job_schedule,
    replace_job_schedule,
    disable_job_schedule,
    enable_job_schedule,
    terminate_job_schedule,
    delete_job_schedule,
)
