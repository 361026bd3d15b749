"""Telemetry from a node's blob to the API: announced or found by a tick, with OpenTelemetry's names and units."""

import os
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import pytest_asyncio
from azure.storage.blob.aio import BlobClient, BlobServiceClient
from opentelemetry.proto.metrics.v1.metrics_pb2 import Gauge, Metric

from local.azurite import StorageAddresses
from local.batch_emulator.core.stamps import stamp
from local.batch_emulator.exports.telemetry_writer import TelemetryWriter
from shared.domain.blobs.blobs import UNREAD_TELEMETRY
from shared.domain.blobs.sweeps import PartitionSweep
from shared.stores.blobs.checkpoints import BlobEntryStore
from shared.stores.tables.tables import Tables
from tests.domain.telemetry.decode.otlp_messages import as_protobuf, message, number
from tests.emulator.support.staging import add_job, add_pool, add_tasks
from tests.functions.conftest import World

pytestmark = pytest.mark.asyncio(loop_scope="session")
NODE = "accounts/demo/pools/render/nodes/tvm-1"
QUERY = f"{NODE}/telemetry"
TOTALS = ("bytes", "records", "samples", "refused")


@pytest_asyncio.fixture(loop_scope="session")
async def blob(azurite: StorageAddresses) -> AsyncIterator[BlobClient]:
    """Yields a node's append blob; it is empty at first."""
    async with BlobServiceClient.from_connection_string(azurite.connection_string) as service:
        container = service.get_container_client(os.environ["TELEMETRY_CONTAINER"])
        if not await container.exists():
            await container.create_container()
        opened = container.get_blob_client(f"{NODE}/vm_perf_metrics.0.json")
        await opened.create_append_blob()
        yield opened
        await opened.delete_blob()


def lines(world: World, *values: int, minutes_ago: int) -> bytes:
    """Returns lines of used memory and received bytes, a second apart each."""
    begin = datetime.fromisoformat(stamp(world.emulator.clock.now)) - timedelta(minutes=minutes_ago)
    stamps = [int((begin + number * timedelta(seconds=1)).timestamp()) * 10**9 for number in range(len(values))]
    some = [f"mem used={value}i {at}\nnet,interface=eth0 bytes_recv={value}i {at}\n"
            for value, at in zip(values, stamps, strict=True)]  # fmt: skip
    return "".join(some).encode()


async def test_telemetry_is_shown_as_its_blob_grows(world: World, blob: BlobClient) -> None:
    before = (await world.get("accounts/demo/ingestion")).body["telemetry"] or dict.fromkeys(TOTALS, 0)
    await blob.append_block(lines(world, 100, 300, minutes_ago=30))
    await world.app.deliver_blob("node_telemetry", f"{os.environ['TELEMETRY_CONTAINER']}/{blob.blob_name}")
    first = (await world.get(f"{QUERY}?step=PT1H&name=system.memory")).body
    assert sum(point["sum"] for series in first["value"] for point in series["points"]) == 400
    await blob.append_block(lines(world, 500, minutes_ago=10) + b"nonsense\nhalf")
    await world.app.fire("tick")
    ingestion = (await world.get("accounts/demo/ingestion")).body["telemetry"]
    assert (ingestion["blobs"], ingestion["behindBlobs"], ingestion["behindBytes"], ingestion["problems"]) == (
        1,
        1,
        4,
        [],
    )
    more = {name: ingestion[name] - before[name] for name in TOTALS}
    assert more["bytes"] >= more["records"] >= more["samples"] > 0 < more["refused"]
    metrics = (await world.get("metrics")).body
    assert f'azbatch_collector_telemetry_records_total{{account="demo"}} {ingestion["records"]}.0' in metrics
    assert 'azbatch_collector_telemetry_blobs{account="demo",state="awake"} 1.0' in metrics
    shown = (await world.get(f"{QUERY}?step=PT1M")).body
    memory, network = shown["value"]
    assert (memory["name"], memory["unit"], memory["kind"]) == ("system.memory.usage", "By", "gauge")
    assert memory["attributes"] == {"system.memory.state": "used"}
    assert [point["sum"] for point in memory["points"]] in ([400, 500], [100, 300, 500])
    assert (network["name"], network["kind"]) == ("system.network.io", "counter")
    assert sum(point["sum"] for point in network["points"]) == 400
    assert (shown["step"], shown["leftOut"]["records"], shown["leftOut"]["refused"]) == ("PT1M", 6, 1)
    assert (shown["facts"]["vmSize"], shown["facts"]["bootedAt"], shown["facts"]["disks"]) == ("", None, [])
    chosen = (await world.get(f"{QUERY}?name=system.memory,system.network&attributes=system.memory.state=")).body
    assert [series["name"] for series in chosen["value"]] == ["system.network.io"]
    table = (await world.get(f"{QUERY}?step=PT1H&name=system.network.io&format=csv")).body.splitlines()
    assert table[0] == "time,count,min,max,sum,last,name,attributes,unit,hourly"
    assert "network.interface.name=eth0" in table[1]
    rejects = (await world.get("accounts/demo/rejects")).body["value"]
    assert [(one["blob"], one["sample"]) for one in rejects if one["blob"] == blob.blob_name] == [(blob.blob_name, "")]


async def test_metrics_that_the_catalog_lacks_are_shown_with_their_names_and_units(
    world: World, blob: BlobClient
) -> None:
    at = int(datetime.fromisoformat(stamp(world.emulator.clock.now)).timestamp()) - 60
    await blob.append_block(f"training,run=a loss=0.5 {at}\nqueue_bytes value=7i {at}\n".encode())
    await world.app.deliver_blob("node_telemetry", f"{os.environ['TELEMETRY_CONTAINER']}/{blob.blob_name}")
    found = (await world.get(f"{QUERY}?name=custom")).body["value"]
    assert [(each["name"], each["attributes"], each["unit"], each["kind"]) for each in found] == [
        ("custom.queue_bytes", {}, "By", "gauge"),
        ("custom.training.loss", {"run": "a"}, "", "gauge"),
    ]
    assert [point["sum"] for each in found for point in each["points"]] == [7, 0.5]
    (only,) = (await world.get(f"{QUERY}?name=custom.training&attributes=run=a")).body["value"]
    assert only["name"] == "custom.training.loss"


async def test_otlp_and_prometheus_text_are_shown_like_other_agents_data(world: World, blob: BlobClient) -> None:
    at = int(datetime.fromisoformat(stamp(world.emulator.clock.now)).timestamp()) - 60
    free = Gauge(data_points=[number(5, at * 10**9, state="free")])
    await blob.append_block(as_protobuf(message(Metric(name="system.memory.usage", unit="By", gauge=free))))
    await blob.append_block(f"# timestamp {at}\nnode_memory_Cached_bytes 7\n# EOF\n".encode())
    await world.app.deliver_blob("node_telemetry", f"{os.environ['TELEMETRY_CONTAINER']}/{blob.blob_name}")
    found = (await world.get(f"{QUERY}?name=system.memory.usage")).body["value"]
    assert {each["attributes"]["system.memory.state"]: each["points"][0]["sum"] for each in found} == {
        "cached": 7, "free": 5,
    }  # fmt: skip


async def test_telemetry_equals_the_emulators_record(world: World, azurite: StorageAddresses) -> None:
    container = os.environ["TELEMETRY_CONTAINER"]
    async with TelemetryWriter(world.emulator, azurite.connection_string, container) as writer:
        await add_pool(world.batch, nodes=2, start="sleep 20")
        await add_job(world.batch)
        await add_tasks(world.batch, 3, command="sleep 240")
        world.advance(400)
        await writer.flush()
    written = world.emulator.samplers["demo"].written_totals.totals["nodes"]
    before = {node: await records_of(world, node) for node in written}
    await world.poll()
    await world.app.fire("tick")
    assert len(written) == 2
    for node, truth in written.items():
        path = f"accounts/demo/pools/pool/nodes/{node}/telemetry?step=PT1H"
        answers = {name: (await world.get(f"{path}&name=system.{name}")).body for name in ("cpu", "network", "memory")}
        usage = points(answers["cpu"], {"cpu.mode": "user"})
        wanted = truth["gauges"]["cpu.usage_user"]
        assert sum(point["count"] for point in usage) == wanted["count"] > 60
        assert sum(point["sum"] for point in usage) == pytest.approx(wanted["sum"] / 100)
        used = points(answers["memory"], {"system.memory.state": "used"}, "system.memory.usage")
        assert sum(point["sum"] for point in used) == pytest.approx(truth["gauges"]["mem.used"]["sum"])
        for direction, field in {"receive": "net.bytes_recv", "transmit": "net.bytes_sent"}.items():
            attributes = {"network.interface.name": "eth0", "network.io.direction": direction}
            grown = points(answers["network"], attributes, "system.network.io")
            assert sum(point["sum"] for point in grown) == truth["growth"][field] > 0
        left_out = answers["cpu"]["leftOut"]
        assert left_out.pop("records") - before[node] == truth["records"]
        assert left_out.pop("unreadFields") > 0
        assert not any(left_out.values())


async def records_of(world: World, node: str) -> int:
    """Returns the records of blobs that earlier tests wrote on the same day for a node of the same name."""
    found = (await world.get(f"accounts/demo/pools/pool/nodes/{node}/telemetry?step=PT1H")).body
    return int(found["leftOut"]["records"]) if "leftOut" in found else 0


def points(answer: Any, attributes: dict[str, str], name: str = "system.cpu.utilization") -> list[Any]:
    """Returns the points of the one series with this name and these attributes."""
    (found,) = [each for each in answer["value"] if (each["name"], each["attributes"]) == (name, attributes)]
    return list(found["points"])


async def test_telemetry_older_than_its_minutes_is_shown_by_the_hour(world: World, blob: BlobClient) -> None:
    minutes_ago = 300 * 24 * 60 - 120
    await blob.append_block(lines(world, 100, 300, minutes_ago=minutes_ago))
    await world.app.deliver_blob("node_telemetry", f"{os.environ['TELEMETRY_CONTAINER']}/{blob.blob_name}")
    now = datetime.fromisoformat(stamp(world.emulator.clock.now)).replace(microsecond=0, tzinfo=None)
    since = now - timedelta(minutes=minutes_ago - 30)
    query = f"{QUERY}?name=system.memory&from={(since - timedelta(hours=2)).isoformat()}Z&to={since.isoformat()}Z"
    before = (await world.get(f"{query}&step=PT1H")).body
    assert before["hourly"] == []
    assert sum(point["sum"] for point in before["value"][0]["points"]) >= 400
    world.advance(29 * 3600)  # to the end of the day, and an hour
    await world.app.fire("housekeeping")
    shown = (await world.get(query)).body
    assert shown["value"] == before["value"]
    assert shown["step"] == "PT1H"
    times = [point["time"] for point in shown["value"][0]["points"]]
    parts = [(datetime.fromisoformat(part["from"]), datetime.fromisoformat(part["to"])) for part in shown["hourly"]]
    assert all(any(begin <= datetime.fromisoformat(time) < end for begin, end in parts) for time in times)
    table = (await world.get(f"{query}&format=csv")).body.splitlines()
    assert table[1].endswith(",By,true")


async def test_health_reports_telemetry_of_an_unknown_account(world: World, azurite: StorageAddresses) -> None:
    problem = "n1.json isn't read: nobody knows whose it is."
    tables = Tables.connect(
        connection_string=azurite.connection_string, endpoint=None, credential=None, prefix=os.environ["TABLE_PREFIX"]
    )
    for blobs, said in ((3, [f"telemetry: 3 blobs aren't read; {problem}"]), (0, [])):
        sweep = PartitionSweep(datetime.now(UTC), blobs, problems=(problem,))
        await BlobEntryStore(tables).save_sweep(UNREAD_TELEMETRY, sweep)
        health = (await world.get("health")).body
        assert [shown for shown in health["problems"] if shown.startswith("telemetry")] == said
        assert health["status"] == "degraded" or not said
    await tables.close()


async def test_invalid_parameters_of_a_telemetry_query_are_refused(world: World, blob: BlobClient) -> None:
    await blob.append_block(lines(world, 1, minutes_ago=1))
    await world.app.fire("tick")
    for query, target in {
        "name=system.mem": "name",
        "step=PT1S": "step",
        "step=PT1M&from=2000-01-01T00:00:00Z": "step",
        "from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z": "from",
        "attributes=cpu": "attributes",
        "series=cpu": "series",
    }.items():
        found = await world.get(f"{QUERY}?{query}")
        assert (found.status, found.body["error"]["target"]) == (400, target), query
    assert (await world.get("accounts/demo/pools/none/nodes/none/telemetry")).status == 404
