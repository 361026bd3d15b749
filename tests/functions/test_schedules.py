"""Job schedules from Batch to the API: states, runs, missed runs and totals equal the emulator's own record."""

from collections import Counter
from datetime import datetime, timedelta
from typing import Any

import pytest
import pytest_asyncio
from azure.batch import models

from local.batch_emulator.durations import seconds_of
from local.batch_emulator.entities import Schedule
from local.batch_emulator.injection import Fault
from local.batch_emulator.stamps import LATEST, stamp, ticks
from tests.emulator.staging import add_job, add_pool
from tests.functions.conftest import World, begin_anew

pytestmark = pytest.mark.asyncio(loop_scope="session")
MINUTE = timedelta(minutes=1)
COUNTS = ("active", "preparing", "running", "completed", "succeeded", "failed", "total")


@pytest_asyncio.fixture(loop_scope="session")
async def world(_running: World) -> World:
    """An empty account that each tick polls."""
    await begin_anew(_running, poll_seconds=1)
    return _running


async def add_schedule(world: World, name: str = "Nightly", *, seconds: float = 20, **rules: Any) -> None:
    """A schedule whose jobs end with the one task that each begins with."""
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


def delete_job(world: World, name: str) -> None:
    simulation = world.emulator.simulations["demo"]
    simulation.jobs.delete(simulation.account.jobs[name.lower()])


async def differences(world: World) -> list[str]:
    """Where schedules, their runs and their totals aren't what the emulator has now."""
    shown, true = await schedules(world), true_schedules(world)
    jobs = world.emulator.truth()["accounts"]["demo"]["jobs"]
    found = [f"{name} is shown or exists alone" for name in true.keys() ^ shown.keys()]
    for name in true.keys() & shown.keys():
        ours, theirs = shown[name], true[name]
        own = [job for job_id, job in jobs.items() if job_id.startswith(f"{name}:")]
        due = theirs.next_run if theirs.state == "active" else None
        told = {
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
        found += [f"{name}.{field}: {mine} for {truth}" for field, (mine, truth) in told.items() if mine != truth]
    return found


def _short(text: str | None) -> str | None:
    """A stamp to the millisecond, which is as far as ours go."""
    return text and text.rstrip("Z").partition(".")[0] + "." + text.rstrip("Z").partition(".")[2][:3].ljust(3, "0")


def now(world: World) -> datetime:
    return datetime.fromisoformat(stamp(world.emulator.clock.now))


async def polled(world: World) -> None:
    await world.app.fire("tick")


class Turns:
    """Turns of schedules as they pass in the emulator, second by second: each is taken, waits, or is lost."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.missed: Counter[str] = Counter()

    def advance(self, seconds: int) -> None:
        for _ in range(seconds):
            before = {name: self._at(true) for name, true in true_schedules(self.world).items()}
            self.world.advance(1)
            for name, true in true_schedules(self.world).items():
                (due, made, waited), (next_due, made_now, waits) = before[name], self._at(true)
                self.missed[name] += waited + (due != next_due) - (made_now - made) - waits

    def _at(self, true: Schedule) -> tuple[int | None, int, bool]:
        """When the next turn comes, how many were taken, and whether one waits that isn't lost yet."""
        window = true.spec.get("schedule", {}).get("startWindow")
        last = ticks(seconds_of(window)) if window else LATEST
        return true.next_run, true.jobs_made, true.due is not None and self.world.emulator.clock.now - true.due <= last


async def test_schedules_equal_the_emulators_record_while_their_jobs_run(world: World) -> None:
    await add_pool(world.batch, nodes=4)
    world.advance(120)
    turns = Turns(world)
    await add_schedule(world, "Nightly", recurrence_interval=MINUTE)
    await add_schedule(world, "Slow", seconds=130, recurrence_interval=MINUTE)
    await add_schedule(world, "Strict", seconds=200, recurrence_interval=2 * MINUTE, start_window=MINUTE)
    await add_schedule(world, "Once")
    await add_schedule(world, "Later", do_not_run_until=now(world) + timedelta(hours=2))
    for _ in range(16):
        turns.advance(47)
        await polled(world)
        await polled(world)
        assert await differences(world) == []
        shown = await schedules(world)
        assert {name: shown[name]["missedRuns"]["count"] for name in shown} == {
            name: turns.missed[name] for name in shown
        }
    for name, line in shown.items():
        alone = await schedule(world, name)
        assert {field: alone[field] for field in line} == line
    assert turns.missed["Slow"] > 5
    assert turns.missed["Strict"] > 1
    assert shown["Later"]["runs"]["total"] == 0
    assert shown["Once"]["state"] == "completed"


async def test_faults_make_schedules_stale_and_the_next_good_poll_right(world: World) -> None:
    await add_pool(world.batch, nodes=4)
    await add_schedule(world, "Nightly", recurrence_interval=MINUTE)
    for fault in (
        Fault(path="/jobschedules", status=500),
        Fault(path="/jobschedules", reset=True),
        Fault(path="/jobschedules", truncate=True),
        Fault(path="/jobschedules", status=403),
        Fault(path="/jobschedules", status=429, retryAfter=1),
    ):
        world.advance(47)
        await polled(world)
        await polled(world)
        assert await differences(world) == []
        world.advance(5)
        world.emulator.faults.all.append(fault)
        await polled(world)
        verdict = (await schedules(world))["Nightly"]["verdict"]
        assert verdict["level"] == "stale", fault
        assert verdict["reason"].startswith("The last poll failed: http"), fault
        account = (await world.get("accounts/demo")).body
        assert account["lastRound"]["outcome"] == "succeeded"
        assert verdict["reason"] == f"The last poll failed: {account['schedulesReason']}"
        health = (await world.get("health")).body
        assert [problem[:20] for problem in health["problems"]] == ["demo, job schedules:"]
        assert 'azbatch_collector_schedules_up{account="demo"} 0.0' in (await world.get("metrics")).body
        world.emulator.faults.all.clear()
    world.advance(47)
    await polled(world)
    await polled(world)
    assert await differences(world) == []
    assert (await world.get("accounts/demo")).body["schedulesReason"] is None


async def test_failing_jobs_and_pools_do_not_hinder_schedules(world: World) -> None:
    await add_pool(world.batch)
    await add_schedule(world, recurrence_interval=MINUTE)
    await polled(world)
    world.advance(100)
    world.emulator.faults.all += [Fault(path="/jobs", status=500), Fault(path="/pools", status=500)]
    await polled(world)
    shown = (await schedules(world))["Nightly"]
    assert (shown["verdict"]["level"], shown["runs"]["total"]) == ("exact", 2)
    assert shown["recentJob"] == {"id": "Nightly:job-2", "state": None, "deleted": False}
    assert shown["lastRunTime"] is None
    assert (shown["totals"]["unknownJobs"], shown["totals"]["exact"]) == (2, False)
    assert shown["missedRuns"]["count"] == 0


async def test_throttled_schedules_leave_the_whole_account_alone_for_a_while(world: World) -> None:
    await add_pool(world.batch)
    await add_schedule(world, recurrence_interval=MINUTE)
    await polled(world)
    world.advance(10)
    world.emulator.faults.all.append(Fault(path="/jobschedules", status=503, retryAfter=300))
    await polled(world)
    world.emulator.faults.all.clear()
    world.emulator.counters.clear()
    world.advance(200)
    await polled(world)
    assert world.emulator.counters == {}
    world.advance(120)
    await polled(world)
    assert (await schedules(world))["Nightly"]["verdict"]["level"] == "exact"


async def test_what_jobs_are_to_be_like_is_told_without_secrets_and_follows_changes(world: World) -> None:
    await add_pool(world.batch)
    await add_schedule(world, recurrence_interval=MINUTE)
    await polled(world)
    shown = await schedule(world)
    task = shown["jobSpecification"]["jobManagerTask"]
    assert task["commandLine"].startswith("/bin/sh -c 'login --password [redacted]")
    assert task["environmentSettings"] == [{"name": "MODE", "value": "[redacted]"}]
    assert "hunter2" not in str(shown)
    assert "jobSpecification" not in (await schedules(world))["Nightly"]
    world.emulator.counters.clear()
    world.advance(10)
    await polled(world)
    assert world.emulator.counters["GET /jobschedules"]["requests"] == 1
    specification = models.BatchJobSpecification(
        pool_info=models.BatchPoolInfo(pool_id="pool"),
        priority=7,
        metadata=[models.BatchMetadataItem(name="owner", value="hunter2")],
        network_configuration=models.BatchJobNetworkConfiguration(subnet_id="/s", skip_withdraw_from_vnet=False),
    )
    world.advance(1)
    update = models.BatchJobScheduleUpdateOptions(job_specification=specification)
    await world.batch.update_job_schedule("Nightly", update)
    world.advance(1)
    await polled(world)
    shown = await schedule(world, "nIGHTLY")
    assert shown["jobSpecification"]["priority"] == 7
    assert shown["jobSpecification"]["metadata"] == [{"name": "owner", "value": "[redacted]"}]
    assert shown["omittedProperties"] == ["networkConfiguration"]
    assert shown["jobSpecificationProblem"] is None
    assert (shown["missedRuns"]["count"], shown["missedRuns"]["since"]) == (0, None)
    due = shown["nextRunTime"]
    world.advance(60)
    await polled(world)
    assert (await schedule(world))["missedRuns"]["since"] == due


async def test_a_specification_that_makes_no_sense_is_told_as_that_and_fails_nothing(world: World) -> None:
    await add_schedule(world, recurrence_interval=MINUTE)
    true_schedules(world)["Nightly"].spec["jobSpecification"]["priority"] = "high"
    world.advance(10)
    await polled(world)
    shown = await schedule(world)
    assert shown["jobSpecification"] is None
    assert shown["jobSpecificationProblem"].startswith("Its job specification makes no sense")
    assert shown["verdict"]["level"] == "exact"
    assert (await world.get("health")).body["problems"] == []


async def test_jobs_that_are_gone_are_told_as_deleted_or_as_unknown(world: World) -> None:
    await add_pool(world.batch)
    await add_schedule(world, seconds=5, recurrence_interval=2 * MINUTE)
    world.advance(60)
    delete_job(world, "Nightly:job-1")
    world.advance(70)
    await polled(world)
    await polled(world)
    shown = await schedule(world)
    assert shown["recentJob"] == {"id": "Nightly:job-2", "state": shown["recentJobs"][0]["state"], "deleted": False}
    assert (shown["totals"]["unknownJobs"], shown["totals"]["exact"]) == (1, False)
    delete_job(world, "Nightly:job-2")
    world.advance(20)
    assert (await world.poll()).body["status"] == "succeeded"
    shown = await schedule(world)
    assert shown["recentJob"] == {"id": "Nightly:job-2", "state": None, "deleted": True}
    assert shown["runs"] == {"total": 2, "active": 0, "completed": 0, "deleted": 1}


async def test_a_deleted_schedule_keeps_a_summary_until_its_time_is_over(world: World) -> None:
    await add_pool(world.batch)
    await add_schedule(world, recurrence_interval=MINUTE)
    world.advance(90)
    await polled(world)
    before = (await schedule(world))["deletedTime"]
    await world.batch.begin_delete_job_schedule("Nightly")
    world.advance(60)
    await polled(world)
    assert await schedules(world) == {}
    shown = (await schedules(world, "&includeDeleted=true"))["Nightly"]
    assert (shown["deleted"], shown["verdict"]["level"], shown["nextRunTime"]) == (True, "unverified", None)
    assert (before, shown["deletedTime"]) == (None, f"{now(world):%Y-%m-%dT%H:%M:%SZ}")
    assert (shown["runs"]["total"], shown["missedRuns"]["count"]) == (2, 0)
    assert 'schedule="Nightly"' not in (await world.get("metrics")).body
    await world.app.fire("housekeeping")
    assert (await schedule(world))["deleted"]
    world.advance(31 * 86_400)
    await world.app.fire("housekeeping")
    assert (await world.get("accounts/demo/jobschedules/Nightly")).status == 404


async def test_a_schedule_that_is_made_anew_has_only_its_own_jobs(world: World) -> None:
    await add_pool(world.batch)
    await add_schedule(world, recurrence_interval=MINUTE)
    world.advance(200)
    await polled(world)
    assert (await schedule(world))["runs"]["total"] == 4
    await world.batch.begin_delete_job_schedule("Nightly")
    world.advance(60)
    await add_schedule(world, recurrence_interval=MINUTE)
    world.advance(30)
    await polled(world)
    shown = await schedule(world)
    assert shown["runs"] == {"total": 1, "active": 0, "completed": 1, "deleted": 0}
    assert [job["id"] for job in shown["recentJobs"]] == ["Nightly:job-1"]
    assert shown["missedRuns"]["count"] == 0


async def test_a_disabled_schedule_keeps_its_last_count_and_an_enabled_one_counts_anew(world: World) -> None:
    await add_pool(world.batch)
    await add_schedule(world, "Slow", seconds=130, recurrence_interval=MINUTE)
    world.advance(400)
    await polled(world)
    await polled(world)
    before = (await schedule(world, "Slow"))["missedRuns"]
    assert before["count"]
    await world.batch.disable_job_schedule("Slow")
    world.advance(600)
    await polled(world)
    shown = await schedule(world, "Slow")
    assert (shown["state"], shown["previousState"], shown["nextRunTime"]) == ("disabled", "active", None)
    assert shown["missedRuns"] == before
    await world.batch.enable_job_schedule("Slow")
    world.advance(1)
    await polled(world)
    after = await schedule(world, "Slow")
    assert (after["missedRuns"]["count"], after["missedRuns"]["since"]) == (0, None)


async def test_schedules_are_filtered_paged_and_given_as_a_table(world: World) -> None:
    await add_pool(world.batch)
    for name in ("Alpha", "Beta", "Gamma"):
        await add_schedule(world, name, recurrence_interval=timedelta(hours=1))
    await world.batch.disable_job_schedule("Gamma")
    world.advance(30)
    await polled(world)
    assert (await schedules(world, "&state=disabled")).keys() == {"Gamma"}
    assert (await schedules(world, "&prefix=bE")).keys() == {"Beta"}
    told = (await world.get("accounts/demo")).body["schedules"]
    as_of = f"{now(world):%Y-%m-%dT%H:%M:%SZ}"
    assert told == {"total": 3, "byState": {"active": 2, "disabled": 1}, "asOf": as_of}
    first = await world.get("accounts/demo/jobschedules?maxpagesize=2")
    assert [found["id"] for found in first.body["value"]] == ["Alpha", "Beta"]
    rest = await world.get(first.body["nextLink"].partition("/api/")[2])
    assert [found["id"] for found in rest.body["value"]] == ["Gamma"]
    again = await world.get("accounts/demo/jobschedules?maxpagesize=2", if_none_match=first.headers["etag"])
    assert again.status == 304
    table = (await world.get("accounts/demo/jobschedules?format=csv")).body.splitlines()
    assert len(table) == 4
    assert table[0].startswith("id,account,displayName,state,previousState,")
    assert (await world.get("accounts/demo/jobschedules?state=running")).status == 400
    assert (await world.get("accounts/demo/jobschedules?pool=x")).status == 400
    missing = await world.get("accounts/demo/jobschedules/Delta")
    assert (missing.status, missing.body["error"]["code"]) == (404, "ScheduleNotFound")
    metrics = (await world.get("metrics")).body
    assert 'azbatch_schedules{account="demo",state="active"} 2.0' in metrics
    assert 'azbatch_schedule_runs{account="demo",schedule="Alpha"} 1.0' in metrics


async def test_an_account_without_schedules_costs_no_request_until_a_job_of_one_shows_up(world: World) -> None:
    await add_pool(world.batch, nodes=0)
    await add_job(world.batch)
    await polled(world)
    world.emulator.counters.clear()
    for _ in range(5):
        world.advance(60)
        await polled(world)
    assert "GET /jobschedules" not in world.emulator.counters
    await add_schedule(world, recurrence_interval=MINUTE)
    world.advance(60)
    await polled(world)
    assert (await schedules(world)).keys() == {"Nightly"}
