"""Stages measured jobs in the emulator, and writes the records of their tasks as the node agent does."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from azure.storage.blob.aio import ContainerClient

from tests.emulator.support.staging import add_job, add_pool, add_tasks
from tests.functions.conftest import World

GIB = 1 << 30
TASKS = 24


async def staged(
    world: World, job: str, day: int, *, slots: int = 1, size: str = "standard_d4s_v5"
) -> list[dict[str, Any]]:
    """Runs a job's tasks on nodes of a size, on a day of its own; returns its tasks."""
    await world.poll()
    world.advance(day * 86_400)
    await add_pool(world.batch, nodes=4, size=size, slots=slots)
    await add_job(world.batch, job)
    world.advance(600)
    await add_tasks(world.batch, TASKS, job=job, command="sleep 600", prefix="frame")
    world.advance(7200)
    return await polled_tasks(world, job)


async def polled_tasks(world: World, job: str) -> list[dict[str, Any]]:
    """Returns the tasks of a job after a poll."""
    await world.poll()
    found: list[dict[str, Any]] = (await world.get(f"accounts/demo/jobs/{job}/tasks?maxpagesize=100")).body["value"]
    return found


def started(task: dict[str, Any]) -> int:
    """Returns a task's start in seconds since 1970."""
    return int(datetime.fromisoformat(task["startTime"]).timestamp())


def record(job: str, task: dict[str, Any], *, cores: float, memory: float, seconds: int = 600) -> str:
    """Returns the agent's line at the end of a task's run."""
    start = started(task)
    named = f"job_id={job},task_id={task['id']},task_attempt={start}"
    used = f"cpu_time_user={seconds * cores},cpu_time_system=0,memory_peak={round(memory * GIB)}i"
    return f"batchscope_task_attempt,{named} duration={seconds},{used} {(start + seconds) * 10**9}\n"


async def written(
    world: World,
    container: ContainerClient,
    job: str,
    tasks: list[dict[str, Any]],
    *,
    cores: float,
    memory: float,
    seconds: int = 600,
    size: str = "Standard_D4s_v5",
    blob: str = "",
    further: Callable[[list[dict[str, Any]]], str] = lambda _: "",
) -> None:
    """Writes the records of a job's ended tasks, by node, as the agent would.

    The blobs have the name of the job or another one; `further` returns lines of a node.
    """
    for node in {task["nodeId"] for task in tasks}:
        own = [task for task in tasks if task["nodeId"] == node]
        about = f'imds_metadata,vm_monitor_collection=once vm_size="{size}" {started(own[0]) * 10**9}\n'
        name = f"accounts/demo/pools/{own[0]['poolId']}/nodes/{node}/{blob or job}.lp"
        ended = "".join(record(job, task, cores=cores, memory=memory, seconds=seconds) for task in own)
        await container.upload_blob(name, about + further(own) + ended, blob_type="AppendBlob")
    await world.app.fire("tick")
