"""What was wasted: findings on pools and jobs of an account, with their money, from a day of the emulator."""

import csv
import io
from typing import Any

import pytest
import pytest_asyncio
from azure.batch import models

from local.batch_emulator.core.stamps import SECOND
from tests.emulator.support.staging import add_job, add_tasks
from tests.functions.conftest import World

pytestmark = pytest.mark.asyncio(loop_scope="session")

_DAY = 86_400 * SECOND
_WEDNESDAY = 6  # the remainder of days since 1970, a Thursday
_WASTE = "accounts/demo/cost/waste"


@pytest_asyncio.fixture(loop_scope="session")
async def wasteful(_running: World) -> World:
    """Yields an account with a day's usage; the test that adds days follows those that only read it."""
    return await _running.staged_once(_stage)


async def _stage(world: World) -> None:
    """Runs half a day of a pool of three nodes, one working for two hours, in vain, and rolls it up."""
    await _create_pool(world)
    await add_job(world.batch, "in-vain", pool="spare")
    await add_tasks(world.batch, 1, job="in-vain", command="sleep 7200; exit 1")
    for minutes in [1] * 130 + [10] * 60:
        world.advance(60 * minutes)
        await world.app.fire("tick")
    await world.app.fire("housekeeping")


async def _create_pool(world: World) -> None:
    """Creates a pool of three nodes in the first hour of a Wednesday on which nothing ran so far."""
    for _ in range(2):  # pools of earlier tests, their ledgers and their days are long gone then
        await world.app.fire("tick")
        await world.app.fire("housekeeping")
        world.advance((9 * _DAY - world.emulator.clock.now % _DAY) / SECOND + 3600)
    while world.emulator.clock.now // _DAY % 7 != _WEDNESDAY:
        world.advance(_DAY / SECOND)
    await world.app.fire("tick")
    image = models.BatchVmImageReference(publisher="canonical", offer="jammy", sku="22_04-lts")
    machine = models.VirtualMachineConfiguration(image_reference=image, node_agent_sku_id="batch.node.ubuntu 22.04")
    await world.batch.create_pool(
        models.BatchPoolCreateOptions(
            id="spare", vm_size="standard_d4as_v5", virtual_machine_configuration=machine, target_dedicated_nodes=3,
        )
    )  # fmt: skip


async def _found(world: World) -> dict[tuple[str, str], dict[str, Any]]:
    answer = await world.get(_WASTE)
    assert answer.status == 200, answer.body
    return {(one["code"], one["id"]): one for one in answer.body["value"]}


async def test_waste_is_found_in_a_days_usage_at_its_prices(wasteful: World) -> None:
    found = await _found(wasteful)
    prices = {one["priority"]: one["hourly"] for one in (await wasteful.get("accounts/demo/prices")).body["value"]}
    failed = found["failedTasks", "in-vain"]
    assert (failed["scope"], failed["evidence"]["failures"]) == ("job", ["userCode: 1"])
    assert failed["nodeSeconds"] == pytest.approx(7200, rel=0.01)
    assert failed["amount"] == pytest.approx(2 * prices["dedicated"], rel=0.01)
    idle = found["idlePool", "spare"]
    assert (idle["scope"], idle["evidence"]["poolId"], idle["severity"]) == ("pool", "spare", "info")
    assert idle["evidence"]["idleHours"] >= 8
    assert idle["amount"] == pytest.approx(idle["nodeSeconds"] / 3600 * prices["dedicated"], rel=1e-4)
    sized = found["oversizedPool", "spare"]
    assert (sized["evidence"]["mostBusyNodes"], sized["evidence"]["nodes"]) == (1, 3)
    spot = found["spotInstead", "spare"]
    assert 0 < spot["amount"] < failed["amount"]
    assert (spot["evidence"]["interruptions"], spot["unpricedSeconds"]) == (None, 0)


async def test_a_single_day_has_no_amount_for_a_month_and_is_named(wasteful: World) -> None:
    body = (await wasteful.get(_WASTE)).body
    assert (body["account"], body["currency"], body["fullDays"], len(body["days"])) == ("demo", "USD", 0, 1)
    assert body["asOf"].startswith(body["days"][0])
    assert {one["monthlyAmount"] for one in body["value"]} == {None}
    amounts = [one["amount"] for one in body["value"]]
    assert amounts == sorted(amounts, reverse=True)
    assert all("1 day so far" in one["detail"] for one in body["value"] if one["code"] != "idleWeekends")


async def test_a_table_has_a_line_for_each_finding(wasteful: World) -> None:
    found = await _found(wasteful)
    rows = list(csv.DictReader(io.StringIO((await wasteful.get(f"{_WASTE}?format=csv")).body)))
    assert [(row["code"], row["id"]) for row in rows] == list(found)
    assert {row["currency"] for row in rows} == {"USD"}


async def test_pages_have_the_findings_in_their_order_and_their_number(wasteful: World) -> None:
    whole = (await wasteful.get(_WASTE)).body
    count = len(whole["value"])
    assert (whole["count"], "nextLink" in whole) == (count, False)
    found, following, tables = list[Any](), f"{_WASTE}?maxpagesize=2", list[str]()
    while following:
        page = await wasteful.get(following)
        assert (page.body["count"], len(page.body["value"]) <= 2) == (count, True)
        table = await wasteful.get(f"{following}&format=csv")
        tables += [row["code"] for row in csv.DictReader(io.StringIO(table.body))]
        has_next = "nextLink" in page.body
        assert ("link" in table.headers, table.headers["batchscope-count"]) == (has_next, str(count))
        found += page.body["value"]
        following = page.body["nextLink"].split("/api/", 1)[1] if has_next else ""
    assert found == whole["value"]
    assert tables == [one["code"] for one in found]
    assert (await wasteful.get(f"{_WASTE}?continuation=900")).body["value"] == []
    answer = await wasteful.get(f"{_WASTE}?continuation=next")
    assert (answer.status, answer.body["error"]["target"]) == (400, "continuation")


async def test_after_three_full_days_a_month_costs_thirty_of_them(wasteful: World) -> None:
    for _ in range(4):
        for _ in range(24):
            wasteful.advance(3600)
            await wasteful.app.fire("tick")
        await wasteful.app.fire("housekeeping")
    body = (await wasteful.get(_WASTE)).body
    assert (body["fullDays"], len(body["days"])) == (3, 3)
    (idle,) = [one for one in body["value"] if (one["code"], one["id"]) == ("idlePool", "spare")]
    assert idle["monthlyAmount"] == pytest.approx(idle["amount"] * 10, rel=1e-5)
    assert "of the last 3 days" in idle["detail"]


async def test_nodes_that_are_idle_beside_busy_ones_are_named_with_their_money(world: World) -> None:
    await _create_pool(world)
    await add_job(world.batch, "steady", pool="spare")
    await add_tasks(world.batch, 2, job="steady", command="sleep 3600")
    await add_tasks(world.batch, 1, job="steady", command="sleep 18000", prefix="long")
    for _ in range(30):
        world.advance(600)
        await world.app.fire("tick")
    await world.app.fire("housekeeping")
    found, prices = await _found(world), (await world.get("accounts/demo/prices")).body["value"]
    assert not {("idlePool", "spare"), ("oversizedPool", "spare")} & found.keys()
    idle = found["idleBetweenTasks", "spare"]
    assert idle["nodeSeconds"] == pytest.approx(2 * 4 * 3600, rel=0.05)
    assert idle["evidence"]["idleTime"] == pytest.approx(idle["nodeSeconds"])
    assert (idle["evidence"]["idleShare"], idle["evidence"]["autoScale"]) == (pytest.approx(53, abs=2), False)
    (hourly,) = [one["hourly"] for one in prices if one["priority"] == "dedicated"]
    assert idle["amount"] == pytest.approx(idle["nodeSeconds"] / 3600 * hourly, rel=1e-4)
