"""Job schedules for tests, and the API's view of them, compared with the emulator's own record."""

from datetime import datetime, timedelta
from typing import Any

from azure.batch import models

from local.batch_emulator.core.stamps import stamp
from local.batch_emulator.entities import Schedule
from tests.functions.conftest import World

MINUTE = timedelta(minutes=1)
COUNTS = ("active", "preparing", "running", "completed", "succeeded", "failed", "total")


async def add_schedule(world: World, name: str = "Nightly", *, seconds: float = 20, **rules: Any) -> None:
    """Adds a schedule whose jobs end with their job manager task."""
    manager = models.BatchJobManagerTask(
        id="manager",
        command_line=f"/bin/sh -c 'login --password hunter2; sleep {seconds}'",
        environment_settings=[models.EnvironmentSetting(name="MODE", value="hunter2")],
        kill_job_on_completion=True,
    )
    pool = models.BatchPoolInfo(pool_id="pool")
    options = models.BatchJobScheduleCreateOptions(
        id=name,
        schedule=models.BatchJobScheduleConfiguration(**rules),
        job_specification=models.BatchJobSpecification(pool_info=pool, job_manager_task=manager),
    )
    await world.batch.create_job_schedule(options)


async def schedules(world: World, query: str = "") -> dict[str, Any]:
    found = await world.get(f"accounts/demo/jobschedules?maxpagesize=1000{query}")
    assert found.status == 200, found.body
    return {schedule["id"]: schedule for schedule in found.body["value"]}


async def schedule(world: World, name: str = "Nightly") -> Any:
    found = await world.get(f"accounts/demo/jobschedules/{name}")
    assert found.status == 200, found.body
    return found.body


def true_schedules(world: World) -> dict[str, Schedule]:
    found = world.emulator.simulations["demo"].account.schedules
    return {schedule.id: schedule for schedule in found.values()}


async def differences(world: World) -> list[str]:
    """Returns differences between the shown schedules, runs and totals and those of the emulator."""
    shown, true = await schedules(world), true_schedules(world)
    jobs = world.emulator.truth()["accounts"]["demo"]["jobs"]
    found = [f"{name} is shown or exists alone" for name in true.keys() ^ shown.keys()]
    for name in true.keys() & shown.keys():
        ours, theirs = shown[name], true[name]
        own = [job for job_id, job in jobs.items() if job_id.startswith(f"{name}:")]
        due = theirs.next_run if theirs.state == "active" else None
        fields = {
            "state": (ours["state"], theirs.state),
            "previousState": (ours["previousState"], theirs.previous),
            "nextRunTime": (_short(ours["nextRunTime"]), _short(stamp(due)) if due is not None else None),
            "recentJob": ((ours["recentJob"] or {}).get("id"), theirs.recent or None),
            "runs": (ours["runs"]["total"], theirs.jobs_made),
            "active": (ours["totals"]["activeJobs"], sum(job["state"] != "completed" for job in own)),
            "tasks": (ours["totals"]["taskCounts"], {field: sum(job[field] for job in own) for field in COUNTS}),
            "exact": (ours["totals"]["exact"], True),
            "level": (ours["verdict"]["level"], "exact"),
        }
        found += [f"{name}.{field}: {mine} for {truth}" for field, (mine, truth) in fields.items() if mine != truth]
    return found


def _short(text: str | None) -> str | None:
    """Returns a stamp cut to the millisecond, which is our resolution."""
    return text and text.rstrip("Z").partition(".")[0] + "." + text.rstrip("Z").partition(".")[2][:3].ljust(3, "0")


def now(world: World) -> datetime:
    return datetime.fromisoformat(stamp(world.emulator.clock.now))


async def polled(world: World) -> None:
    await world.app.fire("tick")
