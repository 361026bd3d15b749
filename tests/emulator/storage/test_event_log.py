"""The resource log: a record for each event of pools and tasks, in the layout of diagnostic settings."""

import json
import secrets
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from azure.storage.blob import ContainerClient

from local.azurite import StorageAddresses
from local.batch_emulator.exports.log_writer import LogWriter
from tests.emulator.storage.deaf_storage import deaf
from tests.emulator.support.conformance import conformance
from tests.emulator.support.driver import Driver

RESOURCE = (
    "resourceId=/SUBSCRIPTIONS/00000000-0000-0000-0000-000000000000/RESOURCEGROUPS/EMULATOR"
    "/PROVIDERS/MICROSOFT.BATCH/BATCHACCOUNTS/DEMO"
)


@pytest.fixture
def container(azurite: StorageAddresses) -> Iterator[ContainerClient]:
    with ContainerClient.from_connection_string(azurite.connection_string, f"log-{secrets.token_hex(6)}") as found:
        yield found


def records(container: ContainerClient) -> dict[str, list[dict[str, Any]]]:
    """Returns the records of each blob."""
    names = [blob.name for blob in container.list_blobs()]
    lines = {name: container.download_blob(name).readall().splitlines() for name in names}
    return {name: [json.loads(line) for line in found] for name, found in lines.items()}


async def test_every_event_is_logged_in_its_documented_shape(stepped: Driver) -> None:
    stepped.emulator.log_events()
    log = stepped.emulator.logs[0]
    await stepped.add_pool(nodes=2)
    await stepped.advance(120)
    side = {"commandLine": "sleep 1; exit 1"}
    await stepped.add_job(
        jobReleaseTask={"commandLine": "sleep 1; exit 0"}, jobPreparationTask={"commandLine": "sleep 1; exit 0"}
    )
    await stepped.add_tasks("job", "sleep 1", "sleep 1; exit 3", "sleep 1000")
    await stepped.add_job("unfit", jobPreparationTask={**side, "constraints": {"maxTaskRetryCount": 0}})
    await stepped.add_tasks("unfit", "sleep 1")
    await stepped.advance(30)
    await stepped.call("POST", "/pools/pool/resize", {"targetDedicatedNodes": 0, "nodeDeallocationOption": "requeue"})
    await stepped.advance(30)
    await stepped.call("POST", "/jobs/job/terminate")
    await stepped.advance(30)
    await stepped.call("DELETE", "/pools/pool")
    await stepped.advance(30)
    await stepped.add_pool("scaled", nodes=0)
    await stepped.advance(30)
    formula = {"autoScaleFormula": "$TargetDedicatedNodes=0;", "autoScaleEvaluationInterval": "PT5M"}
    assert (await stepped.call("POST", "/pools/scaled/enableautoscale", formula)).status == 200
    found = [record for record in log.drain() if record["operationName"] in log.recorded]
    fresh = {json.dumps([one["operationName"], one["properties"]], sort_keys=True): one for one in found}
    assert Counter(one["operationName"] for one in fresh.values()) == log.recorded
    documented = {path.name.removesuffix(".json") for path in conformance("batch-events").glob("*Event.json")}
    assert set(log.recorded) == documented
    for record in fresh.values():
        body = json.loads((conformance("batch-events") / f"{record['operationName']}.json").read_text())["body"]
        wanted = body.keys() - {"cloudServiceConfiguration", "maxTasksPerNode", "error"}
        assert wanted <= record["properties"].keys() | {"results"}, record["operationName"]


async def test_logs_are_written_by_the_hour_and_some_records_again(
    stepped: Driver, azurite: StorageAddresses, container: ContainerClient
) -> None:
    async with LogWriter(stepped.emulator, azurite.connection_string, container.container_name) as writer:
        await stepped.add_pool(nodes=4)
        await stepped.advance(120)
        await stepped.add_job()
        await stepped.add_tasks("job", *["exit 0"] * 100)
        await stepped.advance(600)
        await writer.flush()
    found = records(container)
    assert list(found) == [f"{RESOURCE}/y=2026/m=01/d=05/h=08/m=00/PT1H.json"]
    log = stepped.emulator.logs[0]
    (written,) = found.values()
    counted = Counter(json.dumps([one["operationName"], one["properties"]], sort_keys=True) for one in written)
    assert len(counted) == sum(log.recorded.values())
    assert 0.01 < log.repeated / len(counted) < 0.06
    assert sum(counted.values()) == len(counted) + log.repeated
    assert len({one["time"] for one in written}) > len(counted) / 2
    assert (await stepped.control("GET", "log"))["demo"] == {
        "told": dict(sorted(log.recorded.items())),
        "repeated": log.repeated,
        "lost": 0,
    }


async def test_unwritable_records_wait(
    stepped: Driver, azurite: StorageAddresses, container: ContainerClient, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = azurite.connection_string.replace(str(azurite.blob_port), "1")
    async with LogWriter(stepped.emulator, broken, container.container_name) as writer:
        await stepped.add_pool(nodes=0)
        await writer.flush()
    assert "The log can't be written" in capsys.readouterr().err
    async with LogWriter(stepped.emulator, azurite.connection_string, container.container_name):
        pass
    (written,) = records(container).values()
    assert [one["operationName"] for one in written] == ["PoolCreateEvent"]


async def test_records_stored_despite_an_error_are_not_written_twice(
    stepped: Driver, azurite: StorageAddresses, container: ContainerClient
) -> None:
    async with (
        deaf(azurite) as (storage, address),
        LogWriter(stepped.emulator, address, container.container_name) as writer,
    ):
        for pool in ("first", "second", "third"):
            await stepped.add_pool(pool, nodes=0)
            storage.unheard = 1
            await writer.flush()
            storage.refusals = [403]
            await writer.flush()
    (written,) = records(container).values()
    assert [one["properties"]["id"] for one in written] == ["first", "second", "third"]


async def test_a_write_under_way_completes_when_the_writer_closes(
    stepped: Driver, azurite: StorageAddresses, container: ContainerClient
) -> None:
    async with (
        deaf(azurite) as (storage, address),
        LogWriter(stepped.emulator, address, container.container_name) as writer,
    ):
        await stepped.add_pool(nodes=0)
        storage.refusals, storage.seconds = [500], 0.3
        writer.start()
        await storage.refusing.wait()
    (written,) = records(container).values()
    assert [one["properties"]["id"] for one in written] == ["pool"]


async def test_nothing_is_logged_until_somebody_writes_it(stepped: Driver) -> None:
    await stepped.add_pool(nodes=1)
    await stepped.advance(60)
    log = stepped.emulator.logs[0]
    assert (log.drain(), sum(log.recorded.values())) == ([], 0)
