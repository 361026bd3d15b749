"""What Azure retires, through the API and in Prometheus: the pools that it concerns, with their nodes and jobs."""

import csv
import io
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from azure.batch import models

from local.azurite import StorageAddresses
from local.batch_emulator.core.injection import Fault
from local.batch_emulator.core.stamps import stamp
from local.batch_emulator.wire.images import IMAGES
from tests.emulator.support.staging import add_job, add_pool, add_tasks
from tests.functions.api.test_api import answer_of_an_app
from tests.functions.conftest import World, begin_anew
from tests.functions.pools.shown_pools import polled

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(loop_scope="session")
async def world(_running: World) -> World:
    """Yields an empty account that each tick polls."""
    await begin_anew(_running, poll_seconds=1)
    return _running


async def listed(world: World, query: str = "") -> dict[str, Any]:
    return {one["id"]: one for one in (await world.get(f"retirements{query}")).body["value"]}


async def add_closed(world: World, name: str) -> None:
    """Adds an empty pool without public addresses."""
    image = models.BatchVmImageReference(publisher="canonical", offer="ubuntu-24_04-lts", sku="server")
    addresses = models.BatchPublicIpAddressConfiguration(ip_address_provisioning_type="nopublicipaddresses")
    await world.batch.create_pool(
        models.BatchPoolCreateOptions(
            id=name,
            vm_size="standard_d2s_v5",
            virtual_machine_configuration=models.VirtualMachineConfiguration(
                image_reference=image, node_agent_sku_id="batch.node.ubuntu 24.04"
            ),
            network_configuration=models.NetworkConfiguration(public_ip_address_configuration=addresses),
            target_dedicated_nodes=0,
        )
    )


async def test_pools_are_named_with_their_nodes_and_jobs(world: World) -> None:
    await add_pool(world.batch, "old", nodes=2, size="standard_d2_v2")
    await add_pool(world.batch, "new", nodes=1)
    await add_closed(world, "closed")
    await world.batch.create_pool(
        models.BatchPoolCreateOptions(
            id="jammy",
            vm_size="standard_d2s_v5",
            virtual_machine_configuration=models.VirtualMachineConfiguration(
                image_reference=models.BatchVmImageReference(publisher="canonical", offer="jammy", sku="22_04-lts"),
                node_agent_sku_id="batch.node.ubuntu 22.04",
            ),
            target_dedicated_nodes=1,
        )
    )
    for job in ("waits", "runs"):
        await add_job(world.batch, job, pool="OLD")
    await add_tasks(world.batch, 1, job="runs")
    world.advance(120)
    await polled(world)
    found = {name: one for name, one in (await listed(world)).items() if one["pools"]}
    assert found.keys() == {"vm-sizes-d-to-dsv2", "ubuntu-22.04", "default-outbound-access"}
    assert found["vm-sizes-d-to-dsv2"]["pools"] == [{"account": "demo", "id": "old", "nodes": 2, "jobs": 2}]
    closed = found["default-outbound-access"]
    assert (closed["lastDay"], closed["daysLeft"]) == (None, None)
    jammy = found["ubuntu-22.04"]
    assert jammy["pools"] == [{"account": "demo", "id": "jammy", "nodes": 1, "jobs": 0}]
    assert jammy["lastDay"] == "2027-06-30"
    clock = datetime.fromisoformat(stamp(world.emulator.clock.now)).date()
    assert jammy["daysLeft"] == (date(2027, 6, 30) - clock).days
    own = (await world.get("accounts/demo/pools/jammy")).body["retirements"]
    assert [(one["id"], one["daysLeft"]) for one in own] == [("ubuntu-22.04", jammy["daysLeft"])]
    findings = {pool: (await world.get(f"accounts/demo/pools/{pool}")).body["findings"] for pool in ("closed", "new")}
    assert findings == {"closed": [], "new": []}  # no day is known
    rows = list(csv.DictReader(io.StringIO((await world.get("retirements?format=csv")).body)))
    shown = [(row["id"], row["account"], row["pool"], row["nodes"], row["jobs"]) for row in rows if row["pool"]]
    assert shown == [
        ("ubuntu-22.04", "demo", "jammy", "1", "0"),
        ("vm-sizes-d-to-dsv2", "demo", "old", "2", "2"),
        ("default-outbound-access", "demo", "closed", "0", "0"),
    ]
    metrics = (await world.get("metrics")).body
    series = 'azbatch_retirement_days{account="demo",pool="jammy",retirement="ubuntu-22.04"}'
    assert f"{series} {jammy['daysLeft']}.0" in metrics
    assert 'azbatch_retirement_days{account="demo",pool="closed"' not in metrics


async def test_all_announcements_are_listed_on_request_also_as_a_table(world: World) -> None:
    await polled(world)
    assert {name for name, one in (await listed(world)).items() if not one["concernsApp"]} == set()
    every = await listed(world, "?all=true")
    assert {"ubuntu-22.04", "vm-sizes-np"} <= every.keys()
    assert all(one["pools"] == [] for one in every.values())
    table = (await world.get("retirements?all=true&format=csv")).body
    rows = list(csv.DictReader(io.StringIO(table)))
    assert [row["id"] for row in rows] == list(every)
    assert {row["pool"] for row in rows} == {""}
    apps = [(name, str(one["unknownPools"]), str(one["concernsApp"]).lower()) for name, one in every.items()]
    assert [(row["id"], row["unknownPools"], row["concernsApp"]) for row in rows] == apps
    assert next(row["daysLeft"] for row in rows if row["id"] == "pool-usage-metrics") == ""


@pytest.mark.parametrize(("version", "concerned"), [("~3", True), ("", False)])
async def test_an_old_runtime_of_the_functions_host_concerns_the_app_where_it_is_known(
    version: str, *, concerned: bool, tmp_path: Path, azurite: StorageAddresses
) -> None:
    environment = {
        "AZURE_FUNCTIONS_ENVIRONMENT": "Development",
        "BATCH_ACCOUNTS": "demo=http://127.0.0.1:1",
        "BATCH_ACCOUNT_KEYS": "demo=c2VjcmV0",
        "AzureWebJobsStorage": azurite.connection_string,
        **({"FUNCTIONS_EXTENSION_VERSION": version} if version else {}),
    }
    status, body = await answer_of_an_app(environment, tmp_path, "retirements?all=true", times=5)
    found = {one["id"]: one["concernsApp"] for one in body["value"]}
    assert (status, found["functions-runtime-2-3"]) == (200, concerned)


async def test_images_of_batchs_own_list_are_named_and_listed_once_a_day(world: World) -> None:
    image = models.BatchVmImageReference(publisher="debian", offer="debian-11", sku="11")
    machine = models.VirtualMachineConfiguration(image_reference=image, node_agent_sku_id="batch.node.debian 11")
    await world.batch.create_pool(
        models.BatchPoolCreateOptions(
            id="bullseye", vm_size="standard_d2s_v5", virtual_machine_configuration=machine, target_dedicated_nodes=0
        )
    )
    await polled(world)
    await polled(world)
    (own,) = (await world.get("accounts/demo/pools/bullseye")).body["retirements"]
    assert (own["id"], own["lastDay"]) == ("image:debian/debian-11/11", "2026-12-10")
    assert own["leadDays"] in {60, 14, 0}
    assert own["finding"].startswith("The pool 'bullseye' uses it: The image debian/debian-11/11 end")
    (finding,) = (await world.get("accounts/demo/pools/bullseye")).body["findings"]
    assert (finding["code"], finding["severity"], finding["detail"]) == ("poolUsesRetired", "info", own["finding"])
    assert finding["advice"] == f"{own['effect']} Use instead: {own['instead']}"
    began = date(2026, 12, 10) - timedelta(days=own["leadDays"])
    assert finding["since"] == f"{began}T00:00:00Z"
    assert finding["evidence"] == {
        "poolId": "bullseye",
        "retirement": own["id"],
        "lastDay": "2026-12-10T00:00:00Z",
        "daysLeft": own["daysLeft"],
        "leadDays": own["leadDays"],
        "source": own["source"],
    }
    assert (await listed(world))[own["id"]]["pools"] == [{"account": "demo", "id": "bullseye", "nodes": 0, "jobs": 0}]


async def test_an_image_that_left_batchs_list_still_ends_for_the_pools_that_use_it(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    image = models.BatchVmImageReference(publisher="debian", offer="debian-11", sku="11")
    machine = models.VirtualMachineConfiguration(image_reference=image, node_agent_sku_id="batch.node.debian 11")
    await world.batch.create_pool(
        models.BatchPoolCreateOptions(
            id="bullseye", vm_size="standard_d2s_v5", virtual_machine_configuration=machine, target_dedicated_nodes=0
        )
    )
    world.advance(25 * 3600)
    await polled(world)
    await polled(world)
    (own,) = (await world.get("accounts/demo/pools/bullseye")).body["retirements"]
    assert "no longer listed" not in own["what"]
    listed_on = own["readOn"]
    for name in [name for name in IMAGES if name.startswith("debian:debian-11")]:
        monkeypatch.delitem(IMAGES, name)
    world.advance(25 * 3600)
    await polled(world)
    await polled(world)
    (own,) = (await world.get("accounts/demo/pools/bullseye")).body["retirements"]
    assert (own["id"], own["lastDay"], own["readOn"]) == ("image:debian/debian-11/11", "2026-12-10", listed_on)
    assert f"(no longer listed by Batch, last on {listed_on})" in own["finding"]


async def test_a_list_of_images_that_cannot_be_read_is_said_to_be_unknown(world: World) -> None:
    await polled(world)
    world.advance(25 * 3600)
    await polled(world)
    assert (await world.get("retirements")).body["unknownImages"] == []
    listed_on = datetime.fromisoformat(stamp(world.emulator.clock.now)).date()
    world.emulator.faults.all.append(Fault(path="*/supportedimages", status=403))
    world.advance(25 * 3600)
    await polled(world)
    (unknown,) = (await world.get("retirements")).body["unknownImages"]
    assert unknown["account"] == "demo"
    assert unknown["reason"].startswith("Batch's list of supported images can't be read: ")
    assert "403" in unknown["reason"]
    assert unknown["reason"].endswith(f" The last one is of {listed_on}.")
    *_, row = csv.DictReader(io.StringIO((await world.get("retirements?format=csv&account=demo")).body))
    assert (row["id"], row["account"], row["what"]) == ("unknownImages", "demo", unknown["reason"])
    world.emulator.faults.all.clear()
    world.advance(3601)
    await polled(world)
    assert (await world.get("retirements")).body["unknownImages"] == []


async def test_a_list_for_one_account_has_the_pools_of_no_other_and_an_unknown_account_is_not_found(
    world: World,
) -> None:
    await add_pool(world.batch, "old", nodes=1, size="standard_d2_v2")
    await polled(world)
    every = await listed(world, "?all=true")
    assert every["vm-sizes-d-to-dsv2"]["pools"]
    assert await listed(world, "?all=true&account=DEMO") == every
    refused = await world.get("retirements?account=nobody")
    assert (refused.status, refused.body["error"]["code"]) == (404, "AccountNotFound")
