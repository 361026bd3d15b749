"""A job that was deleted and created anew under its id: advice on the one before isn't advice on the new one."""

from typing import Any

import pytest
from azure.batch import models
from azure.storage.blob.aio import ContainerClient

from local.batch_emulator.core.stamps import SECOND, stamp
from tests.emulator.support.staging import add_tasks
from tests.functions.conftest import World
from tests.functions.efficiency.measured_world import polled_tasks, written
from tests.functions.support.priced_pools import add_priced_pool

pytestmark = pytest.mark.asyncio(loop_scope="session")
_DAY = 86_400 * SECOND
_JOB = "nightly-1"


async def _run(world: World, container: ContainerClient, blob: str, *, cores: float, memory: float) -> None:
    """Runs and measures the job for an hour."""
    where = models.BatchPoolInfo(pool_id="anew")
    await world.batch.create_job(models.BatchJobCreateOptions(id=_JOB, pool_info=where))
    await add_tasks(world.batch, 20, job=_JOB, command="sleep 600", prefix="frame")
    for _ in range(30):
        world.advance(180)
        await world.app.fire("tick")
    tasks = await polled_tasks(world, _JOB)
    await written(world, container, _JOB, tasks, cores=cores, memory=memory, size="Standard_D4as_v5", blob=blob)
    for _ in range(2):  # prices that the first one reads are those of the second
        await world.app.fire("housekeeping")


async def _savings(world: World, first: int, *, days: int = 1) -> list[dict[str, Any]]:
    """Returns the savings on the job in some days, the first one given by its start."""
    asked = f"from={stamp(first)}&to={stamp(first + days * _DAY)}"
    answer = await world.get(f"accounts/demo/efficiency?{asked}")
    assert answer.status == 200, answer.body
    return [one for one in answer.body["savings"] if one["job"] == _JOB]


async def test_advice_stands_on_the_last_day_of_a_job_and_ends_with_it(
    world: World, container: ContainerClient
) -> None:
    await world.app.fire("tick")
    await world.app.fire("housekeeping")
    today = world.emulator.clock.now - world.emulator.clock.now % _DAY
    first = today + 9 * _DAY
    world.advance((first - world.emulator.clock.now) / SECOND + 23.25 * 3600)  # so that runs begin on two days
    await world.app.fire("tick")
    await add_priced_pool(world, "anew", nodes=4)
    world.advance(600)
    await _run(world, container, "before", cores=0.9, memory=2.0)
    assert await _savings(world, first) == []
    both = await _savings(world, first, days=2)
    assert [one["code"] for one in both] == [one["code"] for one in await _savings(world, first + _DAY)]
    (one,) = both
    assert one["ownAmount"] == pytest.approx(0.75 * one["heldAmount"], abs=2e-6)
    for _ in range(6):  # what the job held is settled then, and stays
        world.advance(3600)
        await world.app.fire("tick")
        await world.app.fire("housekeeping")
    await world.batch.begin_delete_job(_JOB)
    world.advance((first + 2 * _DAY - world.emulator.clock.now) / SECOND + 3600)
    for _ in range(2):
        await world.app.fire("tick")
        world.advance(600)
    await _run(world, container, "after", cores=3.9, memory=12.0)
    found = (await world.get(f"accounts/demo/jobs/{_JOB}/efficiency")).body
    assert (found["runs"], found["findings"]) == (20, [])
    assert await _savings(world, first, days=3) == []
    assert len(await _savings(world, first, days=2)) == 1
