"""Prices through the API: read by housekeeping from the emulator's list, for the pools that there are."""

import csv
import io
import json
from typing import Any

import pytest
import pytest_asyncio
from azure.batch import models

from local.batch_emulator.core.injection import Fault
from local.batch_emulator.http.prices import right_prices
from tests.functions.conftest import World, begin_anew
from tests.functions.pools.shown_pools import polled

pytestmark = pytest.mark.asyncio(loop_scope="session")
WINDOWS, UBUNTU = "batch.node.windows amd64", "batch.node.ubuntu 22.04"
LIST = "/api/retail/prices"


@pytest_asyncio.fixture(loop_scope="session")
async def world(_running: World) -> World:
    """Yields an empty account that each tick polls."""
    await begin_anew(_running, poll_seconds=1)
    return _running


async def add_pool(
    world: World, name: str, size: str, *, agent: str = UBUNTU, nodes: int = 1, spot: int = 0, license_type: str = ""
) -> None:
    image = models.BatchVmImageReference(publisher="canonical", offer="jammy", sku="22_04-lts")
    machine = models.VirtualMachineConfiguration(
        image_reference=image, node_agent_sku_id=agent, license_type=license_type or None
    )
    await world.batch.create_pool(
        models.BatchPoolCreateOptions(
            id=name, vm_size=size, virtual_machine_configuration=machine, target_dedicated_nodes=nodes,
            target_low_priority_nodes=spot,
        )
    )  # fmt: skip


async def listed(world: World) -> dict[tuple[str, ...], Any]:
    body = (await world.get("accounts/demo/prices")).body
    assert body["count"] == len(body["value"])
    return {tuple(one[name] for name in ("vmSize", "os", "license", "priority")): one for one in body["value"]}


async def test_pools_have_the_right_prices_or_the_reason_why_there_is_none(world: World) -> None:
    await add_pool(world, "linux", "standard_d4as_v5", spot=1)
    await add_pool(world, "windows", "STANDARD_D4AS_V5", agent=WINDOWS)
    await add_pool(world, "own", "standard_d4as_v5", agent=WINDOWS, license_type="Windows_Server")
    await add_pool(world, "same", "standard_d4as_v5")
    await add_pool(world, "odd", "standard_e8ads_v5")
    await add_pool(world, "unlisted", "standard_x9_v9")
    await polled(world)
    await world.app.fire("housekeeping")
    found = await listed(world)
    right = {
        (one["os"], one["priority"]): one["retailPrice"]
        for one in right_prices(world.emulator, {})["prices"]
        if (one["armSkuName"], one["armRegionName"]) == ("Standard_D4as_v5", "eastus")
    }
    size = "standard_d4as_v5"
    expected = {
        (size, "linux", "none", "dedicated"): (right["linux", "Regular"], 2, None),
        (size, "linux", "none", "spot"): (right["linux", "Spot"], 1, None),
        (size, "windows", "hybridBenefit", "dedicated"): (right["linux", "Regular"], 1, None),
        (size, "windows", "included", "dedicated"): (right["windows", "Regular"], 1, None),
        ("standard_e8ads_v5", "linux", "none", "dedicated"): (None, 1, "severalMeters"),
        ("standard_x9_v9", "linux", "none", "dedicated"): (None, 1, "notListed"),
    }
    assert {key: (one["hourly"], one["pools"], one["reason"]) for key, one in found.items()} == expected
    priced = found[size, "linux", "none", "dedicated"]
    assert (priced["currency"], priced["source"], priced["validFrom"], priced["validTo"]) == (
        "USD", "retail", "2025-04-01T00:00:00Z", None,
    )  # fmt: skip
    assert priced["asOf"]
    assert found["standard_x9_v9", "linux", "none", "dedicated"]["detail"].startswith("The retail list has no row")


async def test_the_table_has_the_amounts_of_the_list(world: World) -> None:
    await add_pool(world, "linux", "standard_d4as_v5")
    await polled(world)
    await world.app.fire("housekeeping")
    table = list(csv.DictReader(io.StringIO((await world.get("accounts/demo/prices?format=csv")).body)))
    (one,) = (await world.get("accounts/demo/prices")).body["value"]
    assert [(line["vmSize"], float(line["hourly"]), line["reason"]) for line in table] == [
        ("standard_d4as_v5", one["hourly"], "")
    ]


async def test_a_list_that_fails_degrades_health_and_keeps_prices_until_it_answers_again(world: World) -> None:
    await add_pool(world, "linux", "standard_d2s_v5")
    await polled(world)
    await world.app.fire("housekeeping")
    (before,) = (await world.get("accounts/demo/prices")).body["value"]
    await add_pool(world, "new", "standard_d16s_v5")
    world.advance(1)
    await polled(world)
    world.emulator.faults.add(Fault(path=LIST, status=400))
    await world.app.fire("housekeeping")
    failing = (await world.get("accounts/demo/prices")).body
    assert failing["failedSince"]
    assert "answers 400" in failing["problem"]
    reasons = {one["vmSize"]: (one["hourly"], one["reason"]) for one in failing["value"]}
    assert reasons == {"standard_d16s_v5": (None, "sourceFailed"), "standard_d2s_v5": (before["hourly"], None)}
    health = (await world.get("health")).body
    assert health["status"] == "degraded"
    assert any(problem.startswith("prices: Retail prices couldn't be read since ") for problem in health["problems"])
    world.emulator.faults.clear()
    await world.app.fire("housekeeping")
    found = (await world.get("accounts/demo/prices")).body
    assert (found["failedSince"], found["problem"]) == (None, None)
    assert all(one["hourly"] for one in found["value"])
    assert not any("prices" in problem for problem in (await world.get("health")).body["problems"])


async def test_amounts_are_numbers_in_the_answer_and_in_its_description(world: World) -> None:
    described = (await world.get("openapi.json")).body["components"]["schemas"]["PriceAnswer"]["properties"]["hourly"]
    assert described == {"anyOf": [{"type": "number", "format": "decimal"}, {"type": "null"}]}
    await add_pool(world, "linux", "standard_d2s_v5")
    await polled(world)
    await world.app.fire("housekeeping")
    reply = await world.app.request("GET", "/api/accounts/demo/prices")
    (one,) = json.loads(reply.body or b"", parse_float=str)["value"]
    assert one["hourly"] == "0.1024"
