"""What-if answers on measured jobs through the app: which runs count for how long others take, and how far."""

import pytest
from azure.storage.blob.aio import ContainerClient

from tests.functions.conftest import World
from tests.functions.efficiency.measured_world import TASKS, record, staged, started, written

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_long_runs_count_for_more_than_short_ones(world: World, container: ContainerClient) -> None:
    tasks = await staged(world, "weighted", 1)
    long, short = tasks[:4], tasks[4:]
    await written(world, container, "weighted", short, cores=0.05, memory=1.0, seconds=1)
    for task in long:
        named = f'imds_metadata,vm_monitor_collection=once vm_size="Standard_D4s_v5" {started(task) * 10**9}\n'
        name = f"accounts/demo/pools/{task['poolId']}/nodes/{task['nodeId']}/{task['id']}-weighted.lp"
        text = named + record("weighted", task, cores=1.0, memory=1.0, seconds=600)
        await container.upload_blob(name, text, blob_type="AppendBlob")
    await world.app.fire("tick")
    answer = (await world.get("accounts/demo/jobs/weighted/whatif?slots=8")).body
    assert answer["measuredRuns"] == TASKS
    text = "8 runs on a node need 7.9 of its 4 vCPUs, so they take 1.98 times as long, by 24 measured runs."
    assert text in answer["assumptions"]


async def test_a_few_measured_runs_say_nothing_of_all(world: World, container: ContainerClient) -> None:
    tasks = await staged(world, "few", 2)
    await written(world, container, "few", tasks[:3], cores=3.9, memory=1.0)
    answer = (await world.get("accounts/demo/jobs/few/whatif?slots=8")).body
    assert answer["measuredRuns"] == 3
    text = "A run takes as long as it did: its use of CPUs wasn't measured in enough runs, only in 3."
    assert text in answer["assumptions"]


async def test_runs_that_may_use_more_vcpus_widen_the_spread(world: World, container: ContainerClient) -> None:
    tasks = await staged(world, "saturated", 3)
    await written(world, container, "saturated", tasks, cores=3.9, memory=1.0)
    answer = (await world.get("accounts/demo/jobs/saturated/whatif?vmSize=standard_d8s_v5")).body
    was, asked = answer["asItWas"]["seconds"], answer["asked"]["seconds"]
    assert asked["expected"] == pytest.approx(was["expected"], rel=0.02)
    assert asked["low"] < 0.6 * was["expected"]
    assert any("Whether they can use more isn't known" in text for text in answer["assumptions"])
