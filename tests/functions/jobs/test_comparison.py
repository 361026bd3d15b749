"""What sets a job's failed tasks apart, through the app: tasks that the emulator ran, on their nodes."""

from urllib.parse import urlencode

import pytest
from azure.batch import models

from tests.emulator.support.staging import add_job, add_pool, add_tasks
from tests.functions.conftest import World

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def staged(world: World, job: str, *parts: tuple[str, int, str]) -> str:
    """Runs tasks of a job, given as prefix, number and command, to their ends; returns the path of its comparison."""
    pool = f"pool-{job}"
    await add_pool(world.batch, pool, nodes=4, slots=4)
    await add_job(world.batch, job, pool=pool)
    world.advance(600)
    for prefix, number, command in parts:
        await add_tasks(world.batch, number, job=job, command=command, prefix=prefix)
    world.advance(3600)
    await world.poll()
    return f"accounts/demo/jobs/{job}/comparison"


async def test_the_part_of_the_id_whose_tasks_fail_is_named_with_both_shares(world: World) -> None:
    path = await staged(world, "regions", ("eu-run", 60, "sleep 30"), ("us-run", 40, "sleep 30; exit 3"))
    answer = (await world.get(path)).body
    assert (answer["result"], answer["failed"], answer["succeeded"]) == ("apart", 40, 60)
    assert (answer["comparedFailed"], answer["comparedSucceeded"]) == (40, 60)
    first = answer["contrasts"][0]
    named = {first["attribute"]: first["title"]} | {one["attribute"]: one["title"] for one in first["sameTasks"]}
    assert named["idPart1"] == "Part 1 of the id is 'us'"
    assert (first["failedShare"], first["succeededShare"], first["difference"]) == (1.0, 0.0, 1.0)
    assert first["pValue"] <= answer["level"]
    assert 0.8 < first["differenceLow"] < first["differenceHigh"] <= 1
    assert answer["findings"] == []

    table = (await world.get(f"{path}?format=csv")).body.splitlines()
    assert table[0] == ("kind,attribute,title,failed,succeeded,failedShare,succeededShare,difference,pValue")
    assert table[1].startswith("cause,")


async def test_jobs_with_nothing_to_compare_say_which(world: World) -> None:
    path = await staged(world, "sound", ("task", 8, "sleep 5"))
    answer = (await world.get(path)).body
    assert (answer["result"], answer["failed"], answer["contrasts"]) == ("noneFailed", 0, [])
    path = await staged(world, "lost", ("task", 8, "sleep 5; exit 1"))
    answer = (await world.get(path)).body
    assert (answer["result"], answer["failed"], answer["succeeded"]) == ("allFailed", 8, 0)
    assert (await world.get("accounts/demo/jobs/none/comparison")).status == 404


async def test_an_unchanged_comparison_is_a_304(world: World) -> None:
    path = await staged(world, "cached", ("good", 20, "sleep 5"), ("bad", 10, "sleep 5; exit 1"))
    tag = (await world.get(path)).headers["etag"]
    assert (await world.get(path, If_None_Match=tag)).status == 304


def machine(sku: str) -> models.VirtualMachineConfiguration:
    image = models.BatchVmImageReference(publisher="Canonical", offer="ubuntu", sku=sku, version="latest")
    return models.VirtualMachineConfiguration(image_reference=image, node_agent_sku_id="batch.node.ubuntu 22.04")


async def resized(world: World, pool: str, nodes: int) -> None:
    await world.batch.begin_resize_pool(pool, models.BatchPoolResizeOptions(target_dedicated_nodes=nodes))
    world.advance(600)
    await world.app.fire("tick")


async def test_the_image_on_which_tasks_fail_is_named_although_its_nodes_are_gone(world: World) -> None:
    """The pool gets another image while it is empty, as Batch demands."""
    await world.batch.create_pool(
        models.BatchPoolCreateOptions(
            id="imaged",
            vm_size="standard_d2s_v5",
            virtual_machine_configuration=machine("22.04"),
            task_slots_per_node=4,
        )
    )
    await add_job(world.batch, "imaged", pool="imaged")
    for sku, command in (("22.04", "sleep 30"), ("24.04", "sleep 30; exit 3")):
        changed = models.BatchPoolUpdateOptions(virtual_machine_configuration=machine(sku))
        await world.batch.update_pool("imaged", changed)
        await resized(world, "imaged", 4)
        await add_tasks(world.batch, 40, job="imaged", command=command, prefix=f"of{sku.replace('.', '')}")
        world.advance(1200)
        await resized(world, "imaged", 0)
    await world.poll()
    answer = (await world.get("accounts/demo/jobs/imaged/comparison")).body
    first = answer["contrasts"][0]
    named = {first["attribute"]: first["title"]} | {one["attribute"]: one["title"] for one in first["sameTasks"]}
    assert named["image"] == "Image canonical/ubuntu/24.04"
    assert named["settingChange"].startswith("Started after the pool's change of ")
    assert named["settingChange"].endswith(": image 22.04 -> 24.04")
    assert (first["attribute"], first["value"], first["low"], first["high"]) == ("settingChange", None, None, None)
    (change,) = (await world.get("accounts/demo/pools/imaged")).body["settingChanges"]
    assert (first["since"], first["until"]) == (change["time"], None)
    query = urlencode({"result": "failure", "maxpagesize": 1000, **first["taskFilter"]})
    shown = [task["id"] for task in (await world.get(f"accounts/demo/jobs/imaged/tasks?{query}")).body["value"]]
    assert (len(shown), shown[:20]) == (40, first["tasks"])
