"""A job that loses much of its work on spot nodes, through the app: as the emulator preempts them and logs it."""

import os

import pytest
from azure.storage.blob.aio import ContainerClient

from local.azurite import StorageAddresses
from local.batch_emulator.core.stamps import SECOND, stamp
from local.batch_emulator.exports.log_writer import LogWriter
from local.batch_emulator.http.usage import usage
from tests.emulator.support.staging import add_job, add_pool, add_tasks
from tests.functions.conftest import World
from tests.functions.efficiency.measured_world import polled_tasks, written

pytestmark = pytest.mark.asyncio(loop_scope="session")
_DAY = 86_400 * SECOND


async def test_work_lost_on_spot_nodes_is_named_with_its_share(
    world: World, container: ContainerClient, azurite: StorageAddresses, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.app.fire("tick")
    world.advance((_DAY - world.emulator.clock.now % _DAY) / SECOND + 2 * 3600)
    await world.app.fire("tick")
    await add_pool(world.batch, "spotty", nodes=0, spot=4, size="standard_d4s_v5", slots=1)
    await add_job(world.batch, "taken", pool="spotty")
    await add_tasks(world.batch, 12, job="taken", command="sleep 900", prefix="frame")
    name = os.environ["RESOURCE_LOG_CONTAINER"]
    async with LogWriter(world.emulator, azurite.connection_string, name) as writer:
        for mean_life in [300.0] * 40 + [0.0] * 45:
            monkeypatch.setattr(world.emulator.settings, "preemptionSeconds", mean_life)
            world.advance(120)
            await writer.flush()
            await world.app.fire("tick")
    await world.app.fire("housekeeping")
    tasks = await polled_tasks(world, "taken")
    await written(world, container, "taken", tasks, cores=3.9, memory=12.0, seconds=900)
    answer = (await world.get("accounts/demo/jobs/taken/efficiency")).body
    (found,) = answer["findings"]
    since = stamp(world.emulator.clock.now - world.emulator.clock.now % _DAY)
    rows = usage(world.emulator, {"from": since, "account": "demo"})["accounts"]["demo"]["slots"]
    held = sum(row["runningSeconds"] for row in rows if row["job"] == "taken")
    lost = held - 12 * 900
    assert lost > 0.3 * held
    assert found["code"] == "spotLosesWork"
    assert found["evidence"]["interruptedShare"] == pytest.approx(100 * lost / held, abs=2)
