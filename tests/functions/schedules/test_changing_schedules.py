"""Job schedules that change, and their jobs that are deleted: the reports on them, without secrets."""

import pytest
import pytest_asyncio
from azure.batch import models

from tests.emulator.support.staging import add_pool
from tests.functions.conftest import World, begin_anew
from tests.functions.support.shown_schedules import (
    MINUTE,
    add_schedule,
    now,
    polled,
    schedule,
    schedules,
    true_schedules,
)

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(loop_scope="session")
async def world(_running: World) -> World:
    """Yields an empty account that each tick polls."""
    await begin_anew(_running, poll_seconds=1)
    return _running


def delete_job(world: World, name: str) -> None:
    simulation = world.emulator.simulations["demo"]
    simulation.jobs.delete(simulation.account.jobs[name.lower()])


async def test_the_job_template_is_shown_without_secrets_and_follows_changes(world: World) -> None:
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


async def test_an_invalid_job_specification_is_reported_and_fails_nothing(world: World) -> None:
    await add_schedule(world, recurrence_interval=MINUTE)
    true_schedules(world)["Nightly"].spec["jobSpecification"]["priority"] = "high"
    world.advance(10)
    await polled(world)
    shown = await schedule(world)
    assert shown["jobSpecification"] is None
    assert shown["jobSpecificationProblem"].startswith("Its job specification makes no sense")
    assert shown["verdict"]["level"] == "exact"
    assert (await world.get("health")).body["problems"] == []


async def test_jobs_that_are_gone_are_shown_as_deleted_or_unknown(world: World) -> None:
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
