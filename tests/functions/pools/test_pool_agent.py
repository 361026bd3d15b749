"""The node agent as the app offers it: the file in storage, and start tasks that pools really take."""

import json
import os
import runpy
from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from azure.batch import models
from azure.storage.blob.aio import BlobClient, BlobServiceClient

from agent import VERSION
from local.azurite import StorageAddresses
from local.batch_emulator.core.stamps import stamp
from local.dev.packaging.agent_file import AGENT_FILE, write_agent
from local.dev.system.checkout import HERE
from tests.emulator.support.staging import add_pool
from tests.functions.conftest import World

pytestmark = pytest.mark.asyncio(loop_scope="session")
NAME = "batchscope-agent.pyz"


@pytest.fixture(scope="session", autouse=True)
def packaged(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Returns the packaged file's content, which is made where this checkout has none."""
    archive = HERE.root / AGENT_FILE
    if not archive.exists():
        fresh = tmp_path_factory.mktemp("agent") / NAME
        write_agent(HERE.root, fresh)
        archive.parent.mkdir(exist_ok=True)
        beside = archive.with_name(f"{NAME}.{os.getpid()}")
        beside.write_bytes(fresh.read_bytes())
        beside.replace(archive)
    return archive.read_bytes()


@pytest_asyncio.fixture(loop_scope="session")
async def blob(azurite: StorageAddresses) -> AsyncIterator[BlobClient]:
    async with BlobServiceClient.from_connection_string(azurite.connection_string) as service:
        yield service.get_blob_client("agent", NAME)


async def offered(world: World, pool: str = "pool") -> dict[str, Any]:
    answer = await world.get(f"accounts/demo/pools/{pool}/agent")
    assert answer.status == 200
    return dict(answer.body)


def start_task(offer: Mapping[str, Any]) -> models.BatchPoolUpdateOptions:
    """Returns the change that `az batch pool set --json-file` sends."""
    return models.BatchPoolUpdateOptions(json.loads(offer["forms"]["azBatch"]))


async def test_the_file_is_in_storage_after_a_tick(world: World, packaged: bytes, blob: BlobClient) -> None:
    await add_pool(world.batch)
    await world.poll()
    await world.app.fire("tick")
    stored = await (await blob.download_blob()).readall()
    assert stored == packaged
    offer = await offered(world)
    file = offer["file"]
    assert (file["sha256"], file["size"], file["uploaded"]) == (sha256(stored).hexdigest(), len(stored), True)
    assert file["address"] == blob.url.partition("?")[0]
    assert offer["storage"].endswith(f"/{os.environ['TELEMETRY_CONTAINER']}")
    assert file["version"] == VERSION
    await blob.upload_blob(b"another", overwrite=True)
    assert (await offered(world))["file"]["uploaded"] is False
    await blob.upload_blob(stored, overwrite=True)


async def test_a_pool_takes_the_offered_start_task_and_is_then_known_to_have_it(world: World) -> None:
    await add_pool(world.batch, start="/bin/sh -c 'sleep 1; echo \"$0\"'")
    await world.poll()
    offer = await offered(world)
    assert (offer["included"], offer["account"], offer["pool"]) == (False, "demo", "pool")
    await world.batch.update_pool("pool", start_task(offer))
    await world.poll()
    again = await offered(world)
    assert (again["included"], again["commandLine"]) == (True, offer["commandLine"])
    shown = (await world.get("accounts/demo/pools/pool")).body["startTask"]
    assert shown["commandLine"] == offer["commandLine"]
    assert set(shown["environment"]) == {"BATCHSCOPE_STORAGE", "BATCHSCOPE_IDENTITY", "BATCHSCOPE_START_TASK"}
    assert again["keptVariables"] == ["BATCHSCOPE_START_TASK"]


async def test_the_python_form_keeps_all_else_of_the_start_task(
    world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    own = models.BatchStartTask(
        command_line="/bin/sh -c 'run --password hunter2'",
        environment_settings=[models.EnvironmentSetting(name="MODE", value="fast")],
        resource_files=[models.ResourceFile(http_url="https://store.test/run", file_path="run")],
        max_task_retry_count=3,
        wait_for_success=False,
    )
    await world.batch.create_pool(
        models.BatchPoolCreateOptions(id="pool", vm_size="standard_d2s_v5", target_dedicated_nodes=0, start_task=own)
    )
    await world.poll()
    offer = await offered(world)
    assert "hunter2" not in json.dumps(offer)
    program, _, call = offer["forms"]["python"].partition("\nclient = ")
    monkeypatch.setenv("FILE_SAS", "sig=file")
    monkeypatch.setenv("STORAGE_SAS", "sig=storage")
    form = tmp_path / "form.py"
    form.write_text(program)
    names = runpy.run_path(str(form))
    compile(f"client = {call}", "form.py", "exec")
    for _ in range(2):  # a second run changes nothing
        read = await world.batch.get_pool("pool")
        changed = models.BatchPoolUpdateOptions(start_task=names["with_agent"](read.start_task))
        await world.batch.update_pool("pool", changed)
    made = (await world.batch.get_pool("pool")).start_task
    assert made is not None
    assert {one.name: one.value for one in made.environment_settings or []} == {
        "MODE": "fast",
        "BATCHSCOPE_START_TASK": "/bin/sh -c 'run --password hunter2'",
        "BATCHSCOPE_STORAGE": f"{offer['storage']}?sig=storage",
    }
    files = {one.file_path: one.http_url for one in made.resource_files or []}
    assert files == {"run": "https://store.test/run", NAME: f"{offer['file']['address']}?sig=file"}
    assert (made.max_task_retry_count, made.wait_for_success) == (3, False)
    assert made.command_line.startswith(f"/bin/sh -c 'python3 {NAME} start || true; eval")
    await world.batch.update_pool("pool", models.BatchPoolUpdateOptions(start_task=names["with_agent"](None)))
    alone = (await world.batch.get_pool("pool")).start_task
    assert alone is not None
    assert alone.user_identity is not None
    assert alone.user_identity.auto_user is not None
    assert alone.command_line == f"/bin/sh -c 'python3 {NAME} start || true'"
    assert alone.user_identity.auto_user.elevation_level == "admin"


async def test_a_pool_without_a_start_task_gets_one_with_the_agent_alone(world: World) -> None:
    await add_pool(world.batch)
    await world.poll()
    offer = await offered(world)
    assert offer["commandLine"] == f"/bin/sh -c 'python3 {NAME} start || true'"
    await world.batch.update_pool("pool", start_task(offer))
    assert (await world.get("accounts/demo/pools/never/agent")).status == 404


async def test_nodes_that_report_are_listed_with_those_that_do_not_and_why(
    world: World, azurite: StorageAddresses
) -> None:
    line = f"/bin/sh -c 'python3 {NAME} start || true'"
    await add_pool(world.batch, "checked", nodes=4, start=line)
    world.advance(400)
    await world.poll()
    listed = (await world.get("accounts/demo/pools/checked/nodes")).body["value"]
    reports, stops, other, never = (node["id"] for node in listed)
    begin = moment(world)
    async with BlobServiceClient.from_connection_string(azurite.connection_string) as service:
        container = service.get_container_client(os.environ["TELEMETRY_CONTAINER"])
        if not await container.exists():
            await container.create_container()
        written = {
            reports: agent_lines(begin, minutes_ago=1),
            stops: agent_lines(begin, minutes_ago=60),
            other: b"\x00\x01nothing that anybody reads\x02" * 20,
        }
        for node, content in written.items():
            blob = container.get_blob_client(f"accounts/demo/pools/checked/nodes/{node}/agent/s.0")
            await blob.create_append_blob()
            await blob.append_block(content)
        await world.app.fire("tick")
        answer = await world.get("accounts/demo/pools/checked/agent/nodes")
        first = await world.get("accounts/demo/pools/checked/agent/nodes?maxpagesize=1")
        silent = await world.get("accounts/demo/pools/checked/agent/nodes?reporting=false&maxpagesize=2")
        heard = await world.get("accounts/demo/pools/checked/agent/nodes?reporting=true")
        for node in written:
            await container.delete_blob(f"accounts/demo/pools/checked/nodes/{node}/agent/s.0")
    assert answer.status == 200, answer.body
    found = {node["id"]: node for node in answer.body["value"]}
    good = found[reports]
    assert (good["reporting"], good["reason"], good["agentVersion"]) == (True, None, "9.8.7")
    assert (good["waitingBytes"], good["droppedRecords"]) == (700, 4)
    assert datetime.fromisoformat(good["agentBegan"]) <= datetime.fromisoformat(good["seen"])
    reasons = {node: one["reason"] and one["reason"]["code"] for node, one in found.items()}
    assert reasons == {reports: None, stops: "agentStopped", other: "blobUnreadable", never: "nothingArrived"}
    assert (len(first.body["value"]), first.body["count"], "nextLink" in first.body) == (1, 4, True)
    assert [node["id"] for node in heard.body["value"]] == [reports]
    assert {node["reporting"] for node in silent.body["value"]} == {False}
    assert (len(silent.body["value"]), silent.body["count"], "reporting=false" in silent.body["nextLink"]) == (
        2,
        3,
        True,
    )
    assert {(each.body["listed"], each.body["reporting"]) for each in (answer, first, silent, heard)} == {(4, 1)}


def moment(world: World) -> datetime:
    return datetime.fromisoformat(stamp(world.emulator.clock.now))


def agent_lines(now: datetime, *, minutes_ago: int) -> bytes:
    """Returns an agent's startup record, and two of its own reports, with 4 dropped records between them."""
    begin = int(now.timestamp()) - minutes_ago * 60
    lines = [
        f'batchscope_agent,vm_monitor_collection=once contract=1i,version="9.8.7" {begin - 600}000000000',
        f"batchscope_agent spooled_bytes=900i,dropped_records=3i {begin - 60}000000000",
        f"batchscope_agent spooled_bytes=700i,dropped_records=7i {begin}000000000",
    ]
    return "".join(f"{line}\n" for line in lines).encode()
