"""Telemetry of whole pools through the app: over time, by node, and which nodes are silent."""

import os
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import pytest
from azure.storage.blob.aio import ContainerClient

from local.azurite import StorageAddresses
from local.batch_emulator.core.stamps import stamp
from local.batch_emulator.exports.telemetry_writer import TelemetryWriter
from shared.domain.telemetry.catalog.field_mappings import SOURCE
from tests.emulator.support.staging import add_pool
from tests.functions.conftest import World

pytestmark = pytest.mark.asyncio(loop_scope="session")
MINUTE = timedelta(minutes=1)
USED = "name=system.memory.usage&attributes=system.memory.state=used"


async def staged(world: World, pool: str, nodes: int) -> list[str]:
    """Creates a pool and returns the ids of its nodes, which are idle."""
    await add_pool(world.batch, pool, nodes=nodes)
    world.advance(400)
    await world.poll()
    return [node["id"] for node in (await world.get(f"accounts/demo/pools/{pool}/nodes")).body["value"]]


def now(world: World) -> datetime:
    return datetime.fromisoformat(stamp(world.emulator.clock.now))


async def written(
    world: World, container: ContainerClient, pool: str, used: Mapping[str, Mapping[int, int]], name: str = "a"
) -> None:
    """Writes bytes of used memory by node and minutes ago, which the app then reads."""
    begin = now(world).replace(second=10, microsecond=0)
    for node, values in used.items():
        blob = container.get_blob_client(f"accounts/demo/pools/{pool}/nodes/{node}/{name}.json")
        await blob.create_append_blob()
        lines = [
            f"mem used={value}i {int((begin - ago * MINUTE).timestamp()) * 10**9}\n" for ago, value in values.items()
        ]
        await blob.append_block("".join(lines).encode())
    await world.app.fire("tick")


async def test_a_pool_shows_statistics_over_its_nodes_and_which_are_silent(
    world: World, container: ContainerClient
) -> None:
    first, second, third, fourth = await staged(world, "many", 4)
    await written(world, container, "many", {first: {1: 10, 2: 40}, second: {1: 20}, third: {1: 60, 90: 5}})
    shown = (await world.get(f"accounts/demo/pools/MANY/telemetry?{USED}&step=PT1M")).body
    (memory,) = shown["value"]
    assert (memory["name"], memory["unit"], shown["pool"]) == ("system.memory.usage", "By", "many")
    assert memory["attributes"] == {"system.memory.state": "used"}
    assert [
        (point["nodes"], point["mean"], point["p50"], point["p95"], point["max"]) for point in memory["points"]
    ] == [
        (1, 40, 40, 40, 40),
        (3, 30, 20, 60, 60),
    ]
    nodes = shown["nodes"]
    assert (nodes["listed"], nodes["reporting"], nodes["silent"]) == (4, 3, 1)
    assert nodes["silentNodes"] == [{"id": fourth, "seen": None}]
    world.advance(600)
    later = (await world.get(f"accounts/demo/pools/many/telemetry?{USED}&step=PT10M")).body
    assert sum(point["mean"] for series in later["value"] for point in series["points"]) > 0
    assert later["nodes"]["silent"] == 4
    assert {one["id"]: one["seen"] is None for one in later["nodes"]["silentNodes"]} == {
        first: False, second: False, third: False, fourth: True,
    }  # fmt: skip


async def test_a_pools_statistics_are_those_of_what_its_nodes_show(world: World, azurite: StorageAddresses) -> None:
    async with TelemetryWriter(world.emulator, azurite.connection_string, os.environ["TELEMETRY_CONTAINER"]) as writer:
        nodes = await staged(world, "equal", 3)
        world.advance(100)
        await writer.flush()
        await world.app.fire("tick")
        world.advance(400)
        await writer.flush()
    await world.app.fire("tick")
    for name, attributes in (
        ("system.memory.usage", {"system.memory.state": "used"}),
        ("system.cpu.utilization", {"cpu.mode": "user"}),
        ("system.network.io", {"network.io.direction": "receive"}),
    ):
        chosen = ";".join(f"{key}={value}" for key, value in attributes.items())
        values: dict[str, list[float]] = {}
        for node in nodes:
            path = f"accounts/demo/pools/equal/nodes/{node}/telemetry?step=PT1M&name={name}&attributes={chosen}"
            for time, value in node_values((await world.get(path)).body).items():
                values.setdefault(time, []).append(value)
        path = f"accounts/demo/pools/equal/telemetry?step=PT1M&name={name}&attributes={chosen}"
        (metric,) = [one for one in (await world.get(path)).body["value"] if one["attributes"] == attributes]
        found = {point["time"]: (point["nodes"], point["mean"], point["max"]) for point in metric["points"]}
        assert found.keys() == values.keys()
        assert len(found) > 5
        for time, some in values.items():
            assert found[time] == pytest.approx((len(some), sum(some) / len(some), max(some)), rel=1e-5)


def node_values(answer: Any) -> dict[str, float]:
    """Returns a node's means of a gauge, or growth per second of a counter on all of its networks, by time."""
    found: dict[str, float] = {}
    for series in answer["value"]:
        attributes = series["attributes"]
        if attributes.get("network.interface.name") == "lo" or attributes.keys() & {"cpu.logical_number", SOURCE[0]}:
            continue
        for point in series["points"]:
            number = 60 if series["kind"] == "counter" else point["count"]
            found[point["time"]] = found.get(point["time"], 0) + point["sum"] / number
    return found


async def test_values_by_node_are_the_latest_or_those_of_a_time(world: World, container: ContainerClient) -> None:
    first, second, third = await staged(world, "heat", 3)
    await written(world, container, "heat", {first: {1: 10, 20: 7}, second: {2: 20}})
    query = f"accounts/demo/pools/heat/telemetry/nodes?{USED}"
    found = (await world.get(query)).body
    assert {one["id"]: one["value"] for one in found["value"]} == {first: 10, second: 20, third: None}
    assert {one["state"] for one in found["value"]} == {"idle"}
    assert [one["seen"] is None for one in found["value"] if one["id"] == third] == [True]
    assert (found["name"], found["unit"]) == ("system.memory.usage", "By")
    earlier = (now(world) - 18 * MINUTE).isoformat().replace("+00:00", "Z")
    before = (await world.get(f"{query}&at={earlier}")).body
    assert {one["id"]: one["value"] for one in before["value"]} == {first: 7, second: None, third: None}
    assert [one["id"] for one in (await world.get(f"{query}&top=1")).body["value"]] == [second]
    table = (await world.get(f"{query}&format=csv")).body.splitlines()
    assert table[0] == "id,state,value,time,seen"
    assert len(table) == 4


async def test_a_node_that_wrote_a_time_ahead_is_silent_once_it_writes_no_more(
    world: World, container: ContainerClient
) -> None:
    (node,) = await staged(world, "ahead", 1)
    await written(world, container, "ahead", {node: {1: 10, -50: 20}})
    last = now(world)
    assert (await world.get(f"accounts/demo/pools/ahead/telemetry?{USED}")).body["nodes"]["reporting"] == 1
    world.advance(45 * 60)
    nodes = (await world.get(f"accounts/demo/pools/ahead/telemetry?{USED}")).body["nodes"]
    assert (nodes["reporting"], nodes["silent"]) == (0, 1)
    (shown,) = (await world.get(f"accounts/demo/pools/ahead/telemetry/nodes?{USED}")).body["value"]
    assert (shown["value"], datetime.fromisoformat(shown["seen"]) <= last) == (None, True)


async def test_each_metric_that_is_listed_can_be_mapped(world: World, container: ContainerClient) -> None:
    await staged(world, "other", 1)
    (node,) = await staged(world, "listed", 1)
    await written(world, container, "listed", {node: {1: 10}})
    at = int((now(world) - MINUTE).timestamp()) * 10**9
    lines = (
        "mem free=5i", "docker_container_mem,container_name=c usage=7i,limit=9i,max_usage=8i", "size_bytes value=3",
        "train,host=a loss=2,epoch=3", "net,interface=eth0 bytes_recv=4i,bytes_sent=5i",
        "nvidia_smi,index=0 temperature_gpu=50i", "nvidia_smi,index=1 temperature_gpu=60i",
    )  # fmt: skip
    blob = container.get_blob_client(f"accounts/demo/pools/listed/nodes/{node}/b.json")
    await blob.create_append_blob()
    await blob.append_block("".join(f"{line} {at}\n" for line in lines).encode())
    loose = container.get_blob_client("loose.txt")
    await loose.create_append_blob()
    await loose.append_block(f"fan,node_id={node} rpm=900 {at}\n".encode())
    await world.app.fire("tick")
    listed = (await world.get("accounts/demo/pools/LISTED/telemetry/metrics")).body
    assert listed["count"] == len(listed["value"])
    units = {one["name"]: one["unit"] for one in listed["value"]}
    assert {"custom.train.loss": "", "custom.train.epoch": "", "custom.size_bytes": "By"}.items() <= units.items()
    assert {"custom.fan.rpm", "container.memory.usage", "container.memory.usage.limit"} <= units.keys()
    temperatures = [one["attributes"] for one in listed["value"] if one["name"] == "hw.temperature"]
    assert temperatures == [{"batchscope.device": "highest", "hw.type": "gpu"}, {"hw.type": "gpu"}]
    assert (await world.get("accounts/demo/pools/other/telemetry/metrics")).body == {"value": [], "count": 0}
    for one in listed["value"]:
        chosen = ";".join(f"{name}={value}" for name, value in one["attributes"].items())
        query = f"name={one['name']}" + (f"&attributes={chosen}" if chosen else "")
        found = (await world.get(f"accounts/demo/pools/listed/telemetry/nodes?{query}")).body
        assert {"name": found["name"], "attributes": found["attributes"], "unit": found["unit"]} == one
    world.advance(3600)
    assert (await world.get("accounts/demo/pools/listed/telemetry/metrics")).body["count"] == 0


async def test_a_node_that_is_not_listed_is_shown_by_its_id(world: World, container: ContainerClient) -> None:
    await staged(world, "left", 1)
    await written(world, container, "left", {'a"b': {1: 10}})
    found = (await world.get(f"accounts/demo/pools/left/telemetry/nodes?{USED}&top=5")).body
    assert [(one["id"], one["state"], one["value"]) for one in found["value"]] == [('a"b', None, 10)]


async def test_several_metrics_that_fit_a_map_are_refused_by_name(world: World, container: ContainerClient) -> None:
    (node,) = await staged(world, "one", 1)
    await written(world, container, "one", {node: {1: 10}})
    blob = container.get_blob_client(f"accounts/demo/pools/one/nodes/{node}/b.json")
    await blob.create_append_blob()
    at = int((now(world) - MINUTE).timestamp()) * 10**9
    await blob.append_block(f"mem free=5i {at}\ntraining loss=0.5 {at}\n".encode())
    await world.app.fire("tick")
    refused = await world.get("accounts/demo/pools/one/telemetry/nodes?name=system.memory.usage")
    assert (refused.status, refused.body["error"]["target"]) == (400, "attributes")
    assert "system.memory.state=free" in refused.body["error"]["message"]
    custom = (await world.get("accounts/demo/pools/one/telemetry/nodes?name=custom.training")).body
    assert (custom["name"], [one["value"] for one in custom["value"]]) == ("custom.training.loss", [0.5])
    default = (await world.get("accounts/demo/pools/one/telemetry")).body
    assert default["value"] == []


async def test_of_a_custom_metric_with_and_without_a_unit_the_map_has_that_of_most_nodes(
    world: World, container: ContainerClient
) -> None:
    nodes = await staged(world, "units", 3)
    at = int((now(world) - MINUTE).timestamp()) * 10**9
    for number, (node, unit) in enumerate(zip(nodes, ("", ",__unit__=By", ""), strict=True)):
        blob = container.get_blob_client(f"accounts/demo/pools/units/nodes/{node}/u.json")
        await blob.create_append_blob()
        await blob.append_block(f"loss{unit} x={number} {at}\n".encode())
    await world.app.fire("tick")
    found = (await world.get("accounts/demo/pools/units/telemetry/nodes?name=custom.loss.x")).body
    assert (found["name"], found["unit"]) == ("custom.loss.x", "")
    assert {one["id"]: one["value"] for one in found["value"]} == dict(zip(nodes, (0, None, 2), strict=True))


async def test_an_account_shows_each_of_its_pools_with_telemetry(world: World, container: ContainerClient) -> None:
    for pool in ("north", "south"):
        (node,) = await staged(world, pool, 1)
        await written(world, container, pool, {node: {1: len(pool)}})
    await staged(world, "quiet", 1)
    found = (await world.get(f"accounts/demo/telemetry?{USED}")).body
    pools = {
        one["pool"]: [point["mean"] for series in one["value"] for point in series["points"]] for one in found["value"]
    }
    assert {"north": [5], "south": [5]}.items() <= pools.items()
    assert "quiet" not in pools
    table = (await world.get(f"accounts/demo/telemetry?{USED}&format=csv")).body.splitlines()
    assert table[0] == "time,nodes,mean,p50,p95,max,pool,name,attributes,unit"
    assert any("north" in line for line in table)


async def test_prometheus_has_pools_and_on_demand_their_nodes(world: World, container: ContainerClient) -> None:
    busy, idle, silent = await staged(world, "scraped", 3)
    await staged(world, "quiet-scraped", 1)
    for node, share in ((busy, 10), (idle, 90)):
        blob = container.get_blob_client(f"accounts/demo/pools/scraped/nodes/{node}/c.json")
        await blob.create_append_blob()
        at = int((now(world) - MINUTE).timestamp()) * 10**9
        await blob.append_block(f"cpu,cpu=cpu-total usage_idle={share} {at}\n".encode())
    await world.app.fire("tick")
    text = (await world.get("metrics")).body
    labels = 'account="demo",pool="scraped"'
    assert f"azbatch_pool_reporting_nodes{{{labels}}} 2.0" in text
    assert f"azbatch_pool_silent_nodes{{{labels}}} 1.0" in text
    for statistic, value in (("mean", 0.5), ("max", 0.9)):
        line = f'azbatch_pool_cpu_utilization_ratio{{{labels},statistic="{statistic}"}} '
        (found,) = [one.removeprefix(line) for one in text.splitlines() if one.startswith(line)]
        assert float(found) == pytest.approx(value)
    assert "azbatch_node_" not in text
    nodes = (await world.get("metrics?pool=SCRAPED")).body
    samples = [line for line in nodes.splitlines() if line.startswith("azbatch_node_")]
    assert [line.partition("node=")[2].partition(",")[0] for line in samples] == sorted([f'"{busy}"', f'"{idle}"'])
    assert silent not in nodes
    quiet = (await world.get("metrics?pool=quiet-scraped")).body
    assert not any(line.startswith("azbatch_node_") for line in quiet.splitlines())
    assert (await world.get("metrics?pool=quiet-scraped&pool=scraped")).body == nodes
    unknown = await world.get("metrics?pool=scraped&pool=nowhere")
    assert (unknown.status, unknown.body["error"]["code"]) == (404, "PoolNotFound")


@pytest.mark.parametrize(
    ("query", "target"),
    [
        ("telemetry?name=nothing", "name"),
        ("telemetry?name=system", "name"),
        ("telemetry?attributes=cpu.mode=idle", "name"),
        ("telemetry?name=system.cpu&step=PT1M&from=2020-01-01T00:00:00Z", "step"),
        ("telemetry/nodes?attributes=cpu.mode=idle", "name"),
        ("telemetry/nodes?name=system.cpu&top=0", "top"),
    ],
)
async def test_questions_without_sense_are_refused(world: World, query: str, target: str) -> None:
    await staged(world, "asked", 1)
    refused = await world.get(f"accounts/demo/pools/asked/{query}")
    assert (refused.status, refused.body["error"]["target"]) == (400, target)
