"""Events that node agents report, from their blobs through the worker to the API: each appears once."""

import os
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from typing import Any

import pytest
import pytest_asyncio
from azure.storage.blob.aio import BlobClient, BlobServiceClient

from local.azurite import StorageAddresses
from local.batch_emulator.core.stamps import stamp
from tests.functions.conftest import World

pytestmark = pytest.mark.asyncio(loop_scope="session")
NODE = "accounts/demo/pools/render/nodes/tvm-9"
EVENTS = "accounts/demo/events?node=TVM-9"


@pytest_asyncio.fixture(loop_scope="session")
async def blob(azurite: StorageAddresses) -> AsyncIterator[BlobClient]:
    """Yields a node's append blob; it is empty at first."""
    async with BlobServiceClient.from_connection_string(azurite.connection_string) as service:
        container = service.get_container_client(os.environ["TELEMETRY_CONTAINER"])
        if not await container.exists():
            await container.create_container()
        opened = container.get_blob_client(f"{NODE}/agent/session.0.txt")
        await opened.create_append_blob()
        yield opened
        await opened.delete_blob()


def line(world: World, kind: str, message: str, *, seconds_ago: int, tags: str = "", fields: str = "n=1i") -> bytes:
    at = datetime.fromisoformat(stamp(world.emulator.clock.now)) - timedelta(seconds=seconds_ago)
    return f'batchscope_event,kind={kind}{tags} message="{message}",{fields} {int(at.timestamp())}000000000\n'.encode()


async def listed(world: World, query: str = "") -> list[dict[str, Any]]:
    page = await world.get(f"{EVENTS}{query}")
    assert page.status == 200, page.body
    found: list[dict[str, Any]] = page.body["value"]
    return found


async def test_events_of_a_node_are_in_the_feed_once_with_their_task_and_the_agents_sentence(
    world: World, blob: BlobClient
) -> None:
    killed = "The kernel killed process 7 (python) of task t, because the node ran out of memory."
    task = ",job_id=night,task_id=t,task_attempt=1"
    kill = line(world, "oom_kill", killed, seconds_ago=90, tags=task, fields="pid=7i,is_cgroup_limit=false")
    await blob.append_block(kill)
    await world.app.deliver_blob("node_telemetry", f"{os.environ['TELEMETRY_CONTAINER']}/{blob.blob_name}")
    await blob.append_block(line(world, "fan_failure", "A fan stands still: password=swordfish", seconds_ago=60) + kill)
    await world.app.fire("tick")
    fan, oom = await listed(world)
    assert (oom["kind"], oom["summary"]) == ("node.oom_kill", killed)
    assert (oom["jobId"], oom["taskId"], oom["poolId"], oom["nodeId"]) == ("night", "t", "render", "tvm-9")
    assert oom["properties"] == {"message": killed, "pid": 7, "is_cgroup_limit": False}
    assert (fan["kind"], fan["jobId"], "swordfish" in str(fan)) == ("node.fan_failure", None, False)
    assert [one["kind"] for one in await listed(world, "&kind=Node.OOM_kill&pool=render&job=night")] == [oom["kind"]]
    assert await listed(world, "&kind=node.disk_full") == []
    csv = await world.get(f"{EVENTS}&format=csv")
    assert csv.body.splitlines()[-1].startswith(f"{oom['id']},{oom['time']},node.oom_kill,night,t,render,tvm-9,")
    unknown = await world.get("accounts/demo/events?kind=node.fan")
    assert unknown.status == 400
    assert "node.oom_kill" in unknown.body["error"]["message"]
