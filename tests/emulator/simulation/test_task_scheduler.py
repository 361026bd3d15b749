"""Which waiting task gets the next free slot, on which node, and which running ones make room."""

from collections import Counter
from typing import Any

import pytest

from tests.emulator.support.driver import Driver

_OLDEST_FIRST = {"nodeFillType": "spread", "jobDefaultOrder": "creationtime"}


async def _started(driver: Driver, *jobs: str) -> list[str]:
    """Returns the jobs of started tasks in the order of their starts."""
    tasks = [(row["executionInfo"], job) for job in jobs for row in await driver.rows(f"/jobs/{job}/tasks")]
    starts = sorted((info["startTime"], job) for info, job in tasks if "startTime" in info)
    return [job for _, job in starts]


async def _running(driver: Driver, job: str) -> list[Any]:
    rows = await driver.rows(f"/jobs/{job}/tasks")
    return [row for row in rows if row["state"] == "running"]


@pytest.mark.parametrize(
    "policy", [None, {"nodeFillType": "spread"}, {"nodeFillType": "spread", "jobDefaultOrder": "none"}]
)
async def test_jobs_of_equal_priority_take_turns_by_default(stepped: Driver, policy: Any) -> None:
    await stepped.add_pool(nodes=1, **({"taskSchedulingPolicy": policy} if policy else {}))
    for name, tasks in (("c", 12), ("a", 3), ("b", 12)):
        await stepped.add_job(name)
        await stepped.add_tasks(name, *["sleep 10"] * tasks)
    await stepped.advance(400)
    started = await _started(stepped, "a", "b", "c")
    assert [Counter(started[first : first + 3]) for first in (0, 3, 6)] == [Counter("abc")] * 3
    assert Counter(started[9:15]) == Counter("bcbcbc")


async def test_by_creation_time_the_oldest_of_equal_priority_goes_first(stepped: Driver) -> None:
    await stepped.add_pool(nodes=1, taskSchedulingPolicy=_OLDEST_FIRST)
    await stepped.add_job("urgent", priority=5)
    for name in ("c", "a", "b"):
        await stepped.add_job(name)
        await stepped.add_tasks(name, *["sleep 10"] * 3)
    await stepped.add_tasks("urgent", "sleep 10")
    await stepped.advance(400)
    assert await _started(stepped, "a", "b", "c", "urgent") == ["urgent", *"cccaaabbb"]


async def test_a_job_that_comes_later_takes_its_turn_at_once(stepped: Driver) -> None:
    await stepped.add_pool(nodes=1)
    await stepped.add_job("first")
    await stepped.add_tasks("first", *["sleep 100"] * 9)
    await stepped.advance(500)
    begun = len(await _started(stepped, "first"))
    await stepped.add_job("later")
    await stepped.add_tasks("later", *["sleep 100"] * 2)
    await stepped.advance(500)
    assert (await _started(stepped, "first", "later"))[begun : begun + 4] == ["later", "first"] * 2


async def test_a_higher_job_requeues_tasks_of_jobs_that_allow_it_and_no_others(stepped: Driver) -> None:
    await stepped.add_pool(nodes=3)
    await stepped.add_job("lower", priority=-5, allowTaskPreemption=True)
    await stepped.add_job("low", priority=-5)
    await stepped.add_job("higher", priority=5, allowTaskPreemption=True)
    for name in ("lower", "low", "higher"):
        await stepped.add_tasks(name, "sleep 5000")
    await stepped.advance(200)
    await stepped.add_job("equal", priority=5)
    await stepped.add_tasks("equal", *["sleep 5000"] * 3)
    await stepped.advance(30)
    rows = {name: await stepped.rows(f"/jobs/{name}/tasks") for name in ("lower", "low", "higher", "equal")}
    assert {name: Counter(row["state"] for row in found) for name, found in rows.items()} == {
        "lower": {"active": 1},
        "low": {"running": 1},
        "higher": {"running": 1},
        "equal": {"running": 1, "active": 2},
    }
    (requeued,) = rows["lower"]
    assert requeued["previousState"] == "running"
    assert requeued["executionInfo"]["requeueCount"] == 0, "It counts requeues that a user asked for."


async def test_jobs_of_equal_priority_take_turns_also_where_others_give_way(stepped: Driver) -> None:
    await stepped.add_pool(nodes=6)
    await stepped.add_job("low", allowTaskPreemption=True)
    await stepped.add_tasks("low", *["sleep 5000"] * 6)
    await stepped.advance(200)
    for name in ("a", "b"):
        await stepped.add_job(name, priority=5)
        await stepped.add_tasks(name, *["sleep 5000"] * 6)
    await stepped.advance(30)
    assert (len(await _running(stepped, "a")), len(await _running(stepped, "b"))) == (3, 3)


async def test_no_more_tasks_are_requeued_than_make_room(stepped: Driver) -> None:
    await stepped.add_pool(nodes=2, taskSlotsPerNode=4)
    await stepped.add_job("low", priority=1, allowTaskPreemption=True)
    await stepped.add_job("lowest", allowTaskPreemption=True)
    await stepped.add_tasks("low", *["sleep 5000"] * 5)
    await stepped.add_tasks("lowest", *["sleep 5000"] * 3)
    await stepped.advance(200)
    assert (len(await _running(stepped, "low")), len(await _running(stepped, "lowest"))) == (5, 3)
    await stepped.add_job("wide", priority=9)
    await stepped.add_tasks("wide", "sleep 5000", requiredSlots=3)
    await stepped.advance(30)
    assert len(await _running(stepped, "wide")) == 1
    assert len(await _running(stepped, "low")) + len(await _running(stepped, "lowest")) == 5


async def test_preemption_ends_once_the_job_forbids_it(stepped: Driver) -> None:
    await stepped.add_pool(nodes=1)
    await stepped.add_job("low", allowTaskPreemption=True)
    await stepped.add_tasks("low", "sleep 5000")
    await stepped.advance(200)
    assert (await stepped.call("PATCH", "/jobs/low", {"allowTaskPreemption": False})).status == 200
    await stepped.add_job("high", priority=9)
    await stepped.add_tasks("high", "sleep 5000")
    await stepped.advance(30)
    assert await _running(stepped, "low")
    assert (await stepped.call("PATCH", "/jobs/low", {"allowTaskPreemption": True})).status == 200
    await stepped.advance(30)
    assert await _running(stepped, "high")
    assert not await _running(stepped, "low")


@pytest.mark.parametrize(("fill", "nodes"), [("spread", [1, 1, 1]), ("pack", [0, 0, 3])])
async def test_tasks_are_spread_over_nodes_or_packed(stepped: Driver, fill: str, nodes: list[int]) -> None:
    policy = {"nodeFillType": fill}
    await stepped.add_pool(nodes=3, taskSlotsPerNode=4, taskSchedulingPolicy=policy)
    await stepped.advance(200)
    await stepped.add_job()
    await stepped.add_tasks("job", *["sleep 5000"] * 3)
    await stepped.advance(30)
    rows = await stepped.rows("/pools/pool/nodes")
    assert sorted(row["runningTasksCount"] for row in rows) == nodes


async def test_narrow_tasks_of_other_jobs_pass_one_that_fits_on_no_node(stepped: Driver) -> None:
    await stepped.add_pool(nodes=1, taskSlotsPerNode=4, taskSchedulingPolicy=_OLDEST_FIRST)
    await stepped.add_job("wide")
    await stepped.add_job("narrow")
    await stepped.add_tasks("narrow", "sleep 5000")
    await stepped.advance(200)
    await stepped.add_tasks("wide", "sleep 50", requiredSlots=4)
    for number in range(2):
        task = {"id": f"more{number}", "commandLine": "sleep 50"}
        assert (await stepped.call("POST", "/jobs/narrow/tasks", task)).status == 201
    await stepped.advance(30)
    assert len(await _running(stepped, "narrow")) == 3
    assert not await _running(stepped, "wide")


async def test_an_order_that_the_service_does_not_know_is_refused(stepped: Driver) -> None:
    policy = {"nodeFillType": "spread", "jobDefaultOrder": "alphabetical"}
    body = {"id": "pool", "vmSize": "standard_d2s_v5", "taskSchedulingPolicy": policy}
    answer = await stepped.call("POST", "/pools", body)
    assert (answer.status, answer.code) == (400, "InvalidPropertyValue")
