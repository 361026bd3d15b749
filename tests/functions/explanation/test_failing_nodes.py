"""Nodes on which tasks fail, through the app: a node of the emulator that spoils tasks, found by ticks."""

import json
import os
from typing import Any

import pytest
from azure.batch import models
from azure.data.tables import UpdateMode
from azure.data.tables.aio import TableClient

from tests.emulator.support.staging import add_job, add_pool, add_tasks
from tests.functions.conftest import World

pytestmark = pytest.mark.asyncio(loop_scope="session")
POOL = "spoiled"


async def pool_with_nodes(world: World) -> list[str]:
    """Adds a pool of five nodes; returns their ids."""
    await add_pool(world.batch, POOL, nodes=5, slots=4)
    world.advance(600)
    return sorted([node.id async for node in world.batch.list_nodes(POOL)])


async def with_a_bad_node(world: World, job: str) -> str:
    """Runs sound tasks on all nodes, in turns with failing ones on one alone; returns the id of that node.

    So neither their time, their position nor their ids set the failing ones apart.
    """
    bad, *others = await pool_with_nodes(world)
    await add_job(world.batch, job, pool=POOL)
    options = models.BatchNodeDisableSchedulingOptions(node_disable_scheduling_option="taskcompletion")
    for number in range(0, 110, 11):
        for sound in range(10):
            await add_tasks(world.batch, 1, job=job, command="sleep 30", prefix=f"run-{number + sound}")
        world.advance(120)
        for node in others:
            await world.batch.disable_node_scheduling(POOL, node, options)
        await fail_more(world, job, f"run-{number + 10}", 1)
        for node in others:
            await world.batch.enable_node_scheduling(POOL, node)
    return bad


async def fail_more(world: World, job: str, prefix: str, number: int) -> None:
    await add_tasks(world.batch, number, job=job, command="sleep 5; exit 3", prefix=prefix)
    world.advance(600)


async def ticks(world: World, number: int = 3) -> None:
    for _ in range(number):
        world.advance(60)
        await world.app.fire("tick")


def jobs_table() -> TableClient:
    """Returns the table of jobs, to be closed."""
    return TableClient.from_connection_string(os.environ["TELEMETRY_STORAGE"], f"{os.environ['TABLE_PREFIX']}jobs")


async def notes(world: World, path: str) -> list[dict[str, Any]]:
    """Returns the findings on failing nodes in an answer about the account."""
    answer = await world.get(f"accounts/demo/{path}")
    assert answer.status == 200, answer.body
    return [one for one in answer.body["findings"] if one["code"] == "nodeTasksFail"]


async def test_a_bad_node_is_found_within_a_few_ticks(world: World) -> None:
    bad = await with_a_bad_node(world, "found")
    await ticks(world)
    (found,) = await notes(world, "jobs/found/explanation")
    assert found["evidence"] | {"pValue": 0, "asOf": ""} == {
        "poolId": POOL, "nodeId": bad, "failedTasks": 10, "endedTasks": found["evidence"]["endedTasks"],
        "expectedFailedTasks": 0.0, "otherNodes": 4, "jobId": "found", "asOf": "", "pValue": 0,
    }  # fmt: skip
    assert found["evidence"]["pValue"] < 0.01
    assert found["severity"] == "info"
    await ticks(world, 1)  # the pool's answer shows jobs as of the last round
    assert await notes(world, f"pools/{POOL}") == [found]
    assert f"az batch node delete --pool-id={POOL} --node-list={bad}" in found["advice"]
    (compared,) = (await world.get("accounts/demo/jobs/found/comparison")).body["findings"]
    assert compared["evidence"]["pValue"] == found["evidence"]["pValue"]


async def test_no_node_is_named_where_tasks_fail_on_all_alike(world: World) -> None:
    await pool_with_nodes(world)
    await add_job(world.batch, "even", pool=POOL)
    for number in range(3):
        await add_tasks(world.batch, 20, job="even", command="sleep 30", prefix=f"good-{number}")
        await fail_more(world, "even", f"bad-{number}", 20)
    await ticks(world)
    assert await notes(world, "jobs/even/explanation") == []
    assert await notes(world, f"pools/{POOL}") == []


async def test_a_node_that_is_gone_is_not_named(world: World) -> None:
    bad = await with_a_bad_node(world, "left")
    await ticks(world)
    assert await notes(world, "jobs/left/explanation")
    await world.batch.begin_remove_nodes(POOL, models.BatchNodeRemoveOptions(node_ids=[bad]))
    world.advance(600)
    await ticks(world)
    assert await notes(world, "jobs/left/explanation") == []
    assert await notes(world, f"pools/{POOL}") == []


async def test_a_job_is_looked_at_again_once_more_tasks_failed_and_minutes_have_passed(world: World) -> None:
    await with_a_bad_node(world, "again")
    await ticks(world)
    (before,) = await notes(world, "jobs/again/explanation")
    await fail_more(world, "again", "worse", 40)  # on all nodes
    await ticks(world, 5)
    after = await notes(world, "jobs/again/explanation")
    assert [one["evidence"]["asOf"] > before["evidence"]["asOf"] for one in after] in ([], [True])


async def test_nodes_that_were_not_determined_lately_are_not_named(world: World) -> None:
    await with_a_bad_node(world, "old")
    await ticks(world)
    async with jobs_table() as table:
        row = await table.get_entity("demo", "old")
        as_of, failed, *others = json.loads(row["failingNodes"])
        older = [as_of - 3_600_000, failed - 1, *others]
        await table.update_entity({**row, "failingNodes": json.dumps(older)}, mode=UpdateMode.REPLACE)
    assert await notes(world, "jobs/old/explanation") == []
    answer = await world.get("accounts/demo/jobs/old/explanation")
    assert await notes(world, f"pools/{POOL}") == []
    assert any(one.startswith("On which nodes its tasks fail isn't known since") for one in answer.body["unknown"])
