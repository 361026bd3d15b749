"""From Batch to the API: counts equal the truth, with the right confidence."""

import os
from typing import Any

import pytest
from azure.data.tables.aio import TableServiceClient

from local.azurite import StorageAddresses
from local.batch_emulator.core.injection import Fault
from tests.emulator.support.staging import add_job, add_pool, add_tasks
from tests.functions.conftest import World

pytestmark = pytest.mark.asyncio(loop_scope="session")
_FIELDS = ("active", "preparing", "running", "completed", "succeeded", "failed", "total")


def _differences(world: World, shown: dict[str, Any]) -> list[str]:
    truth = world.emulator.truth()["accounts"]["demo"]["jobs"]
    differences = [f"{job} is shown or exists alone" for job in truth.keys() ^ shown.keys()]
    for job in truth.keys() & shown.keys():
        differences += [
            f"{job}.{field}: {shown[job]['taskCounts'][field]} for {truth[job][field]}"
            for field in _FIELDS
            if shown[job]["taskCounts"][field] != truth[job][field]
        ]
    return differences


async def test_counts_equal_the_truth_at_every_step_of_a_job(world: World) -> None:
    await add_pool(world.batch, nodes=4)
    await add_job(world.batch, ends=True)
    await add_tasks(world.batch, 230, command="sleep 9; exit 0")
    await add_tasks(world.batch, 20, command="sleep 3; exit 5", prefix="broken")
    for _ in range(40):
        assert (await world.poll()).body["status"] == "succeeded"
        shown = await world.jobs()
        assert _differences(world, shown) == []
        assert shown["job"]["verdict"]["level"] == "exact"
        world.advance(13)
    assert shown["job"]["state"] == "completed"
    assert (shown["job"]["taskCounts"]["succeeded"], shown["job"]["taskCounts"]["failed"]) == (230, 20)


async def test_a_poll_reads_only_changed_tasks(world: World) -> None:
    await add_pool(world.batch)
    await add_job(world.batch)
    await add_tasks(world.batch, 2500, command="sleep 30")
    await world.poll()
    world.advance(100)
    await world.poll()
    before = dict(world.emulator.task_lists["/jobs/job/tasks"])
    world.advance(100)
    await world.poll()
    after = world.emulator.task_lists["/jobs/job/tasks"]
    assert after["requests"] - before["requests"] == 1
    assert after["items"] - before["items"] < 60


async def test_a_poll_on_demand_of_a_quiet_job_costs_a_delta_and_a_count(world: World) -> None:
    await add_job(world.batch)
    await add_tasks(world.batch, 50)
    await world.poll()
    world.advance(60)
    await world.poll()
    world.emulator.counters.clear()
    world.advance(60)
    await world.poll()
    assert {route: found["requests"] for route, found in world.emulator.counters.items()} == {
        "GET /jobs": 1,
        "GET /jobs/{jobId}/tasks": 1,
        "GET /jobs/{jobId}/taskcounts": 1,
        "GET /pools": 1,
        "GET /jobschedules": 1,
    }
    verdict = (await world.jobs())["job"]["verdict"]
    assert (verdict["level"], verdict["source"]) == ("exact", "delta")


async def test_ticks_ask_a_quiet_job_one_thing_each_and_leave_its_rows_alone(
    world: World, azurite: StorageAddresses
) -> None:
    await add_job(world.batch)
    await add_tasks(world.batch, 50)
    for _ in range(4):
        await world.app.fire("tick")
        world.advance(61)
    before = await _stored(azurite)
    asked = []
    for _ in range(4):
        world.emulator.counters.clear()
        await world.app.fire("tick")
        routes = {route: found["requests"] for route, found in world.emulator.counters.items()}
        assert (routes.pop("GET /jobs"), routes.pop("GET /pools")) == (1, 1)
        asked.append(routes)
        world.advance(61)
    delta, counts = {"GET /jobs/{jobId}/tasks": 1}, {"GET /jobs/{jobId}/taskcounts": 1}
    explained = {"GET /jobs/{jobId}": 1, "GET /pools/{poolId}": 1}  # once in five minutes, as its tasks wait
    assert sum(explained.items() <= routes.items() for routes in asked) == 1
    asked = [dict(routes.items() - explained.items()) for routes in asked]
    assert asked in ([delta, counts] * 2, [counts, delta] * 2)
    assert await _stored(azurite) == before
    verdict = (await world.jobs())["job"]["verdict"]
    assert verdict["level"] == "exact"
    assert verdict["asOf"] <= verdict["checkedAt"]


async def _stored(azurite: StorageAddresses) -> dict[str, str | None]:
    """Returns the ETags of all rows about jobs and their tasks."""
    service = TableServiceClient.from_connection_string(azurite.connection_string)
    found = {}
    async with service:
        for name in ("jobs", "tasks"):
            table = service.get_table_client(os.environ["TABLE_PREFIX"] + name)
            async for row in table.list_entities(select=["PartitionKey", "RowKey"]):
                found[f"{name} {row['PartitionKey']} {row['RowKey']}"] = row.metadata["etag"]
    return found


async def test_a_job_that_is_deleted_leaves_the_list_but_keeps_its_counts(world: World) -> None:
    await add_job(world.batch)
    await add_tasks(world.batch, 5)
    await world.poll()
    await world.batch._delete_job_internal("job")
    world.advance(10)
    await world.poll()
    assert await world.jobs() == {}
    kept = (await world.get("accounts/demo/jobs/job")).body
    assert kept["deleted"] is True
    assert kept["taskCounts"]["total"] == 5


async def test_a_job_recreated_under_its_id_is_read_anew(world: World) -> None:
    await add_job(world.batch)
    await add_tasks(world.batch, 9)
    await world.poll()
    await world.batch._delete_job_internal("job")
    world.advance(10)
    await add_job(world.batch, "JOB")
    await add_tasks(world.batch, 3, job="JOB")
    await world.poll()
    shown = await world.jobs()
    assert _differences(world, shown) == []
    assert shown["JOB"]["taskCounts"]["total"] == 3


async def test_odd_lists_and_a_lagging_count_change_no_number(world: World) -> None:
    knobs = world.emulator.settings
    knobs.emptyPageEvery, knobs.pageSize, knobs.unorderedLists, knobs.countLagSeconds = 2, 17, True, 45.0
    await add_pool(world.batch, nodes=3)
    await add_job(world.batch)
    await add_tasks(world.batch, 150, command="sleep 5")
    for _ in range(10):
        await world.poll()
        assert _differences(world, await world.jobs()) == []
        world.advance(11)


async def test_throttling_makes_counts_stale_and_says_when_it_goes_on(world: World) -> None:
    await add_job(world.batch)
    await add_tasks(world.batch, 5)
    await world.poll()
    world.advance(60)
    world.emulator.faults.all.append(Fault(status=429, retryAfter=90))
    done = (await world.poll()).body
    assert done["status"] == "failed"
    assert "throttling" in done["reasons"][0]["message"]
    verdict = (await world.jobs())["job"]["verdict"]
    assert verdict["level"] == "stale"
    assert "90 s" in verdict["reason"]
    world.emulator.faults.all.clear()
    world.advance(100)
    await world.app.fire("tick")
    assert (await world.jobs())["job"]["verdict"]["level"] == "exact"


async def test_a_missing_role_is_named_and_one_bad_job_spoils_nothing_else(world: World) -> None:
    for job in ("good", "bad"):
        await add_job(world.batch, job)
        await add_tasks(world.batch, 5, job=job)
    await world.poll()
    world.advance(60)
    world.emulator.faults.all.append(Fault(path="/jobs/bad/*", status=403))
    done = (await world.poll()).body
    assert [reason["job"] for reason in done["reasons"]] == ["bad"]
    assert "403" in done["reasons"][0]["message"]
    jobs = await world.jobs()
    assert jobs["bad"]["verdict"]["level"] == "stale"
    assert jobs["good"]["verdict"]["level"] == "exact"


async def test_a_tick_polls_when_the_interval_has_passed_and_not_before(world: World) -> None:
    await add_job(world.batch)
    await world.app.fire("tick")
    first = (await world.get("accounts/demo")).body["lastRound"]["startedAt"]
    world.advance(20)
    await world.app.fire("tick")
    assert (await world.get("accounts/demo")).body["lastRound"]["startedAt"] == first
    world.advance(40)
    await world.app.fire("tick")
    assert (await world.get("accounts/demo")).body["lastRound"]["startedAt"] > first


async def test_deleted_tasks_leave_the_counts_and_their_generation_the_storage(world: World) -> None:
    await add_job(world.batch)
    await add_tasks(world.batch, 9)
    await world.poll()
    await world.batch.delete_task("job", "task-00003")
    levels = []
    for _ in range(3):
        world.advance(60)
        await world.poll()
        levels.append((await world.jobs())["job"]["verdict"]["level"])
    assert levels == ["unverified", "exact", "exact"]
    assert _differences(world, await world.jobs()) == []
    world.advance(7200)
    await world.app.fire("housekeeping")
    await world.poll()
    tasks = await world.get("accounts/demo/jobs/job/tasks")
    assert len(tasks.body["value"]) == 8


async def test_a_repair_lists_live_tasks_and_looks_up_the_missing_ones(world: World) -> None:
    await add_pool(world.batch, nodes=40)
    await add_job(world.batch)
    await add_tasks(world.batch, 2300, command="sleep 1")
    world.advance(4000)
    await add_tasks(world.batch, 40, command="sleep 100000", prefix="long")
    world.advance(60)
    await world.poll()
    shown = (await world.jobs())["job"]["taskCounts"]
    assert (shown["completed"], shown["running"]) == (2300, 40)
    await world.batch.delete_task("job", "long-00003")
    world.advance(60)
    await world.poll()
    world.emulator.counters.clear()
    world.advance(60)
    await world.poll()
    assert world.emulator.counters["GET /jobs/{jobId}/tasks/{taskId}"]["requests"] == 1
    assert _differences(world, await world.jobs()) == []
    assert (await world.jobs())["job"]["verdict"]["source"] == "fullRead"
