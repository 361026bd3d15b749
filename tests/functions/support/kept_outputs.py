"""A job with failed tasks whose outputs ticks keep."""

from typing import Any

from azure.batch.models import BatchNodeRemoveOptions, BatchTaskCreateOptions

from tests.emulator.support.staging import add_job, add_pool
from tests.functions.conftest import World

SECRET = "Tr0ub4dor-and-3"
COMMAND = f"sh -c 'echo password={SECRET}; echo last words >&2; exit 3'"


async def stage(world: World, job: str, commands: dict[str, str], *, nodes: int = 1) -> None:
    """Creates a pool and a job, runs tasks until they failed, and lets ticks see it, more of them on a slow machine."""
    await add_pool(world.batch, job, nodes=nodes)
    await add_job(world.batch, job, pool=job)
    for name, command in commands.items():
        await world.batch.create_task(job, BatchTaskCreateOptions(id=name, command_line=command))
    world.advance(900)
    before = -1
    while before != (before := file_requests(world)):
        await world.app.fire("tick")
        world.advance(61)


async def remove_nodes(world: World, pool: str) -> None:
    found = await world.get(f"accounts/demo/pools/{pool}/nodes")
    nodes = [node["id"] for node in found.body["value"]]
    await world.batch.begin_remove_nodes(pool, BatchNodeRemoveOptions(node_ids=nodes))
    world.advance(600)


async def output(world: World, job: str, task: str) -> Any:
    found = await world.get(f"accounts/demo/jobs/{job}/tasks/{task}/output")
    assert found.status == 200
    assert found.headers["cache-control"] == "no-store"
    return found.body


def file_requests(world: World) -> int:
    return sum(counted["requests"] for route, counted in world.emulator.counters.items() if "/files" in route)
