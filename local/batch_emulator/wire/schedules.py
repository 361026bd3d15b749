"""Job schedules as JSON. Shapes follow the published examples."""

from typing import Any

from local.batch_emulator.core.stamps import etag, stamp
from local.batch_emulator.entities import Json, Schedule
from local.batch_emulator.protocol.paging import Renderers
from local.batch_emulator.wire.jobs import FIXED_DEFAULTS, constraints
from local.batch_emulator.wire.tasks import moment


def schedule_renderers(url: str) -> Renderers:
    return {
        "id": lambda schedule: schedule.id,
        "displayName": _sent("displayName"),
        "url": lambda schedule: f"{url}/jobschedules/{schedule.id}",
        "eTag": lambda schedule: etag(schedule.modified),
        "lastModified": lambda schedule: stamp(schedule.modified),
        "creationTime": lambda schedule: stamp(schedule.created),
        "state": lambda schedule: schedule.state,
        "stateTransitionTime": lambda schedule: stamp(schedule.changed),
        "previousState": lambda schedule: schedule.previous,
        "previousStateTransitionTime": lambda schedule: moment(schedule.previous_changed),
        "schedule": _sent("schedule"),
        "jobSpecification": _specification,
        "executionInfo": lambda schedule: _execution_info(schedule, url),
        "metadata": _sent("metadata"),
    }


def _sent(name: str) -> Any:
    return lambda schedule: schedule.spec.get(name)


def _specification(schedule: Schedule) -> Json:
    sent = schedule.spec["jobSpecification"]
    return {**FIXED_DEFAULTS, **sent, "constraints": constraints(sent)}


def _execution_info(schedule: Schedule, url: str) -> Json:
    info: Json = {}
    if schedule.next_run is not None and schedule.state == "active":
        info["nextRunTime"] = stamp(schedule.next_run)
    if schedule.recent:
        info["recentJob"] = {"url": f"{url}/jobs/{schedule.recent}", "id": schedule.recent}
    if schedule.ended is not None:
        info["endTime"] = stamp(schedule.ended)
    return info
