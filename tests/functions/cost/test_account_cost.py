"""What an account costs: node and slot seconds equal to the emulator's own log, at its own prices, and nothing lost."""

import csv
import io
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest
import pytest_asyncio

from functions.api.cost.account_cost import cost_sum
from local.batch_emulator.core.stamps import SECOND, stamp
from local.batch_emulator.http.usage import usage
from shared.domain.cost.cost_groups import CostSum
from shared.services.tasks.leaf_reader import LeafReader, Slice
from tests.emulator.support.staging import add_job, add_tasks
from tests.functions.conftest import World
from tests.functions.support.priced_pools import add_priced_pool
from tests.functions.support.seen_metrics import families

pytestmark = pytest.mark.asyncio(loop_scope="session")

_DAY = 86_400 * SECOND
_ABLE = ("succeeded", "failed", "interrupted", "running", "idleSlots", "idle", "unattributed")


@pytest_asyncio.fixture(loop_scope="session")
async def staged(_running: World) -> World:
    """Yields an account with an hour's usage; tests that change it follow those that only read it."""
    return await _running.staged_once(_stage)


async def _stage(world: World) -> None:
    """Runs an hour of two jobs on two pools, from half past four (UTC) on, and rolls it up."""
    await world.app.fire("tick")  # finds pools of earlier tests deleted
    world.advance((_DAY - world.emulator.clock.now % _DAY) / SECOND + 4.5 * 3600)
    await world.app.fire("tick")
    await add_priced_pool(world, "wide", nodes=2, spot=1, slots=4)
    await add_priced_pool(world, "narrow", nodes=2, start="sleep 90")
    await add_job(world.batch, "first", pool="wide")
    await add_tasks(world.batch, 30, job="first", command="sleep 300")
    await add_job(world.batch, "second", pool="narrow")
    await add_tasks(world.batch, 4, job="second", command="sleep 200; exit 1", prefix="bad")
    await add_tasks(world.batch, 3, job="second", command="sleep 3000", prefix="long")
    await _ticks(world, 60)
    await world.app.fire("housekeeping")


async def _ticks(world: World, minutes: int) -> None:
    for _ in range(minutes):
        world.advance(60)
        await world.app.fire("tick")


async def _cost(world: World, **query: str) -> dict[str, Any]:
    since = stamp(world.emulator.clock.now - world.emulator.clock.now % _DAY)
    asked = "&".join(f"{name}={value}" for name, value in {"from": since, **query}.items())
    answer = await world.get(f"accounts/demo/cost?{asked}")
    assert answer.status == 200, answer.body
    found: dict[str, Any] = answer.body
    return found


def _truth(world: World) -> dict[str, Any]:
    since = stamp(world.emulator.clock.now - world.emulator.clock.now % _DAY)
    found: dict[str, Any] = usage(world.emulator, {"from": since, "account": "demo"})["accounts"]["demo"]
    return found


async def test_node_seconds_by_pool_and_slot_seconds_by_job_are_those_of_the_emulator(staged: World) -> None:
    truth = _truth(staged)
    nodes = Counter[str]()
    for row in truth["nodes"]:
        nodes[row["pool"]] += row["seconds"]
    pools = {group["name"]: group["cost"] for group in (await _cost(staged, groupBy="pool"))["value"]}
    for pool in ("wide", "narrow"):
        assert sum(pools[pool]["nodeSeconds"].values()) == pytest.approx(nodes[pool], rel=0.005)
        assert pools[pool]["nodeSeconds"].get("unwatched", 0) == 0
        able = sum(pools[pool]["nodeSeconds"].get(name, 0) for name in _ABLE)
        mine = [row for row in truth["nodes"] if row["pool"] == pool and row["state"] in ("idle", "running")]
        assert able == pytest.approx(sum(row["seconds"] for row in mine), rel=0.005)
    held = Counter[str]()
    for row in truth["slots"]:
        held[row["job"]] += row["runningSeconds"] * row["slots"] / (4 if row["pool"] == "wide" else 1)
    jobs = {group["name"]: group["cost"] for group in (await _cost(staged, groupBy="job", sharing="none"))["value"]}
    for job in ("first", "second"):
        assert sum(jobs[job]["nodeSeconds"].values()) == pytest.approx(held[job], rel=0.01)
    assert jobs["second"]["nodeSeconds"]["failed"] == pytest.approx(4 * 200, rel=0.02)


async def test_core_seconds_are_vcpus_of_nodes_times_their_seconds(staged: World) -> None:
    whole = (await _cost(staged, groupBy="pool"))["cost"]
    unwatched = whole["nodeSeconds"].get("unwatched", 0)
    known = sum(whole["nodeSeconds"].values()) - unwatched
    unbilled = sum(whole["nodeSeconds"].get(name, 0) for name in ("preempted", "deallocated"))
    assert whole["coreSeconds"] == pytest.approx(4 * (known - unbilled), rel=0.001)
    held = sum(
        whole["nodeSeconds"].get(name, 0) for name in ("succeeded", "failed", "retried", "interrupted", "running")
    )
    assert whole["busyCoreSeconds"] == pytest.approx(4 * held, rel=0.001)


async def test_steps_of_several_days_have_the_sums_of_their_days(staged: World) -> None:
    daily, whole = await _cost(staged, groupBy="pool"), await _cost(staged, groupBy="pool", step="P30D")
    assert whole["step"] == "P30D"
    assert [group["cost"] for group in whole["value"]] == [group["cost"] for group in daily["value"]]
    assert all([step["cost"] for step in group["steps"]] == [group["cost"]] for group in whole["value"])
    assert all(step["to"] == whole["to"] for group in whole["value"] for step in group["steps"])
    answer = await staged.get("accounts/demo/cost?step=PT90M")
    assert (answer.status, answer.body["error"]["target"]) == (400, "step")


async def test_the_summary_names_the_days_without_usage_that_costs_of_its_days_name(staged: World) -> None:
    summary, whole = (await staged.get("accounts/demo/cost/summary")).body, await _cost(staged)
    today = whole["from"][:10]
    first = min(today[:8] + "01", (date.fromisoformat(today) - timedelta(days=8)).isoformat())
    missing = (await _cost(staged, **{"from": f"{first}T00:00:00Z"}))["missingDays"]
    assert summary["missingDays"] == missing
    assert missing[0] == first
    assert today not in missing


async def test_an_amount_of_days_without_usage_is_unknown(staged: World) -> None:
    today = (await _cost(staged))["from"]
    found = await _cost(staged, **{"from": "2000-01-01T00:00:00Z", "to": "2000-01-03T00:00:00Z"})
    assert (found["asOf"], found["cost"]["amount"]) == (None, None)
    assert found["missingDays"] == ["2000-01-01", "2000-01-02"]
    assert (await _cost(staged, **{"from": today}))["cost"]["amount"] > 0


async def test_amounts_of_time_without_a_price_are_unknown(staged: World) -> None:
    idle, today = {"idle": 60_000}, (await _cost(staged))["cost"]
    found = cost_sum(CostSum(defaultdict(int, idle), unpriced_times=defaultdict(int, idle)))
    amounts = (found.amount, found.wasted_amount, found.shared_amount, found.uncertain_amount)
    assert (amounts, found.unpriced_seconds) == ((None,) * 4, 60)
    assert (today["amount"] > today["wastedAmount"] > 0, today["uncertainAmount"]) == (True, 0)
    unwatched = cost_sum(CostSum(unpriced_times=defaultdict(int, idle), uncertain=Decimal(2)))
    assert (unwatched.amount, unwatched.uncertain_amount) == (None, Decimal(2))


async def test_money_is_node_seconds_times_the_emulators_price_and_every_grouping_has_the_same_sum(
    staged: World,
) -> None:
    by_pool = await _cost(staged, groupBy="pool")
    assert (by_pool["currency"], by_pool["unpriced"]) == ("USD", [])
    whole = Decimal(str(by_pool["cost"]["amount"]))
    assert whole > 0
    for grouping in ("job", "schedule", "vmSize", "class", "day"):
        for sharing in ("proportional", "even", "none"):
            found = await _cost(staged, groupBy=grouping, sharing=sharing)
            parts = sum((Decimal(str(group["cost"]["amount"] or 0)) for group in found["value"]), Decimal(0))
            assert abs(Decimal(str(found["cost"]["amount"])) - whole) < Decimal("0.00001")
            assert abs(parts - whole) < Decimal("0.00001")
    prices = {one["priority"]: one["hourly"] for one in (await staged.get("accounts/demo/prices")).body["value"]}
    classes = next(group["cost"] for group in by_pool["value"] if group["name"] == "narrow")
    seconds = sum(time for name, time in classes["nodeSeconds"].items() if name not in ("preempted", "deallocated"))
    assert float(classes["amount"]) == pytest.approx(seconds / 3600 * prices["dedicated"], rel=1e-6)


async def test_a_jobs_own_cost_is_that_of_its_group_with_a_task_and_a_forecast(staged: World) -> None:
    groups = {one["name"]: one["cost"] for one in (await _cost(staged, groupBy="job", sharing="even"))["value"]}
    for job in ("first", "second"):
        own = (await staged.get(f"accounts/demo/jobs/{job}/cost?sharing=even")).body
        assert own["cost"] == groups[job]
        assert [step["cost"] for step in own["steps"]] == [own["cost"]]
        assert own["missingDays"] == []
    first, second = [(await staged.get(f"accounts/demo/jobs/{job}/cost")).body for job in ("first", "second")]
    assert (first["forecast"], second["task"], second["forecast"]) == (None, None, None)
    held = sum(first["cost"]["amounts"][name] for name in ("succeeded",))
    assert first["task"]["mean"] == pytest.approx(held / 30, abs=2e-6)
    assert (await staged.get("accounts/demo/jobs/none-at-all/cost")).status == 404


async def test_the_dearest_tasks_of_a_job_are_those_that_ran_longest_at_the_price_of_their_nodes(
    staged: World,
) -> None:
    found = (await staged.get("accounts/demo/jobs/second/cost")).body
    dearest = found["dearestTasks"]
    prices = (await staged.get("accounts/demo/prices")).body["value"]
    hourly = next(one["hourly"] for one in prices if one["priority"] == "dedicated")
    assert {one["task"][:4] for one in dearest[:2]} == {"long"}
    assert [one["seconds"] for one in dearest if one["outcome"] == "failed"] == [pytest.approx(200, rel=0.02)] * 4
    for one in dearest:
        assert one["amount"] == pytest.approx(one["seconds"] / 3600 * hourly, abs=1e-6)
        assert one["node"].endswith("_d")
    assert [one["amount"] for one in dearest] == sorted((one["amount"] for one in dearest), reverse=True)
    assert (await staged.get("accounts/demo/jobs/second/cost?dearest=false")).body["dearestTasks"] is None
    assert (await staged.get("accounts/demo/jobs/second/cost?dearest=true")).body["dearestTasks"] == dearest


async def test_a_pools_own_cost_is_that_of_its_group_by_the_hour_and_in_total(staged: World) -> None:
    groups = {one["name"]: one["cost"] for one in (await _cost(staged))["value"]}
    for pool in ("wide", "narrow"):
        own = (await staged.get(f"accounts/demo/pools/{pool}/cost")).body
        assert (own["currency"], own["unpricedSeconds"], own["deleted"]) == ("USD", 0, False)
        assert own["amount"] == pytest.approx(groups[pool]["amount"], abs=3e-6)
        assert sum(step["amount"] for step in own["value"]) == pytest.approx(own["amount"], abs=3e-5)


async def test_hours_add_up_to_the_day_and_a_second_roll_up_changes_nothing(staged: World) -> None:
    day, hours = await _cost(staged), await _cost(staged, step="PT1H")
    assert hours["cost"] == day["cost"]
    assert [step["from"][11:13] for step in hours["steps"]] == ["04", "05"]
    await staged.app.fire("housekeeping")
    assert (await _cost(staged))["value"] == day["value"]


async def test_a_table_has_a_line_for_each_group_day_and_class(staged: World) -> None:
    found = await _cost(staged, groupBy="class")
    since = found["from"]
    answer = await staged.get(f"accounts/demo/cost?groupBy=class&from={since}&format=csv")
    rows = list(csv.DictReader(io.StringIO(answer.body)))
    assert {row["group"]: float(row["seconds"]) for row in rows} == found["cost"]["nodeSeconds"]
    assert {(row["currency"], row["unpricedSeconds"]) for row in rows} == {("USD", "0.0")}


@pytest.mark.parametrize(
    ("query", "target"),
    [
        ("groupBy=task", "groupBy"),
        ("step=PT15M", "step"),
        ("groupBy=job&step=PT1H", "step"),
        ("from=2026-01-02&to=2026-01-01", "from"),
        ("from=2020-01-01", "from"),
        ("sharing=half", "sharing"),
    ],
)
async def test_a_bad_parameter_is_named_with_a_sentence(staged: World, query: str, target: str) -> None:
    answer = await staged.get(f"accounts/demo/cost?{query}")
    assert (answer.status, answer.body["error"]["target"]) == (400, target)


async def test_metrics_have_the_costs_of_today_by_pool_and_job(staged: World) -> None:
    found = families((await staged.get("metrics")).body)
    pools, cost = defaultdict[str, float](float), await _cost(staged)
    for sample in found["azbatch_pool_cost_today"].samples:
        pools[sample.labels["pool"]] += sample.value
    assert pools["wide"] == pytest.approx(next(one["cost"]["amount"] for one in cost["value"] if one["name"] == "wide"))
    assert found["azbatch_account_cost_today"].samples[0].value == pytest.approx(cost["cost"]["amount"], abs=1e-6)
    jobs = {one["name"]: one["cost"] for one in (await _cost(staged, groupBy="job"))["value"]}
    for sample in found["azbatch_job_cost_today"].samples:
        assert sample.value == pytest.approx(jobs[sample.labels["job"]]["amount"], abs=1e-6)
    assert {"first", "second"} <= {sample.labels["job"] for sample in found["azbatch_job_cost_today"].samples}


async def test_a_deleted_job_and_a_deleted_pool_keep_their_costs(staged: World) -> None:
    before = {group["name"]: group["cost"]["amounts"] for group in (await _cost(staged, groupBy="job"))["value"]}
    await staged.batch.begin_delete_job("second")
    await staged.batch.begin_delete_pool("narrow")
    await _ticks(staged, 5)
    await staged.app.fire("housekeeping")
    after = {group["name"]: group["cost"]["amounts"] for group in (await _cost(staged, groupBy="job"))["value"]}
    assert after["second"]["failed"] == pytest.approx(before["second"]["failed"], rel=0.001)
    pools = {group["name"]: group["cost"] for group in (await _cost(staged))["value"]}
    truth = sum(row["seconds"] for row in _truth(staged)["nodes"] if row["pool"] == "narrow")
    assert sum(pools["narrow"]["nodeSeconds"].values()) == pytest.approx(truth, rel=0.01)


async def test_jobs_whose_tasks_rest_are_not_read_again_at_each_roll_up(
    staged: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, slices = list[str](), LeafReader.slices

    def noted(self: LeafReader, account_id: str, job_id: str, **given: Any) -> AsyncGenerator[Slice]:
        read.append(job_id)
        return slices(self, account_id, job_id, **given)

    monkeypatch.setattr(LeafReader, "slices", noted)
    for _ in range(3):
        staged.advance(3600)
        await staged.app.fire("tick")
        await staged.app.fire("housekeeping")
    assert {"first", "second"} <= set(read)  # until their hours are settled
    read.clear()
    staged.advance(3600)
    await staged.app.fire("tick")
    await staged.app.fire("housekeeping")
    assert "first" not in read


async def test_a_pool_that_lived_for_a_quarter_of_an_hour_has_its_whole_cost(world: World) -> None:
    await world.app.fire("tick")
    world.advance((_DAY - world.emulator.clock.now % _DAY) / SECOND + 3600)
    await world.app.fire("tick")
    await world.app.fire("housekeeping")
    await add_priced_pool(world, "brief", nodes=2)
    await _ticks(world, 8)
    await world.app.fire("housekeeping")
    (early,) = [group["cost"] for group in (await _cost(world))["value"] if group["name"] == "brief"]
    await _ticks(world, 7)
    await world.batch.begin_delete_pool("brief")
    await _ticks(world, 3)
    assert (await world.get("accounts/demo/pools/brief")).status == 404
    await world.app.fire("housekeeping")
    gone = (await world.get("accounts/demo/pools/brief/cost")).body
    (brief,) = [group["cost"] for group in (await _cost(world))["value"] if group["name"] == "brief"]
    truth = sum(row["seconds"] for row in _truth(world)["nodes"] if row["pool"] == "brief")
    assert sum(brief["nodeSeconds"].values()) == pytest.approx(truth, abs=2 * 60)
    assert (brief["amount"] > early["amount"] > 0, brief["unpricedSeconds"]) == (True, 0)
    assert (gone["deleted"], gone["amount"]) == (True, pytest.approx(brief["amount"], abs=3e-6))


async def test_a_pool_that_lived_between_two_roll_ups_has_its_cost(world: World) -> None:
    await world.app.fire("tick")
    world.advance((_DAY - world.emulator.clock.now % _DAY) / SECOND + 3600)
    await world.app.fire("tick")
    await world.app.fire("housekeeping")
    await add_priced_pool(world, "unseen", nodes=1)
    await _ticks(world, 6)
    await world.batch.begin_delete_pool("unseen")
    await _ticks(world, 3)
    await world.app.fire("housekeeping")
    (unseen,) = [group["cost"] for group in (await _cost(world))["value"] if group["name"] == "unseen"]
    assert (unseen["amount"] > 0, unseen["unpricedSeconds"]) == (True, 0)


async def test_a_pool_that_was_made_again_with_other_slots_keeps_the_time_of_its_nodes(world: World) -> None:
    await world.app.fire("tick")
    world.advance((_DAY - world.emulator.clock.now % _DAY) / SECOND + 4 * 3600)
    await world.app.fire("tick")
    await add_priced_pool(world, "again", nodes=2, slots=4)
    await _ticks(world, 30)
    world.advance(2 * 3600)  # settles the hour
    await _ticks(world, 2)
    await world.app.fire("housekeeping")
    (before,) = [group["cost"] for group in (await _cost(world))["value"] if group["name"] == "again"]
    await world.batch.begin_delete_pool("again")
    await _ticks(world, 5)
    await add_priced_pool(world, "AGAIN", nodes=1, slots=1)
    await _ticks(world, 5)
    await world.app.fire("housekeeping")
    (after,) = [group["cost"] for group in (await _cost(world))["value"] if group["name"].lower() == "again"]
    truth = sum(row["seconds"] for row in _truth(world)["nodes"] if row["pool"].lower() == "again")
    assert sum(after["nodeSeconds"].values()) == pytest.approx(truth, abs=3 * 60)
    assert before["amount"] < after["amount"] < 1.3 * before["amount"]


async def test_a_job_names_the_days_of_its_life_without_usage_and_has_no_cost_of_a_task_then(world: World) -> None:
    await world.app.fire("tick")
    await add_priced_pool(world, "rare", nodes=2)
    await add_job(world.batch, "old", pool="rare")
    await add_tasks(world.batch, 12, job="old", command="sleep 30")
    await _ticks(world, 15)
    await world.app.fire("housekeeping")
    first = date.fromisoformat(stamp(world.emulator.clock.now)[:10])
    world.advance(6 * 86_400)
    await _ticks(world, 2)
    await world.app.fire("housekeeping")
    found = (await world.get("accounts/demo/jobs/old/cost")).body
    assert found["asOf"] is not None
    assert found["since"] == first.isoformat()
    assert found["missingDays"] == [(first + timedelta(days=days)).isoformat() for days in (1, 2)]
    assert (found["task"], found["forecast"]) == (None, None)
