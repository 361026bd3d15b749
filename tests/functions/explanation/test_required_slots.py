"""Explanations and the queue of a pool where tasks of one job require different numbers of slots."""

from collections import Counter
from typing import Any

import pytest
import pytest_asyncio
from azure.batch import models

from shared.domain.leaves.task_filters import TaskFilter
from shared.services.tasks import unfinished_tasks
from shared.services.tasks.task_queries import TaskQueries
from tests.emulator.support.staging import add_job, add_pool, add_tasks
from tests.functions.conftest import World
from tests.functions.explanation.waiting_jobs import emptied

pytestmark = pytest.mark.asyncio(loop_scope="session")
_AT_ONCE = 100  # tasks that Batch takes in a request


@pytest_asyncio.fixture(loop_scope="session")
async def world(_running: World) -> World:
    return await emptied(_running)


async def add_wide(world: World, job: str, *slots: int) -> None:
    """Adds tasks with so many slots, with ids in this order."""
    tasks = [
        models.BatchTaskCreateOptions(id=f"t{number:04}", command_line="sleep 3000", required_slots=each)
        for number, each in enumerate(slots)
    ]
    for start in range(0, len(tasks), _AT_ONCE):
        await world.batch.create_task_collection(
            job, models.BatchTaskGroup(task_values=tasks[start : start + _AT_ONCE])
        )


async def stage(world: World, *slots: int) -> None:
    """Adds a job of higher priority with tasks of so many slots before another one, on a pool of two slots a node."""
    await add_pool(world.batch, nodes=1, slots=2)
    await add_job(world.batch, "high", priority=5)
    await add_wide(world, "high", *slots)
    await add_job(world.batch, "low")
    await add_tasks(world.batch, 5, job="low", command="sleep 3000")
    world.advance(200)
    await world.poll()


async def queued(world: World) -> dict[str, dict[str, Any]]:
    found = (await world.get("accounts/demo/pools/pool/queue")).body
    assert found["unknown"] == []
    return {job["id"]: job for job in found["value"]}


async def first_finding(world: World, job: str) -> dict[str, Any]:
    found: dict[str, Any] = (await world.get(f"accounts/demo/jobs/{job}/explanation")).body["findings"][0]
    return found


@pytest.mark.parametrize(
    "slots", [(4,) * 110 + (1,) * 10, (1,) * 10 + (4,) * 110, (2,) + (1,) * 110 + (4,) * 10 + (1, 1, 4)]
)
async def test_only_tasks_that_fit_on_a_node_go_first(world: World, slots: tuple[int, ...]) -> None:
    await stage(world, *slots)
    jobs = await queued(world)
    high, low = jobs["high"], jobs["low"]
    wide = slots.count(4)
    ready = len(slots) - wide - high["runningTasks"]
    assert (high["rank"], high["readyTasks"], high["heldTasks"], high["leastSlots"], high["mostSlots"]) == (
        1, ready, wide, 1, 4,
    )  # fmt: skip
    assert (low["rank"], low["cause"]) == (2, "higherPriorityJobs")
    assert low["title"] == f"{ready} tasks of a job of higher priority go first"
    for name, job in jobs.items():
        found = await first_finding(world, name)
        assert (found["code"], found["title"]) == (job["cause"], job["title"])
    assert (await first_finding(world, "low"))["evidence"]["slotsAhead"] == ready


@pytest.mark.parametrize(
    ("slots", "looked"), [((2,) * 120, [100]), ((2,) * 119 + (1,), [100, 10_000]), ((2,) * 9, [100])]
)
async def test_of_tasks_that_are_alike_the_first_hundred_are_looked_at(
    world: World, monkeypatch: pytest.MonkeyPatch, slots: tuple[int, ...], looked: list[int]
) -> None:
    await stage(world, *slots)
    read, asked = TaskQueries.slots, list[int]()

    async def recorded(self: TaskQueries, account: str, job: str, wanted: TaskFilter, most: int) -> Counter[int]:
        asked.append(most)
        return await read(self, account, job, wanted, most)

    monkeypatch.setattr(TaskQueries, "slots", recorded)
    high = (await queued(world))["high"]
    assert (high["readyTasks"], high["heldTasks"], high["leastSlots"]) == (len(slots) - 1, 0, min(slots[1:]))
    assert asked == looked


async def test_where_too_many_tasks_wait_to_look_at_all_the_number_of_ready_ones_is_unknown(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unfinished_tasks, "MAX_LOOKED_AT", 105)
    await stage(world, *[4] * 110, *[1] * 10)
    jobs = await queued(world)
    high, low = jobs["high"], jobs["low"]
    assert (high["rank"], high["readyTasks"], high["heldTasks"], high["share"]) == (1, None, None, 1)
    assert (low["rank"], low["expectedStart"]) == (2, None)
    assert low["reason"] == "Whether the waiting tasks of 'high', which go first, can start isn't stored."
    detail = (await first_finding(world, "low"))["detail"]
    assert "Whether those of some jobs could start isn't known, so its turn can't be estimated." in detail
