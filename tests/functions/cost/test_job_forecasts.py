"""What a task costs, and a job at its end: the same between roll-ups, also after tasks or the job were deleted."""

from typing import Any

import pytest

from local.batch_emulator.core.stamps import SECOND
from tests.emulator.support.staging import add_job, add_tasks
from tests.functions.conftest import World
from tests.functions.support.priced_pools import add_priced_pool

pytestmark = pytest.mark.asyncio(loop_scope="session")

_DAY = 86_400 * SECOND


async def _minutes(world: World, number: int) -> None:
    for _ in range(number):
        world.advance(60)
        await world.app.fire("tick")


async def _begin(world: World, pool: str, job: str) -> float:
    """Creates a pool of two nodes and a job early on a day of its own; returns the price of a node's hour."""
    await world.app.fire("tick")
    world.advance((9 * _DAY - world.emulator.clock.now % _DAY) / SECOND + 4 * 3600)
    await world.app.fire("tick")
    await add_priced_pool(world, pool, nodes=2)
    await _minutes(world, 5)
    await world.app.fire("housekeeping")  # reads the prices
    await add_job(world.batch, job, pool=pool)
    prices = (await world.get("accounts/demo/prices")).body["value"]
    return float(next(one["hourly"] for one in prices if one["priority"] == "dedicated"))


async def _cost(world: World, job: str) -> Any:
    answer = await world.get(f"accounts/demo/jobs/{job}/cost?sharing=none")
    assert answer.status == 200, answer.body
    return answer.body


async def test_a_task_and_the_forecast_are_those_of_the_last_roll_up_until_the_next_one(world: World) -> None:
    hourly = await _begin(world, "steady", "steady")
    await add_tasks(world.batch, 100, job="steady", command="sleep 120")
    await _minutes(world, 14)
    await world.app.fire("housekeeping")
    first = await _cost(world, "steady")
    assert first["task"]["mean"] == pytest.approx(hourly / 30, rel=0.01)
    assert first["forecast"]["amount"] == pytest.approx(100 * hourly / 30, rel=0.01)
    for _ in range(2):
        await _minutes(world, 20)
        later = await _cost(world, "steady")
        assert (later["asOf"], later["task"]["mean"]) == (first["asOf"], first["task"]["mean"])
        for name in ("amount", "tasksLeft"):
            assert later["forecast"][name] == pytest.approx(first["forecast"][name], rel=1e-4)
        assert later["forecast"]["low"] <= later["forecast"]["amount"] <= later["forecast"]["high"]
    await world.app.fire("housekeeping")
    after = await _cost(world, "steady")
    assert after["forecast"]["tasksLeft"] < first["forecast"]["tasksLeft"]
    assert after["forecast"]["amount"] == pytest.approx(first["forecast"]["amount"], rel=0.01)


async def test_tasks_that_were_deleted_after_they_completed_make_no_other_dearer(world: World) -> None:
    hourly = await _begin(world, "cleared", "cleared")
    await add_tasks(world.batch, 30, job="cleared", command="sleep 60")
    for _ in range(2):
        await _minutes(world, 70)
        await world.app.fire("housekeeping")
    ids = [str(task.id) async for task in world.batch.list_tasks("cleared")]
    for task in ids[:18]:
        await world.batch.delete_task("cleared", task)
    await add_tasks(world.batch, 40, job="cleared", command="sleep 60", prefix="more")
    await _minutes(world, 5)
    await world.app.fire("housekeeping")
    found = await _cost(world, "cleared")
    assert found["task"]["mean"] == pytest.approx(hourly / 60, rel=0.01)
    assert found["forecast"]["amount"] == pytest.approx(70 * hourly / 60, rel=0.02)


async def test_a_job_that_was_created_again_has_the_task_of_the_new_one_and_no_forecast_on_that_day(
    world: World,
) -> None:
    hourly = await _begin(world, "again", "again")
    await add_tasks(world.batch, 12, job="again", command="sleep 900")
    for _ in range(3):
        await _minutes(world, 65)
        await world.app.fire("housekeeping")
    assert (await _cost(world, "again"))["task"]["mean"] == pytest.approx(hourly / 4, rel=0.01)
    await world.batch.begin_delete_job("again")
    await _minutes(world, 5)
    await add_job(world.batch, "again", pool="again")
    await add_tasks(world.batch, 60, job="again", command="sleep 60")
    await _minutes(world, 12)
    between = await _cost(world, "again")
    assert (between["task"], between["forecast"]) == (None, None)
    await world.app.fire("housekeeping")
    found = await _cost(world, "again")
    assert found["task"]["mean"] == pytest.approx(hourly / 60, rel=0.01)
    assert found["forecast"] is None


async def test_a_job_that_completed_with_waiting_tasks_has_no_forecast(world: World) -> None:
    await _begin(world, "stopped", "stopped")
    await add_tasks(world.batch, 40, job="stopped", command="sleep 120")
    await _minutes(world, 20)
    await world.app.fire("housekeeping")
    assert (await _cost(world, "stopped"))["forecast"]["tasksLeft"] > 0
    reason: Any = {"terminateReason": "enough"}
    await world.batch.begin_terminate_job("stopped", reason)
    await _minutes(world, 3)
    job = (await world.get("accounts/demo/jobs/stopped")).body
    assert (job["state"], job["taskCounts"]["active"] > 0) == ("completed", True)
    found = await _cost(world, "stopped")
    assert found["task"]
    assert found["forecast"] is None
