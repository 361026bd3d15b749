"""A job's efficiency through the app: what its measured tasks used of what their slots offer, with money."""

from datetime import datetime, timedelta

import pytest
from azure.storage.blob.aio import ContainerClient

from tests.functions.conftest import World
from tests.functions.efficiency.measured_world import GIB, TASKS, staged, written

pytestmark = pytest.mark.asyncio(loop_scope="session")
PATH = "accounts/demo/jobs/wasteful/efficiency"


async def test_a_wasteful_job_has_a_finding_with_its_figures(world: World, container: ContainerClient) -> None:
    tasks = await staged(world, "wasteful", 1)
    await written(world, container, "wasteful", tasks, cores=0.9, memory=2.0)
    answer = (await world.get(PATH)).body
    assert (answer["runs"], answer["completedTasks"]) == (TASKS, TASKS)
    assert (answer["slotsPerNode"], answer["requiredSlots"], answer["reason"]) == (1, 1, None)
    (group,) = answer["groups"]
    assert (group["prefix"], group["vmSize"], group["runs"]) == ("frame-", "standard_d4s_v5", TASKS)
    memory = next(figure for figure in group["figures"] if figure["name"] == "memory")
    assert memory == {
        "name": "memory", "unit": "B", "count": TASKS, "enough": True, "mean": 2 * GIB, "p50": 2 * GIB, "p95": 2 * GIB,
        "lowest": {"value": 2 * GIB, "task": "frame-00000"}, "highest": {"value": 2 * GIB, "task": "frame-00000"},
        "offered": 16 * GIB,
    }  # fmt: skip
    assert (group["result"], group["exitCode"], group["enough"]) == (None, None, True)
    assert (answer["enoughRuns"], answer["enoughOfAll"]) == (20, 5)
    (found,) = answer["findings"]
    assert (found["code"], found["evidence"]["sufficientSlots"], found["severity"]) == ("oneBusyCore", 4, "info")
    assert (await world.get("accounts/demo/jobs/none/efficiency")).status == 404


async def test_a_sound_job_has_none(world: World, container: ContainerClient) -> None:
    tasks = await staged(world, "sound", 2)
    await written(world, container, "sound", tasks, cores=3.9, memory=12.0)
    answer = (await world.get("accounts/demo/jobs/sound/efficiency")).body
    assert (answer["runs"], answer["findings"], answer["reason"]) == (TASKS, [], None)
    table = (await world.get("accounts/demo/jobs/sound/efficiency?format=csv")).body.splitlines()
    assert table[0].startswith(
        "prefix,result,exitCode,vmSize,figure,unit,count,mean,p50,p95,lowest,lowestTask,highest,highestTask"
    )
    assert "frame-,,,standard_d4s_v5,cores,cores,24,3.9,3.9,3.9,3.9,frame-00000,3.9,frame-00000,4.0,true" in table


async def test_figures_of_too_few_runs_are_marked_in_the_table(world: World, container: ContainerClient) -> None:
    tasks = await staged(world, "few", 5)
    await written(world, container, "few", tasks[:3], cores=3.9, memory=12.0)
    answer = (await world.get("accounts/demo/jobs/few/efficiency")).body
    assert {figure["enough"] for group in answer["groups"] for figure in group["figures"]} == {False}
    assert answer["usedShares"] == {"cpu": None, "memory": None, "gpu": None}
    table = (await world.get("accounts/demo/jobs/few/efficiency?format=csv")).body.splitlines()
    assert table[0].endswith(",offered,enough")
    assert all(line.endswith(",false") for line in table[1:])


async def test_runs_can_be_grouped_by_exit(world: World, container: ContainerClient) -> None:
    tasks = await staged(world, "exits", 4)
    earlier = datetime.fromisoformat(tasks[0]["startTime"]) - timedelta(minutes=5)
    before = tasks[0] | {"startTime": earlier.isoformat()}
    await written(world, container, "exits", [*tasks, before], cores=1.0, memory=2.0)
    by_exit = (await world.get("accounts/demo/jobs/exits/efficiency?groupBy=exit")).body
    found = [(each["prefix"], each["result"], each["exitCode"], each["runs"]) for each in by_exit["groups"]]
    assert found == [(None, "success", 0, TASKS), (None, "followed", None, 1)]
    by_prefix = (await world.get("accounts/demo/jobs/exits/efficiency")).body
    assert by_exit["findings"] == by_prefix["findings"]
    assert (await world.get("accounts/demo/jobs/exits/efficiency?groupBy=node")).status == 400


async def test_a_job_without_measured_runs_says_so(world: World) -> None:
    await staged(world, "unmeasured", 3)
    answer = (await world.get("accounts/demo/jobs/unmeasured/efficiency")).body
    assert (answer["runs"], answer["groups"], answer["findings"], answer["asOf"]) == (0, [], [], None)
    assert answer["reason"] == "No run of a task was measured: the node agent writes a record at the end of each."
