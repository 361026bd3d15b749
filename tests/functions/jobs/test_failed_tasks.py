"""Failed tasks by category, and counters that never decrease: equal to the emulator's through all that may happen."""

import pytest
from azure.batch import models

from tests.emulator.support.staging import add_job, add_pool, add_tasks
from tests.functions.conftest import World
from tests.functions.support.seen_metrics import families

pytestmark = pytest.mark.asyncio(loop_scope="session")
POOL = "counted"
FAILED = {"userCode": 4, "outOfMemory": 9, "dataAccess": 1}


def true_counters(world: World) -> dict[str, int]:
    counted = world.emulator.truth()["accounts"]["demo"]["taskCounters"].get(POOL, {})
    return {name: counted.get(name, 0) for name in ("started", "completed", "failed", "retried")}


async def shown_counters(world: World) -> dict[str, int]:
    found = (await world.get(f"accounts/demo/pools/{POOL}")).body["taskCounters"]
    assert isinstance(found, dict)
    return found


async def at_rest(world: World) -> dict[str, int]:
    """Returns the counters of the pool after polls have seen the last changes."""
    world.advance(120)
    for _ in range(2):
        await world.poll()
        world.advance(40)
    await world.poll()
    return await shown_counters(world)


async def test_failed_tasks_and_counters_equal_the_emulator_s_through_new_jobs_of_an_id(world: World) -> None:
    await add_pool(world.batch, POOL, nodes=5)
    await add_job(world.batch, "failing", pool=POOL)
    before = await at_rest(world)  # an earlier life of the pool may have left some
    await add_tasks(world.batch, 15, job="failing", command="sleep 20", prefix="a-good")
    await add_tasks(world.batch, 9, job="failing", command="sleep 3; exit 137", prefix="b-killed", retries=1)
    await add_tasks(world.batch, 4, job="failing", command="sleep 1; exit 42", prefix="c-own")
    missing = models.ResourceFile(http_url="https://x.blob.core.windows.net/c/missing", file_path="x")
    lost = models.BatchTaskCreateOptions(id="d-lost", command_line="sleep 1", resource_files=[missing])
    await world.batch.create_task("failing", lost)
    world.advance(900)
    shown = await at_rest(world)
    assert (await world.get("accounts/demo/jobs/failing")).body["failedTasks"] == FAILED
    assert (await world.get(f"accounts/demo/pools/{POOL}")).body["failedTasks"] == FAILED
    assert (await world.get("accounts/demo")).body["failedTasks"] == FAILED
    assert true_counters(world) == {"started": 29, "completed": 29, "failed": 14, "retried": 9}
    assert {name: shown[name] - before[name] for name in shown} == true_counters(world)

    for task in ("c-own-00000", "c-own-00001"):
        await world.batch.reactivate_task("failing", task)
    await world.batch.delete_task("failing", "a-good-00000")
    world.advance(300)
    shown = await at_rest(world)
    assert true_counters(world) == {"started": 31, "completed": 31, "failed": 16, "retried": 9}
    assert {name: shown[name] - before[name] for name in shown} == true_counters(world)

    await world.batch.begin_delete_job("failing")
    world.advance(60)
    await add_job(world.batch, "failing", pool=POOL)
    await add_tasks(world.batch, 3, job="failing", command="sleep 5", prefix="a-good")
    world.advance(300)
    shown = await at_rest(world)
    assert true_counters(world)["completed"] == 34
    assert {name: shown[name] - before[name] for name in shown} == true_counters(world)
    found = families((await world.get("metrics")).body)
    assert {sample.labels["pool"]: sample.value for sample in found["azbatch_pool_tasks_completed"].samples}[
        POOL
    ] == shown["completed"]
    total = (await world.get("accounts/demo")).body["taskCounters"]
    assert total == {
        name: next(sample.value for sample in found[f"azbatch_account_{series}"].samples)
        for name, series in {
            "started": "tasks_started", "completed": "tasks_completed", "failed": "tasks_failed",
            "retried": "task_retries",
        }.items()
    }  # fmt: skip
