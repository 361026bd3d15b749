"""Costs after outages, through the whole app, against the emulator's own ledger."""

from collections import Counter

import pytest

from local.batch_emulator.core.injection import Fault
from local.batch_emulator.core.stamps import SECOND, stamp
from local.batch_emulator.http.usage import usage
from tests.emulator.support.staging import add_job, add_tasks
from tests.functions.conftest import World
from tests.functions.support.priced_pools import add_priced_pool

pytestmark = pytest.mark.asyncio(loop_scope="session")

_DAY = 86_400 * SECOND


async def _stage(world: World, name: str) -> None:
    """Creates a job, and its pool of two nodes, early on a day that has nothing else."""
    await world.app.fire("tick")
    world.advance((9 * _DAY - world.emulator.clock.now % _DAY) / SECOND + 2 * 3600)
    await world.app.fire("tick")
    await add_priced_pool(world, name, nodes=2)
    await _ticks(world, 5, seconds=60)
    await add_job(world.batch, name, pool=name)


async def _ticks(world: World, number: int, *, seconds: int = 1200) -> None:
    for _ in range(number):
        world.advance(seconds)
        await world.app.fire("tick")


async def _hours(world: World, number: int) -> None:
    """Polls for hours, and rolls usage up at the end of each."""
    for _ in range(number):
        await _ticks(world, 3)
        await world.app.fire("housekeeping")


async def _held(world: World, job: str) -> dict[str, float]:
    """Returns the node seconds that a job held by class."""
    answer = await world.get(f"accounts/demo/jobs/{job}/cost?sharing=none")
    assert answer.status == 200, answer.body
    seconds: dict[str, float] = answer.body["cost"]["nodeSeconds"]
    return seconds


async def _classes(world: World, pool: str) -> dict[str, float]:
    """Returns the node seconds of a pool by class."""
    today = stamp(world.emulator.clock.now - world.emulator.clock.now % _DAY)
    answer = await world.get(f"accounts/demo/cost?from={today}&groupBy=pool")
    assert answer.status == 200, answer.body
    (seconds,) = (one["cost"]["nodeSeconds"] for one in answer.body["value"] if one["name"] == pool)
    found: dict[str, float] = seconds
    return found


def _true(world: World, job: str) -> dict[str, float]:
    """Returns the slot seconds of a job by outcome, as the emulator counted them."""
    today = stamp(world.emulator.clock.now - world.emulator.clock.now % _DAY)
    found = Counter[str]()
    for row in usage(world.emulator, {"from": today, "account": "demo"})["accounts"]["demo"]["slots"]:
        if row["job"] == job:
            found[row["outcome"]] += row["runningSeconds"]
    return dict(found)


async def test_a_run_that_failed_while_the_app_was_down_takes_no_time_from_others_of_its_job(world: World) -> None:
    await _stage(world, "down")
    await add_tasks(world.batch, 1, job="down", command="sleep 31000; exit 1", prefix="bad")
    await add_tasks(world.batch, 1, job="down", command="sleep 80000", prefix="long")
    await _hours(world, 3)
    world.advance(6 * 3600)
    await world.app.fire("tick")
    await world.app.fire("housekeeping")
    await _hours(world, 4)
    held, true = await _held(world, "down"), _true(world, "down")
    assert held == {one: pytest.approx(seconds, abs=5) for one, seconds in true.items()}
    assert true["failed"] == pytest.approx(31_000, abs=5)


async def test_tasks_go_on_no_longer_than_is_known_while_only_nodes_are_polled(world: World) -> None:
    await _stage(world, "unread")
    await add_tasks(world.batch, 2, job="unread", command="sleep 1200")
    await _ticks(world, 5, seconds=60)
    await world.app.fire("housekeeping")
    known = await _held(world, "unread")
    world.emulator.faults.all.append(Fault(path="*/jobs/unread/tasks*", status=500))
    await _hours(world, 4)
    assert await _held(world, "unread") == known
    idle = (await _classes(world, "unread"))["idle"]
    assert idle > 2 * 3 * 3600
    world.emulator.faults.all.clear()
    for _ in range(3):
        await _hours(world, 1)
        assert await _held(world, "unread") == _true(world, "unread") == {"succeeded": 2_400}
        classes = await _classes(world, "unread")
        assert not classes.keys() & {"running", "unattributed"}
        assert idle < classes["idle"]
