"""Ends of failed start tasks' outputs: kept by ticks, and read when the node is gone."""

import os
from datetime import datetime, timedelta
from typing import Any

import pytest
from azure.batch.models import BatchNodeRemoveOptions
from azure.data.tables.aio import TableClient

from local.batch_emulator.core.injection import Fault
from shared.domain.outputs.failed_starts import MAX_OF_POOL
from tests.emulator.support.staging import add_pool
from tests.functions.conftest import World

pytestmark = pytest.mark.asyncio(loop_scope="session")
SECRET = "Tr0ub4dor-and-3"
COMMAND = f"sh -c 'echo password={SECRET}; echo last words >&2; exit 3'"
REBOOT: Any = {"nodeRebootOption": "requeue"}  # the SDK fails without one
STDERR = "files/startup/stderr.txt"


async def _stage(world: World, pool: str, *, nodes: int = 1, command: str = COMMAND) -> list[str]:
    """Creates a pool whose start task fails, and has ticks see it; returns the addresses of its nodes."""
    await add_pool(world.batch, pool, nodes=nodes, start=command)
    world.advance(900)
    await _settle(world)
    found = await world.get(f"accounts/demo/pools/{pool}/nodes")
    return [f"accounts/demo/pools/{pool}/nodes/{node['id']}" for node in found.body["value"]]


async def _settle(world: World) -> None:
    """Runs ticks until they read no file any more."""
    before = -1
    while before != (before := _file_requests(world)):
        await world.app.fire("tick")
        world.advance(61)


async def _remove(world: World, pool: str, nodes: list[str]) -> None:
    names = [node.rpartition("/")[2] for node in nodes]
    await world.batch.begin_remove_nodes(pool, BatchNodeRemoveOptions(node_ids=names))
    world.advance(600)
    await world.app.fire("tick")


async def _output(world: World, node: str, start: str = "") -> Any:
    found = await world.get(f"{node}/output" + (f"?start={start}" if start else ""))
    assert found.status == 200, found.body
    assert found.headers["cache-control"] == "no-store"
    return found.body


def _file_requests(world: World) -> int:
    return sum(counted["requests"] for route, counted in world.emulator.counters.items() if "/files" in route)


async def _rows(pool: str) -> list[dict[str, Any]]:
    storage, name = os.environ["TELEMETRY_STORAGE"], f"{os.environ['TABLE_PREFIX']}outputs"
    async with TableClient.from_connection_string(storage, name) as table:
        found = [dict(row) async for row in table.list_entities()]
    return [row for row in found if row["PartitionKey"].endswith(f"~~pool~{pool}")]


async def test_the_output_of_a_start_task_is_read_a_day_after_its_node_was_removed(world: World) -> None:
    (node,) = await _stage(world, "kept")
    run = (await world.get(node)).body["startTaskInfo"]
    await _remove(world, "kept", [node])
    world.advance(86_400)
    await world.app.fire("tick")
    assert (await world.get(node)).status == 404
    found = await _output(world, node)
    assert found["stderr"] == {"text": "last words\n", "size": 11, "offset": 0, "reason": None, "message": None}
    assert found["stdout"]["text"] == f"password={'*' * len(SECRET)}\n"
    assert (found["exitCode"], found["attempt"], found["poolId"]) == (3, 1, "kept")
    assert (found["startTime"], found["endTime"]) == (run["startTime"], run["endTime"])
    assert node.endswith(found["nodeId"])
    assert await _output(world, node, found["startTime"]) == found
    kept, expires = (datetime.fromisoformat(found[name]) for name in ("keptTime", "expiryTime"))
    assert timedelta(days=30) <= expires - kept < timedelta(days=31)
    file = await world.get(f"{node}/{STDERR}?tail=6")
    assert (file.status, file.body, file.headers["batchscope-offset"]) == (200, "words\n", "5")
    assert datetime.fromisoformat(file.headers["batchscope-kept-at"]) == kept
    other = await world.get(f"{node}/files/startup/other.txt")
    assert (other.status, other.body["error"]["code"]) == (404, "FileNotFound")


async def test_the_output_is_read_when_the_pool_is_deleted_too(world: World) -> None:
    (node,) = await _stage(world, "no-pool")
    await world.batch.begin_delete_pool("no-pool")
    world.advance(600)
    await world.app.fire("tick")
    assert (await world.get("accounts/demo/pools/no-pool")).status == 404
    assert (await _output(world, node))["stderr"]["text"] == "last words\n"
    assert (await world.get(f"{node}/{STDERR}")).body == "last words\n"


async def test_a_file_that_is_there_comes_from_the_node(world: World) -> None:
    (node,) = await _stage(world, "live-start")
    file = await world.get(f"{node}/{STDERR}")
    assert (file.body, "batchscope-kept-at" in file.headers) == ("last words\n", False)


async def test_a_start_task_that_did_well_is_the_reason(world: World) -> None:
    (node,) = await _stage(world, "fine", command="sh -c 'echo well'")
    found = await _output(world, node)
    assert found["stderr"]["reason"] == found["stdout"]["reason"] == "NotFailed"
    assert (found["keptTime"], found["poolId"]) == (None, "fine")
    assert (await world.get("accounts/demo/pools/fine/nodes/none/output")).status == 404


async def test_a_node_that_was_gone_first_is_the_reason(world: World) -> None:
    await add_pool(world.batch, "gone-start", nodes=1, start=COMMAND)
    world.advance(900)
    await world.poll()
    (node,) = (await world.get("accounts/demo/pools/gone-start/nodes")).body["value"]
    await _remove(world, "gone-start", [f"/{node['id']}"])
    found = await _output(world, f"accounts/demo/pools/gone-start/nodes/{node['id']}")
    assert found["stderr"]["text"] is None
    assert found["stderr"]["message"].startswith("There was nothing to keep ")
    assert "the node was removed" in found["stderr"]["message"]


async def test_a_rebooted_nodes_next_failure_is_kept_beside_the_first(world: World) -> None:
    (node,) = await _stage(world, "again-start")
    first = await _output(world, node)
    await world.batch.begin_reboot_node("again-start", node.rpartition("/")[2], REBOOT)
    world.advance(900)
    await _settle(world)
    latest = await _output(world, node)
    assert latest["startTime"] > first["startTime"]
    assert await _output(world, node, first["startTime"]) == first
    assert (await _output(world, node, "2026-01-01T00:00:00Z"))["stderr"]["reason"] == "Gone"
    assert len(await _rows("again-start")) == 2


async def test_of_a_pool_that_fails_on_many_nodes_the_first_are_kept(world: World) -> None:
    nodes = await _stage(world, "large-start", nodes=MAX_OF_POOL + 3)
    assert len(await _rows("large-start")) == MAX_OF_POOL
    found = [await _output(world, node) for node in nodes]
    assert [one["stderr"]["reason"] for one in found if not one["keptTime"]] == ["PoolBound"] * 3
    assert "20 start tasks of this pool" in next(one for one in found if not one["keptTime"])["stderr"]["message"]
    requests = _file_requests(world)
    for _ in range(3):
        world.advance(61)
        await world.app.fire("tick")
    assert _file_requests(world) == requests


async def test_an_operator_deletes_what_was_kept_of_a_pool(world: World) -> None:
    (node,) = await _stage(world, "deleted-start")
    assert (await world.delete("accounts/demo/pools/deleted-start/outputs")).status == 204
    assert (await _output(world, node))["stderr"]["reason"] == "Gone"
    await _settle(world)
    assert (await _output(world, node))["stderr"]["reason"] == "Gone"
    await world.batch.begin_reboot_node("deleted-start", node.rpartition("/")[2], REBOOT)
    world.advance(900)
    await _settle(world)
    assert (await _output(world, node))["stderr"]["text"] == "last words\n"
    assert (await world.delete("accounts/demo/pools/none/outputs")).status == 404


async def test_what_was_kept_of_a_pool_expires_with_its_mark(world: World) -> None:
    (node,) = await _stage(world, "past-start")
    assert (await world.delete("accounts/demo/pools/past-start/outputs")).status == 204
    await world.batch.begin_reboot_node("past-start", node.rpartition("/")[2], REBOOT)
    world.advance(900)
    await _settle(world)
    assert [row["RowKey"][0] for row in await _rows("past-start")] == ["!", "n"]
    world.advance(86_400 * 2)
    await world.app.fire("housekeeping")
    assert [row["RowKey"][0] for row in await _rows("past-start")] == ["n"]
    world.advance(86_400 * 30)
    await world.app.fire("housekeeping")
    assert await _rows("past-start") == []


async def test_a_failure_of_batch_is_tried_again(world: World) -> None:
    world.emulator.faults.add(Fault(path="/pools/later-start/nodes/*/files/*", status=500))
    (node,) = await _stage(world, "later-start")
    assert (await _output(world, node))["stderr"]["reason"] == "NotYet"
    world.emulator.faults.clear()
    world.advance(61)
    await world.app.fire("tick")
    assert (await _output(world, node))["stderr"]["text"] == "last words\n"


async def test_a_run_whose_node_was_rebooted_before_it_was_read_gets_no_output_of_the_next_run(world: World) -> None:
    world.emulator.faults.add(Fault(path="/pools/rebooted/nodes/*/files/*", status=500))
    (node,) = await _stage(world, "rebooted", command="sh -c 'echo begun >&2; sleep 300; echo last words >&2; exit 3'")
    run = (await world.get(node)).body["startTaskInfo"]
    await world.batch.begin_reboot_node("rebooted", node.rpartition("/")[2], REBOOT)
    world.advance(200)
    world.emulator.faults.clear()
    await world.app.fire("tick")
    now = (await world.get(node)).body["startTaskInfo"]
    assert (now["state"], now["startTime"] > run["startTime"]) == ("running", True)
    said = (await _output(world, node, run["startTime"]))["stderr"]
    assert (said["text"], said["reason"]) == (None, "RanAgain")
    world.advance(900)
    await _settle(world)
    assert (await _output(world, node))["stderr"]["text"] == "begun\nlast words\n"
