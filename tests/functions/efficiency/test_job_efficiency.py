"""A job's efficiency through the app: what its measured tasks used of what their slots offer, with money."""

from datetime import datetime
from typing import Any

import pytest
from azure.storage.blob.aio import ContainerClient

from tests.emulator.support.staging import add_job, add_pool, add_tasks
from tests.functions.conftest import World

pytestmark = pytest.mark.asyncio(loop_scope="session")
PATH = "accounts/demo/jobs/wasteful/efficiency"
GIB = 1 << 30
TASKS = 24


async def staged(world: World, job: str, day: int, *, slots: int = 1) -> list[dict[str, Any]]:
    """Runs a job's tasks on nodes of four vCPUs, on a day of its own; returns its tasks."""
    await world.poll()
    world.advance(day * 86_400)
    await add_pool(world.batch, nodes=4, size="standard_d4s_v5", slots=slots)
    await add_job(world.batch, job)
    world.advance(600)
    await add_tasks(world.batch, TASKS, job=job, command="sleep 600", prefix="frame")
    world.advance(7200)
    await world.poll()
    found: list[dict[str, Any]] = (await world.get(f"accounts/demo/jobs/{job}/tasks?maxpagesize=100")).body["value"]
    return found


def record(job: str, task: dict[str, Any], *, cores: float, memory: float) -> str:
    """Returns the agent's line at the end of a task's run."""
    start = int(datetime.fromisoformat(task["startTime"]).timestamp())
    named = f"job_id={job},task_id={task['id']},task_attempt={start}"
    fields = f"duration=600,cpu_time_user={600 * cores},cpu_time_system=0,memory_peak={round(memory * GIB)}i"
    return f"batchscope_task_attempt,{named} {fields} {(start + 600) * 10**9}\n"


async def written(
    world: World, container: ContainerClient, job: str, tasks: list[dict[str, Any]], **use: float
) -> None:
    """Writes the records of a job's ended tasks, by node, as the agent would."""
    for node in {task["nodeId"] for task in tasks}:
        own = [task for task in tasks if task["nodeId"] == node]
        first = int(datetime.fromisoformat(own[0]["startTime"]).timestamp())
        about = f'imds_metadata,vm_monitor_collection=once vm_size="Standard_D4s_v5" {first * 10**9}\n'
        name = f"accounts/demo/pools/{own[0]['poolId']}/nodes/{node}/{job}.lp"
        lines = about + "".join(record(job, task, cores=use["cores"], memory=use["memory"]) for task in own)
        await container.upload_blob(name, lines, blob_type="AppendBlob")
    await world.app.fire("tick")


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
        "name": "memory", "unit": "B", "count": TASKS, "mean": 2 * GIB, "p50": 2 * GIB, "p95": 2 * GIB,
        "lowest": {"value": 2 * GIB, "task": "frame-00000"}, "highest": {"value": 2 * GIB, "task": "frame-00000"},
        "offered": 16 * GIB,
    }  # fmt: skip
    (found,) = answer["findings"]
    assert (found["code"], found["evidence"]["sufficientSlots"], found["severity"]) == ("oneBusyCore", 4, "info")
    assert (await world.get("accounts/demo/jobs/none/efficiency")).status == 404


async def test_a_sound_job_has_none(world: World, container: ContainerClient) -> None:
    tasks = await staged(world, "sound", 2)
    await written(world, container, "sound", tasks, cores=3.9, memory=12.0)
    answer = (await world.get("accounts/demo/jobs/sound/efficiency")).body
    assert (answer["runs"], answer["findings"], answer["reason"]) == (TASKS, [], None)
    table = (await world.get("accounts/demo/jobs/sound/efficiency?format=csv")).body.splitlines()
    assert table[0].startswith("prefix,vmSize,figure,unit,count,mean,p50,p95,lowest,lowestTask,highest,highestTask")
    assert "frame-,standard_d4s_v5,cores,cores,24,3.9,3.9,3.9,3.9,frame-00000,3.9,frame-00000,4.0" in table


async def test_a_job_without_measured_runs_says_so(world: World) -> None:
    await staged(world, "unmeasured", 3)
    answer = (await world.get("accounts/demo/jobs/unmeasured/efficiency")).body
    assert (answer["runs"], answer["groups"], answer["findings"], answer["asOf"]) == (0, [], [], None)
    assert answer["reason"] == "No run of a task was measured: the node agent writes a record at the end of each."
