"""Counters of tasks in the emulator's truth."""

from typing import Any

from tests.emulator.support.driver import Driver


async def _counters(driver: Driver) -> Any:
    return (await driver.control("GET", "truth"))["accounts"]["demo"]["taskCounters"]


async def test_each_life_of_a_task_counts_once_and_each_retry(stepped: Driver) -> None:
    await stepped.add_pool(nodes=2)
    assert await _counters(stepped) == {}
    await stepped.add_job(constraints={"maxTaskRetryCount": 2})
    await stepped.add_tasks("job", "sleep 1", "sleep 1; exit 1", "sleep 100000")
    await stepped.advance(300)
    counted = {"started": 3, "completed": 2, "failed": 1, "retried": 2}
    assert await _counters(stepped) == {"pool": counted}
    await stepped.call("POST", "/jobs/job/tasks/t001/reactivate")
    await stepped.advance(300)
    counted = {"started": 4, "completed": 3, "failed": 2, "retried": 4}
    assert await _counters(stepped) == {"pool": counted}
    await stepped.call("POST", "/jobs/job/tasks/t002/terminate")
    await stepped.call("DELETE", "/jobs/job")
    await stepped.advance(60)
    assert await _counters(stepped) == {"pool": counted | {"completed": 4, "failed": 3}}


async def test_a_task_that_runs_again_after_its_node_went_has_started_once(stepped: Driver) -> None:
    await stepped.add_pool(nodes=2)
    await stepped.add_job()
    await stepped.add_tasks("job", *["sleep 400"] * 3)
    await stepped.advance(300)
    await stepped.call("POST", "/pools/pool/resize", {"targetDedicatedNodes": 1, "nodeDeallocationOption": "requeue"})
    await stepped.advance(3000)
    rows = await stepped.rows("/jobs/job/tasks")
    assert sum(row["executionInfo"]["requeueCount"] for row in rows) > 0
    assert await _counters(stepped) == {"pool": {"started": 3, "completed": 3, "failed": 0}}
