"""A what-if of a pool that was resized by hand, through the app: Batch's events say what happened to its runs."""

import os

import pytest
from azure.batch import models

from local.azurite import StorageAddresses
from local.batch_emulator.exports.log_writer import LogWriter
from tests.emulator.support.staging import add_job, add_pool, add_tasks
from tests.functions.conftest import World

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_runs_on_nodes_that_leave_go_on_where_an_event_says_so(world: World, azurite: StorageAddresses) -> None:
    await world.poll()
    world.advance(9 * 86_400)
    await add_pool(world.batch, "shrunk-late", nodes=2, size="standard_d4s_v5", slots=1)
    await add_job(world.batch, "shrunk-late", pool="shrunk-late")
    await add_tasks(world.batch, 2, job="shrunk-late", command="sleep 1800", prefix="frame")
    resize = models.BatchPoolResizeOptions(target_dedicated_nodes=1, node_deallocation_option="taskcompletion")
    name = os.environ["RESOURCE_LOG_CONTAINER"]
    async with LogWriter(world.emulator, azurite.connection_string, name) as writer:
        for minute in range(0, 60, 2):
            if minute == 10:
                await world.batch.begin_resize_pool("shrunk-late", resize)
            world.advance(120)
            await writer.flush()
            await world.app.fire("tick")
    answer = (await world.get("accounts/demo/pools/shrunk-late/whatif")).body
    was = answer["asItWas"]
    assert (was["lostRuns"], was["unfinishedTasks"]) == (0, 0)
    assert was["nodeSeconds"]["expected"] == pytest.approx(answer["seen"]["nodeSeconds"], rel=0.1)
    text = "Where recorded targets fall, runs on nodes that leave go on, end or are requeued, as is recorded."
    assert text in answer["assumptions"]
