"""Explanations name what the nodes of a job's pool reported, and say so where that can't be read."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest
import pytest_asyncio
from azure.storage.blob.aio import ContainerClient

from local.batch_emulator.core.stamps import stamp
from shared.errors import StorageError
from shared.services.events import event_queries
from shared.stores.events import EventStore
from tests.functions.conftest import World
from tests.functions.explanation.waiting_jobs import emptied, explained, waiting

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(loop_scope="session")
async def world(_running: World) -> World:
    return await emptied(_running)


async def report(
    world: World,
    container: ContainerClient,
    node: str,
    events: Sequence[str],
    *,
    age: timedelta = timedelta(seconds=30),
) -> datetime:
    """Writes events of a node as its agent does, has them read, and returns their time."""
    at = datetime.fromisoformat(stamp(world.emulator.clock.now)) - age
    blob = container.get_blob_client(f"accounts/demo/pools/pool/nodes/{node}/agent/{age.seconds}.0.txt")
    await blob.create_append_blob()
    await blob.append_block("".join(f"{event} {int(at.timestamp())}000000000\n" for event in events).encode())
    await world.app.fire("tick")
    return at


async def test_events_of_nodes_are_hints_behind_the_cause(world: World, container: ContainerClient) -> None:
    await waiting(world, nodes=1, tasks=9)
    world.advance(300)
    before = await explained(world)
    (node,) = [each["id"] for each in (await world.get("accounts/demo/pools/pool/nodes")).body["value"]]
    await report(world, container, node, [
        'batchscope_event,kind=oom_kill,job_id=job,task_id=task-00001 message="Killed.",is_cgroup_limit=false',
        'batchscope_event,kind=oom_kill,job_id=other,task_id=task-00001 message="Killed."',
        'batchscope_event,kind=disk_full message="The file system / is nearly full: 5 MiB are left.",path="/"',
        'batchscope_event,kind=gpu_xid message="GPU 0 reports Xid 79.",xid=79i',
        'batchscope_event,kind=reboot message="It was restarted."',
    ])  # fmt: skip
    after = await explained(world)
    hints = ["tasksOutOfMemory", "nodeDisksFull", "nodeGpuErrors"]
    assert [one["code"] for one in after["findings"]] == [*(one["code"] for one in before["findings"]), *hints]
    killed, full, _ = (after["findings"])[-3:]
    assert (killed["evidence"]["killedTasks"], killed["evidence"]["exampleTasks"]) == (1, ["task-00001"])
    assert full["evidence"]["reports"] == [f"{node}: The file system / is nearly full: 5 MiB are left."]
    assert full["evidence"]["examples"] == [node]
    assert (after["unknown"], after["summary"]) == ([], before["summary"])


async def test_events_that_cannot_be_read_are_named_as_unknown(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    await waiting(world, nodes=1, tasks=9)
    world.advance(300)
    before = await explained(world)

    def fails(*_: Any) -> Any:
        raise StorageError("Storage didn't answer to read events.")

    monkeypatch.setattr(EventStore, "stretches", fails)
    after = await explained(world, poll=False)
    assert [one["code"] for one in after["findings"]] == [one["code"] for one in before["findings"]]
    assert [one for one in after["unknown"] if "What the pool's nodes reported lately isn't known" in one]


async def test_events_beyond_those_that_are_read_are_named_as_unknown(
    world: World, container: ContainerClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    await waiting(world, nodes=1, tasks=9)
    world.advance(300)
    before = await explained(world)
    full = 'batchscope_event,kind=disk_full message="The file system /data is nearly full.",path="/data"'
    xid = 'batchscope_event,kind=gpu_xid message="GPU 0 reports Xid 79.",xid=79i'
    (node,) = [each["id"] for each in (await world.get("accounts/demo/pools/pool/nodes")).body["value"]]
    await report(world, container, node, [full], age=timedelta(minutes=3))
    at = await report(world, container, node, [xid])
    assert [one["code"] for one in (await explained(world))["findings"]][-2:] == ["nodeDisksFull", "nodeGpuErrors"]
    monkeypatch.setattr(event_queries, "_MAX_LOOKED_AT", 0)
    after = await explained(world, poll=False)
    hints = [one["code"] for one in after["findings"]][len(before["findings"]) :]
    assert (hints, after["unknown"]) == (
        ["nodeGpuErrors"], [f"What the pool's nodes reported before {at:%H:%M} UTC isn't known."],
    )  # fmt: skip
