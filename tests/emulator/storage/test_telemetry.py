"""Telemetry of emulated nodes: in the layout of a TES agent, matching their activity, each record once."""

import asyncio
import contextlib
import json
import re
import secrets
import threading
import time
from collections.abc import AsyncIterator, Iterable, Iterator
from itertools import pairwise
from statistics import fmean

import pytest
from azure.core.exceptions import HttpResponseError
from azure.storage.blob import ContainerClient
from azure.storage.blob.aio import ContainerClient as AsyncContainer

from local.azurite import StorageAddresses
from local.batch_emulator.core.stamps import parse_stamp
from local.batch_emulator.emulator import Emulator
from local.batch_emulator.exports.telemetry_blobs import TelemetryBlobs
from local.batch_emulator.exports.telemetry_blocks import Block, BlockBuilder, encode_batch
from local.batch_emulator.exports.telemetry_writer import TelemetryWriter
from local.batch_emulator.protocol.auth import DEVELOPMENT_KEY
from local.batch_emulator.telemetry.hardware import AgentSession, hardware_of
from local.batch_emulator.telemetry.samplers import MAX_SAMPLED_NODES, EndedSession, NodeSample
from local.batch_emulator.telemetry.startup_records import secrets_of
from tests.emulator.conftest import START
from tests.emulator.storage.deaf_storage import deaf
from tests.emulator.storage.telemetry_blobs import ONCE, batches, blobs, frames, samples
from tests.emulator.support.driver import Driver

HUNGRY = "sleep 300; exit 137"


@pytest.fixture
def container(azurite: StorageAddresses) -> Iterator[ContainerClient]:
    with ContainerClient.from_connection_string(azurite.connection_string, f"nodes-{secrets.token_hex(6)}") as found:
        yield found


@pytest.fixture
async def writer(
    stepped: Driver, azurite: StorageAddresses, container: ContainerClient
) -> AsyncIterator[TelemetryWriter]:
    """Yields a writer that writes the nodes' measurements on request."""
    async with TelemetryWriter(stepped.emulator, azurite.connection_string, container.container_name) as opened:
        yield opened


async def node_states(driver: Driver) -> dict[str, str]:
    return {node["id"]: node["state"] for node in await driver.rows("/pools/pool/nodes")}


def in_order(pairs: list[tuple[str, object]]) -> dict[str, object]:
    assert pairs == sorted(pairs, key=lambda pair: pair[0])
    return dict(pairs)


async def test_a_node_writes_as_an_agent_of_tes_does(
    stepped: Driver, writer: TelemetryWriter, container: ContainerClient
) -> None:
    await stepped.add_pool(nodes=1, vmSize="standard_nc24ads_a100_v4")
    await stepped.advance(300)
    await writer.flush()
    (node,) = await node_states(stepped)
    ((name, stored),) = blobs(container).items()
    assert name == f"accounts/demo/pools/pool/nodes/{node}/vm_perf_metrics.0.zst"
    texts = frames(stored)
    for text in texts:
        assert text.endswith(b"}]}\n")
        json.loads(text, object_pairs_hook=in_order)
        assert not re.search(rb"[&<>]|\.0[,}]", text)
    first, *rest = batches(stored)
    assert all(record["tags"][ONCE] == "once" for record in first)
    startup = {record["name"]: record["fields"] for record in first}
    assert startup["batch_agent_data"]["batch_vm_name"] == node
    assert (startup["imds_metadata"]["vm_size"], startup["vm_lscpu_metadata"]["CPUs"]) == (
        "standard_nc24ads_a100_v4",
        24,
    )
    assert not any(ONCE in record["tags"] for batch in rest for record in batch)
    apart = {"cpu": 5, "mem": 5, "net": 5, "nvidia_smi": 5, "agg.cpu": 15, "swap": 60, "system": 60, "processes": 60}
    for measurement, seconds in apart.items():
        stamps = [record["timestamp"] for batch in rest for record in batch if record["name"] == measurement]
        assert len(stamps) > 2, measurement
        assert {later - earlier for earlier, later in pairwise(stamps)} == {seconds * 1000}
    usage = next(record["fields"] for record in rest[0] if record["name"] == "cpu")
    assert sum(usage.values()) == pytest.approx(100)


async def test_measurements_show_the_work_of_nodes(
    stepped: Driver, writer: TelemetryWriter, container: ContainerClient
) -> None:
    await stepped.add_pool(nodes=2, startTask={"commandLine": "sleep 60", "waitForSuccess": True})
    await stepped.add_job()
    await stepped.advance(240)
    await stepped.add_tasks("job", HUNGRY)
    await stepped.advance(280)
    await writer.flush()
    busy, idle = sorted(
        blobs(container).values(), key=lambda blob: -samples(blob, "cpu", "usage_user", cpu="cpu-total")[-1][1]
    )
    for stored in (busy, idle):
        (_, starting), *_ = samples(stored, "cpu", "usage_user", cpu="cpu-total")
        assert starting > 20
    assert samples(idle, "cpu", "usage_user", cpu="cpu-total")[-1][1] < 5
    assert samples(busy, "cpu", "usage_user", cpu="cpu-total")[-1][1] > 45
    quarter = len(samples(busy, "mem", "used_percent")) // 4
    memory = [value for _, value in samples(busy, "mem", "used_percent")]
    assert fmean(memory[:quarter]) < 20
    assert memory[-1] > 90
    received = [value for _, value in samples(busy, "net", "bytes_recv")]
    assert received == sorted(received)
    assert received[-1] > samples(idle, "net", "bytes_recv")[-1][1] + 50_000_000


async def test_written_telemetry_is_reported(
    stepped: Driver, writer: TelemetryWriter, container: ContainerClient
) -> None:
    await stepped.add_pool(nodes=2)
    await stepped.advance(200)
    await writer.flush()
    reported = (await stepped.control("GET", "telemetry"))["demo"]
    assert (reported["glimpsesLost"], reported["nodesBeyond"], reported["blocksLost"]) == (0, 0, 0)
    found = blobs(container)
    assert found.keys() == {node["blob"] for node in reported["nodes"].values()}
    for node in reported["nodes"].values():
        stored = found[node["blob"]]
        assert (node["bytes"], node["blocks"], node["lives"]) == (len(stored), len(frames(stored)), 1)
        assert node["records"] == sum(map(len, batches(stored)))
        used = [value for _, value in samples(stored, "mem", "used")]
        assert node["gauges"]["mem.used"] == {"count": len(used), "sum": pytest.approx(sum(used))}
        received = [value for _, value in samples(stored, "net", "bytes_recv")]
        assert node["growth"]["net.bytes_recv"] == received[-1] - received[0] > 0


async def test_a_preempted_node_loses_its_unwritten_samples_and_begins_anew(
    stepped: Driver, writer: TelemetryWriter, container: ContainerClient
) -> None:
    await stepped.control("POST", "settings", {"preemptionSeconds": 200})
    await stepped.add_pool(nodes=0, targetLowPriorityNodes=1)
    lost = 0
    while not lost:
        await stepped.advance(1)
        state = (list((await node_states(stepped)).values()) or [""])[0]
        lost = stepped.emulator.clock.now if state == "preempted" else 0
    await writer.flush()
    ((_, stored),) = blobs(container).items()
    before = samples(stored, "mem", "used")
    assert (lost // 10_000 - before[-1][0]) > 5_000
    await stepped.control("POST", "settings", {"preemptionSeconds": 0})
    await stepped.advance(300)
    await writer.flush()
    ((_, stored),) = blobs(container).items()
    begun = [batch for batch in batches(stored) if ONCE in batch[0]["tags"]]
    assert len(begun) == 2
    (reported,) = (await stepped.control("GET", "telemetry"))["demo"]["nodes"].values()
    received = [value for _, value in samples(stored, "net", "bytes_recv")]
    first, second = received[: len(before)], received[len(before) :]
    assert second[0] < first[-1]
    assert (reported["lives"], reported["growth"]["net.bytes_recv"]) == (
        2,
        first[-1] - first[0] + second[-1] - second[0],
    )


async def test_a_rebooted_node_writes_all_it_has(
    stepped: Driver, writer: TelemetryWriter, container: ContainerClient
) -> None:
    await stepped.add_pool(nodes=1)
    await stepped.advance(123)
    (node,) = await node_states(stepped)
    await stepped.call("POST", f"/pools/pool/nodes/{node}/reboot", {})
    ended = stepped.emulator.clock.now // 10_000
    await stepped.advance(1)
    await writer.flush()
    ((_, stored),) = blobs(container).items()
    assert ended - samples(stored, "mem", "used")[-1][0] <= 5_000


def test_a_life_whose_end_nobody_saw_is_not_mixed_with_the_next() -> None:
    packer = BlockBuilder("demo", "1", 5)
    lives = [AgentSession("pool", "node", life, hardware_of("d2s", 1), False, "10.0.0.4", 0, 0) for life in (1, 2)]
    packed = [packer.build([NodeSample(life, 0, at, False, ())]) for at, life in enumerate(lives)]
    assert [ONCE in blocks[0].records[0]["tags"] for blocks in packed] == [True, True]


async def test_the_same_seed_measures_the_same() -> None:
    def written(seed: int) -> list[bytes]:
        emulator = Emulator({"demo": DEVELOPMENT_KEY}, stepped=True, start=parse_stamp(START), seed=seed)
        emulator.sample_nodes(5)
        simulation = emulator.simulations["demo"]
        simulation.pools.create("pool", {"id": "pool", "vmSize": "standard_d4s_v5", "targetDedicatedNodes": 2})
        emulator.event_queue.advance(120)
        return [block.frame for block in BlockBuilder("demo", str(seed), 5).build(simulation.sampler.drain())]

    assert len(written(1)) > 4
    assert written(1) == written(1)
    assert written(1) != written(2)


def test_numbers_are_written_as_agents_write_them() -> None:
    text = encode_batch(
        [{"fields": {"b": 100.0, "a": 1.5, "c": 1.2e21, "d": 7}, "name": "m", "tags": {}, "timestamp": 1}]
    )
    assert text == b'{"metrics":[{"fields":{"a":1.5,"b":100,"c":1.2e+21,"d":7},"name":"m","tags":{},"timestamp":1}]}\n'


async def test_environments_hold_secrets_for_others_to_leave_out(
    stepped: Driver, writer: TelemetryWriter, container: ContainerClient
) -> None:
    await stepped.add_pool(nodes=1)
    await stepped.advance(60)
    await writer.flush()
    (node,) = await node_states(stepped)
    first, *_ = batches(*blobs(container).values())
    variables = {record["fields"]["key"]: record["fields"]["value"] for record in first if record["name"] == "exec.env"}
    hidden = secrets_of(node, "1/demo/telemetry")
    assert len(hidden) == 5
    assert hidden.items() < variables.items()


async def test_blocks_wait_until_storage_takes_them(
    stepped: Driver, azurite: StorageAddresses, container: ContainerClient, capsys: pytest.CaptureFixture[str]
) -> None:
    async def pass_on(reader: asyncio.StreamReader, answers: asyncio.StreamWriter) -> None:
        inner, sent = await asyncio.open_connection("127.0.0.1", azurite.blob_port)

        async def pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
            while chunk := await source.read(65_536):
                sink.write(chunk)
                await sink.drain()
            sink.close()

        await asyncio.gather(pump(reader, sent), pump(inner, answers))

    door = await asyncio.start_server(pass_on, "127.0.0.1", 0)
    port = door.sockets[0].getsockname()[1]
    door.close()
    await door.wait_closed()
    address = azurite.connection_string.replace(str(azurite.blob_port), str(port))
    async with TelemetryWriter(stepped.emulator, address, container.container_name) as writer:
        await stepped.add_pool(nodes=1)
        await stepped.advance(100)
        await writer.flush()
        await stepped.advance(100)
        await writer.flush()
        assert capsys.readouterr().err.count("Telemetry can't be written now, and waits") == 1
        door = await asyncio.start_server(pass_on, "127.0.0.1", port)
        await writer.flush()
    door.close()
    ((_, stored),) = blobs(container).items()
    stamps = [at for at, _ in samples(stored, "mem", "used")]
    assert stamps == list(range(stamps[0], stamps[-1] + 1, 5_000))
    assert stamps[-1] >= stepped.emulator.clock.now // 10_000 - 5_000


async def test_blocks_being_packed_when_the_writer_is_closed_are_written(
    stepped: Driver, azurite: StorageAddresses, container: ContainerClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack, begun = BlockBuilder.build, threading.Event()

    def slowly(packer: BlockBuilder, found: Iterable[NodeSample | EndedSession]) -> list[Block]:
        begun.set()
        time.sleep(0.3)
        return pack(packer, found)

    monkeypatch.setattr(BlockBuilder, "build", slowly)
    async with TelemetryWriter(stepped.emulator, azurite.connection_string, container.container_name) as writer:
        await stepped.add_pool(nodes=1)
        await stepped.advance(100)
        writer.start()
        await asyncio.to_thread(begun.wait)
    ((_, stored),) = blobs(container).items()
    stamps = [at for at, _ in samples(stored, "mem", "used")]
    assert len(stamps) > 5
    assert stamps == list(range(stamps[0], stamps[-1] + 1, 5_000))


async def test_an_outage_that_lasts_leaves_a_gap_and_says_so(
    stepped: Driver, azurite: StorageAddresses, container: ContainerClient, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = azurite.connection_string.replace(str(azurite.blob_port), "1")
    async with TelemetryWriter(stepped.emulator, broken, container.container_name, max_waiting=3) as writer:
        await stepped.add_pool(nodes=1)
        await stepped.advance(200)
        await writer.flush()
        reported = (await stepped.control("GET", "telemetry"))["demo"]
        (waiting,) = writer._queues["demo"].waiting.values()
    assert waiting[-1].records[-1]["timestamp"] > stepped.emulator.clock.now // 10_000 - 20_000
    assert reported["blocksLost"] > 3
    assert reported["nodes"] == {}
    assert "Some telemetry of nodes is lost" in capsys.readouterr().err


async def test_unmeasured_nodes_are_reported(
    stepped: Driver, writer: TelemetryWriter, container: ContainerClient, capsys: pytest.CaptureFixture[str]
) -> None:
    await stepped.add_pool(nodes=MAX_SAMPLED_NODES + 6)
    await stepped.advance(50)
    await writer.flush()
    assert len(blobs(container)) == MAX_SAMPLED_NODES
    assert (await stepped.control("GET", "telemetry"))["demo"]["nodesBeyond"] == 6
    assert f"of {MAX_SAMPLED_NODES} nodes at a time; 6 more have none" in capsys.readouterr().err


async def test_the_next_blob_follows_one_that_is_sealed(
    stepped: Driver, writer: TelemetryWriter, container: ContainerClient
) -> None:
    await stepped.add_pool(nodes=1)
    await stepped.advance(80)
    await writer.flush()
    (name,) = blobs(container)
    container.get_blob_client(name).seal_append_blob()
    await stepped.advance(40)
    await writer.flush()
    first, second = blobs(container)
    assert (first, second) == (name, name.replace(".0.", ".1."))


async def test_after_a_reset_telemetry_begins_anew(stepped: Driver, writer: TelemetryWriter) -> None:
    for nodes in (1, 2):
        await stepped.add_pool(nodes=nodes)
        await stepped.advance(60)
        await writer.flush()
        reported = (await stepped.control("GET", "telemetry"))["demo"]["nodes"]
        assert [node["lives"] for node in reported.values()] == [1] * nodes
        await stepped.control("POST", "reset")


@pytest.fixture
async def opened(azurite: StorageAddresses, container: ContainerClient) -> AsyncIterator[AsyncContainer]:
    """Yields the same container as an asynchronous client."""
    async with AsyncContainer.from_connection_string(azurite.connection_string, container.container_name) as found:
        yield found


async def test_a_block_that_begins_a_blob_is_appended_to_the_next_one(opened: AsyncContainer) -> None:
    blobs, frame = TelemetryBlobs(opened), b"frame"
    names = [await blobs.append("folder", frame, begins_blob=begins) for begins in (False, False, True, False)]
    assert [int(name.split(".")[1]) for name in names] == [0, 0, 1, 1]


async def test_a_block_that_storage_took_unheard_is_not_written_twice(
    opened: AsyncContainer, container: ContainerClient
) -> None:
    there = TelemetryBlobs(opened)
    name = await there.append("folder", b"first")
    container.get_blob_client(name).append_block(b"unheard")
    assert await there.append("folder", b"unheard") == name
    assert await there.append("folder", b"last") == name
    assert await TelemetryBlobs(opened).append("folder", b"!") == name
    assert blobs(container) == {"folder/vm_perf_metrics.0.zst": b"firstunheardlast!"}


async def test_a_block_is_written_though_another_as_long_stands_in_its_place(
    opened: AsyncContainer, container: ContainerClient
) -> None:
    there = TelemetryBlobs(opened)
    name = await there.append("folder", b"first")
    container.get_blob_client(name).append_block(b"given up")
    assert await there.append("folder", b"the next") == name
    assert await there.append("folder", b"!") == name
    assert blobs(container) == {name: b"firstgiven upthe next!"}


async def test_a_block_that_was_the_last_before_its_blob_was_sealed_is_not_written_into_the_next(
    opened: AsyncContainer, container: ContainerClient
) -> None:
    there = TelemetryBlobs(opened)
    name = await there.append("folder", b"first")
    container.get_blob_client(name).append_block(b"unheard")
    container.get_blob_client(name).seal_append_blob()
    assert await there.append("folder", b"unheard") == name
    following = await there.append("folder", b"last")
    assert blobs(container) == {name: b"firstunheard", following: b"last"}


@pytest.mark.parametrize("instead", [b"", b"x", b"as long as before"])
async def test_a_blob_that_was_made_anew_is_written_from_its_end(
    opened: AsyncContainer, container: ContainerClient, instead: bytes
) -> None:
    there = TelemetryBlobs(opened)
    name = await there.append("folder", b"as long as before")
    blob = container.get_blob_client(name)
    blob.create_append_blob()
    if instead:
        blob.append_block(instead)
    for _ in range(2):
        with contextlib.suppress(HttpResponseError):  # the first may only learn of it
            assert await there.append("folder", b"!") == name
            break
    assert blobs(container) == {name: instead + b"!"}


async def test_a_block_that_storage_took_and_called_failed_is_not_written_twice(
    stepped: Driver, azurite: StorageAddresses, container: ContainerClient
) -> None:
    async with (
        deaf(azurite) as (storage, address),
        TelemetryWriter(stepped.emulator, address, container.container_name) as writer,
    ):
        await stepped.add_pool(nodes=1)
        for _ in range(2):
            await stepped.advance(200)
            storage.unheard = 1
            await writer.flush()
            assert storage.unheard == 0
            storage.refusals = [403]
            await writer.flush()
    ((_, stored),) = blobs(container).items()
    texts = frames(stored)
    assert len(texts) == len(set(texts)) > 3
