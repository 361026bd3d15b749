"""Sources of costs that fail or change, seen through the whole app: tags that can't be read, and another currency."""

import asyncio
import csv
import io
import json
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from local.batch_emulator.core.injection import Fault
from local.batch_emulator.core.stamps import SECOND, stamp
from tests.emulator.support.staging import add_job, add_tasks
from tests.functions.conftest import RESOURCE_ID, World
from tests.functions.support.priced_pools import add_priced_pool
from tests.functions.support.separate_app import Ask, SeparateApp, copy_app

pytestmark = pytest.mark.asyncio(loop_scope="session")

_DAY = 86_400 * SECOND
_AUTHORITY = "http://localhost/api/"


async def _stage(world: World, pool: str, hour: float = 23.5) -> None:
    """Runs a job for ten minutes from an hour of a day that has nothing else, by default shortly before midnight."""
    await world.app.fire("tick")
    world.advance((9 * _DAY - world.emulator.clock.now % _DAY) / SECOND + hour * 3600)
    await world.app.fire("tick")
    await add_priced_pool(world, pool, nodes=2, spot=1)
    await add_job(world.batch, f"{pool}-job", pool=pool)
    await add_tasks(world.batch, 2, job=f"{pool}-job", command="sleep 300")
    await _minutes(world, 10)


async def _minutes(world: World, number: int) -> None:
    for _ in range(number):
        world.advance(60)
        await world.app.fire("tick")


def _tag(world: World, team: str) -> None:
    settings = world.emulator.settings
    settings.copy_from(settings.with_changes({"accountTags": f"team={team}"}))


def _today(world: World) -> str:
    return stamp(world.emulator.clock.now - world.emulator.clock.now % _DAY)


async def _amounts(world: World, group_by: str) -> dict[str, float]:
    answer = await world.get(f"accounts/demo/cost?from={_today(world)}&groupBy={group_by}")
    assert answer.status == 200, answer.body
    return {group["name"]: group["cost"]["amount"] for group in answer.body["value"]}


async def test_known_tags_go_on_while_the_resource_manager_fails_and_no_cost_is_lost(world: World) -> None:
    _tag(world, "studio")
    await _stage(world, "tagged")
    for _ in range(2):  # tags that the first one reads reach the day with the second
        await world.app.fire("housekeeping")
    assert set(await _amounts(world, "tag:team")) == {"studio"}

    world.emulator.faults.add(Fault("GET", RESOURCE_ID, status=500))
    world.advance(1800)
    await _minutes(world, 10)
    for _ in range(2):
        await world.app.fire("housekeeping")
        world.advance(3600)
        await world.app.fire("tick")
    quotas, health = (await world.get("accounts/demo/quotas")).body, (await world.get("health")).body
    assert quotas["problem"].startswith("Quotas couldn't be read since ")
    assert "answers 500" in quotas["problem"]
    assert any("demo, quotas: Quotas couldn't be read" in problem for problem in health["problems"])
    by_pool, by_tag = await _amounts(world, "pool"), await _amounts(world, "tag:team")
    assert by_pool["tagged"] > 0
    assert by_tag == pytest.approx({"studio": sum(by_pool.values())}, abs=2e-6)

    world.emulator.faults.clear()
    _tag(world, "lab")
    for _ in range(2):
        world.advance(3600)
        await world.app.fire("tick")
        await world.app.fire("housekeeping")
    by_pool, by_tag = await _amounts(world, "pool"), await _amounts(world, "tag:team")
    assert by_tag == pytest.approx({"lab": sum(by_pool.values())}, abs=2e-6)
    assert (await world.get("accounts/demo/quotas")).body["problem"] is None


async def test_a_tag_that_was_taken_away_names_no_cost_of_that_day_any_more(world: World) -> None:
    _tag(world, "studio")
    await _stage(world, "untagged", hour=10)
    for _ in range(2):
        await world.app.fire("housekeeping")
    assert set(await _amounts(world, "tag:team")) == {"studio"}
    settings = world.emulator.settings
    settings.copy_from(settings.with_changes({"accountTags": ""}))
    world.advance(3600)  # tags are due again
    await world.app.fire("tick")
    for _ in range(2):
        await world.app.fire("housekeeping")
    assert set(await _amounts(world, "tag:team")) == {""}


async def test_nodes_with_a_negative_price_or_without_a_row_have_words_for_an_amount_and_all_of_their_time(
    world: World,
) -> None:
    await _stage(world, "sound", hour=10)
    await add_priced_pool(world, "negative", nodes=1, size="standard_hb120rs_v3")
    await add_priced_pool(world, "unlisted", nodes=1, size="standard_x9_v9")
    await _minutes(world, 10)
    await world.app.fire("housekeeping")
    body = (await world.get(f"accounts/demo/cost?from={_today(world)}")).body
    found = {group["name"]: group["cost"] for group in body["value"]}
    assert {one["vmSize"]: (one["reason"], one["detail"]) for one in body["unpriced"]} == {
        "standard_hb120rs_v3": ("noPositivePrice", "The retail list has no price above 0."),
        "standard_x9_v9": ("notListed", "The retail list has no row of this size in this region."),
    }
    for pool in ("negative", "unlisted"):
        assert (found[pool]["amount"], found[pool]["wastedAmount"], found[pool]["amounts"]) == (None, None, {})
        assert found[pool]["unpricedSeconds"] == sum(found[pool]["nodeSeconds"].values()) > 500
    assert body["cost"]["amount"] == found["sound"]["amount"] > 0
    assert body["cost"]["unpricedSeconds"] == sum(one["seconds"] for one in body["unpriced"])


@asynccontextmanager
async def _app_with(folder: Path, **settings: str) -> AsyncIterator["_OtherApp"]:
    """Yields another process of the app on the same storage, with some other settings."""
    app = SeparateApp(copy_app(folder), {**os.environ, **settings})
    await asyncio.to_thread(app.__enter__)
    try:
        yield _OtherApp(app)
    finally:
        await asyncio.to_thread(app.__exit__)


class _OtherApp:
    def __init__(self, app: SeparateApp) -> None:
        self._app = app

    async def text(self, path: str) -> str:
        (said,) = await asyncio.to_thread(self._app.ask, [Ask("GET", _AUTHORITY + path, {})])
        assert said.status == 200, said.text
        return said.text

    async def json(self, path: str) -> Any:
        return json.loads(await self.text(path))

    async def fire(self, timer: str) -> None:
        await asyncio.to_thread(self._app.fire, timer)


def _prices(body: Mapping[str, Any]) -> dict[str, float]:
    return {one["priority"]: one["hourly"] for one in body["value"]}


async def test_another_currency_has_its_own_prices_for_the_same_time_and_is_never_added(
    world: World, tmp_path: Path
) -> None:
    await _stage(world, "valued")
    await world.app.fire("housekeeping")
    assert (await world.put("accounts/demo/budgets/dollars", b'{"amount": 5, "pool": "valued"}')).status == 200
    path = f"accounts/demo/cost?from={_today(world)}"
    dollars, prices = (await world.get(path)).body, (await world.get("accounts/demo/prices")).body
    async with _app_with(tmp_path, PRICE_CURRENCY="EUR") as other:
        unread = await other.json(path)
        assert (unread["currency"], unread["cost"]["amount"]) == ("EUR", None)
        assert {one["reason"] for one in unread["unpriced"]} == {"notReadYet"}
        assert unread["cost"]["nodeSeconds"] == dollars["cost"]["nodeSeconds"]
        assert unread["cost"]["unpricedSeconds"] == sum(dollars["cost"]["nodeSeconds"].values())

        await other.fire("housekeeping")
        euros, own = await other.json(path), await other.json("accounts/demo/prices")
        assert (euros["currency"], euros["unpriced"]) == ("EUR", [])
        assert euros["cost"]["nodeSeconds"] == dollars["cost"]["nodeSeconds"]
        rates = [_prices(own)[name] / hourly for name, hourly in _prices(prices).items()]
        assert min(rates) <= euros["cost"]["amount"] / dollars["cost"]["amount"] <= max(rates)
        assert max(rates) < 1

        budgets = (await other.json("accounts/demo/budgets"))["value"]
        (budget,) = (one for one in budgets if one["name"] == "dollars")
        assert (budget["state"], budget["spent"], budget["currency"]) == ("unknown", None, "USD")
        assert budget["reason"].startswith("The budget is in USD and prices are in EUR")
        rows = list(csv.DictReader(io.StringIO(await other.text(f"accounts/demo/cost/focus?from={_today(world)}"))))
        assert {row["BillingCurrency"] for row in rows} == {"EUR"}
        billed = sum(Decimal(row["BilledCost"]) for row in rows)
        assert float(billed) == pytest.approx(euros["cost"]["amount"], abs=1e-6)
        lines = (await other.text("metrics")).splitlines()
        said = [line for line in lines if line.startswith(("azbatch_account_cost_today{", "azbatch_pool_cost_today{"))]
        assert said
        assert all('currency="EUR"' in line for line in said)

    again = (await world.get(path)).body
    assert (again["currency"], again["cost"], again["value"]) == ("USD", dollars["cost"], dollars["value"])
    assert (await world.get("accounts/demo/budgets")).body["value"][0]["state"] == "within"
    await world.delete("accounts/demo/budgets/dollars")


async def test_days_on_which_monitoring_is_off_have_unknown_costs_until_polls_go_on(world: World) -> None:
    await _stage(world, "unwatched")
    await world.app.fire("housekeeping")
    await world.put("accounts/demo/monitoring", b'{"enabled": false}')
    for _ in range(2):
        world.advance(86_400)
        await world.app.fire("tick")
        await world.app.fire("housekeeping")
    today = _today(world)[:10]
    summary = (await world.get("accounts/demo/cost/summary")).body
    assert (summary["today"], summary["yesterday"]) == (None, None)
    assert today in summary["missingDays"]

    await world.put("accounts/demo/monitoring", b'{"enabled": true}')
    await _minutes(world, 2)
    await world.app.fire("housekeeping")
    answer = (await world.get("accounts/demo/cost")).body
    steps = {step["from"][:10]: step["cost"] for step in answer["steps"]}
    assert steps[today]["uncertainAmount"] > 0
    assert not {*answer["missingDays"]} & {*list(steps)[-2:]}
