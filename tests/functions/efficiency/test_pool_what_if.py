"""What-if answers on a pool's formula through the app: the recorded targets, and replays with other formulas."""

import re
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote

import pytest
from azure.batch import models

from tests.emulator.support.staging import add_job, add_pool, add_tasks
from tests.functions.conftest import World

pytestmark = pytest.mark.asyncio(loop_scope="session")
PENDING = "$TargetDedicatedNodes = min(4, $PendingTasks.GetSample(1)); $NodeDeallocationOption = taskcompletion;"
INTERVAL = timedelta(minutes=5)
_SPREADS = ("nodeSeconds", "dedicatedSeconds", "spotSeconds", "meanWaitSeconds")


async def scaled(world: World, pool: str, day: int, formula: str = PENDING, *, minutes: int = 60) -> str:
    """Runs eight tasks of ten minutes in a pool that scales; returns the path of its what-if."""
    await world.app.fire("tick")
    world.advance(day * 86_400)
    await add_pool(world.batch, pool, nodes=0, size="standard_d4s_v5", slots=1)
    world.advance(90)
    options = models.BatchPoolEnableAutoScaleOptions(
        auto_scale_formula=formula, auto_scale_evaluation_interval=INTERVAL
    )
    await world.batch.enable_pool_auto_scale(pool, options)
    await world.app.fire("tick")
    world.advance(150)
    await add_job(world.batch, pool, pool=pool)
    await add_tasks(world.batch, 8, job=pool, command="sleep 600", prefix="frame")
    for _ in range(minutes // 2):
        world.advance(120)
        await world.app.fire("tick")
    return f"accounts/demo/pools/{pool}/whatif"


async def asked(world: World, path: str, formula: str) -> Any:
    answer = await world.get(f"{path}?formula={quote(formula)}")
    assert answer.status == 200, answer.body
    return answer.body


async def test_the_pools_own_formula_gives_the_recorded_targets(world: World) -> None:
    path = await scaled(world, "own", 1)
    answer = (await world.get(path)).body
    own = answer["ownFormula"]
    assert own["evaluations"] >= 12
    off = own["evaluations"] - own["equal"]
    assert off <= 1, own["differences"]  # where a node's clock puts an end on the other side of a sample
    assert (own["share"], len(own["differences"])) == (pytest.approx(own["equal"] / own["evaluations"]), off)
    was = answer["asItWas"]
    assert was == answer["asked"] | {name: was[name] for name in _SPREADS}
    waits, seen = answer["asked"]["meanWaitSeconds"], answer["seen"]["meanWaitSeconds"]
    assert waits["low"] <= seen <= waits["high"]
    assert max(one["dedicated"] for one in was["targets"]) == 4
    assert was["nodeSeconds"]["expected"] == pytest.approx(answer["seen"]["nodeSeconds"], rel=0.2)
    assert (was["unfinishedTasks"], was["lostRuns"], answer["intervalSeconds"]) == (0, 0, 300)


async def test_another_formula_takes_more_nodes_and_tasks_wait_less(world: World) -> None:
    path = await scaled(world, "other", 2)
    answer = await asked(world, path, "$TargetDedicatedNodes = 8;")
    was, other = answer["asItWas"], answer["asked"]
    assert other["meanWaitSeconds"]["expected"] < was["meanWaitSeconds"]["expected"]
    assert other["nodeSeconds"]["expected"] > 2 * was["nodeSeconds"]["expected"]
    assert other["nodeSeconds"]["low"] <= other["nodeSeconds"]["expected"] <= other["nodeSeconds"]["high"]
    assert other["targets"][-1]["dedicated"] == 8
    nothing = await asked(world, path, "$TargetDedicatedNodes = 0; $TargetLowPriorityNodes = 0;")
    assert (nothing["asked"]["nodeSeconds"]["expected"], nothing["asked"]["unfinishedTasks"]) == (0, 8)


async def test_samples_that_are_not_stored_are_named(world: World) -> None:
    path = await scaled(world, "cpu", 3, minutes=10)
    answer = await asked(world, path, "$TargetDedicatedNodes = avg($CPUPercent.GetSample(1)) > 0.7 ? 2 : 1;")
    assert (answer["asItWas"], answer["asked"]) == (None, None)
    assert answer["reason"] == (
        "$CPUPercent can't be replayed: no API of Batch shows these samples, so none are stored."
    )


async def test_what_cannot_be_replayed_is_refused_with_a_sentence(world: World) -> None:
    path = await scaled(world, "refused", 4, minutes=10)
    for query, target, sentence in (
        ("formula=x%20%3D", "formula", "Line 1, column 4: a value is expected instead of the end."),
        ("interval=PT1M", "interval", "An evaluation interval is a time from PT5M to P7D."),
        ("interval=PT0S", "interval", "An evaluation interval is a time from PT5M to P7D."),
        ("from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z", "to", "The range ends before it begins"),
        ("to=2020-01-02T00:00:00Z", "to", "Minutes of the pool's history are stored from "),
    ):
        answer = await world.get(f"{path}?{query}")
        assert (answer.status, answer.body["error"]["target"]) == (400, target)
        assert answer.body["error"]["message"].startswith(sentence)
    hostile = "v = vec(1, 2);" + "v = vec(v, v);" * 90
    answer = await world.get(f"{path}?formula={quote(hostile)}")
    assert (answer.status, answer.body["error"]["target"]) == (400, "formula")
    assert (await world.get("accounts/demo/pools/none/whatif")).status == 404


async def test_a_pool_without_a_formula_follows_its_recorded_targets(world: World) -> None:
    await world.app.fire("tick")
    world.advance(5 * 86_400)
    await add_pool(world.batch, "fixed", nodes=2, size="standard_d4s_v5", slots=1)
    await add_job(world.batch, "fixed", pool="fixed")
    await add_tasks(world.batch, 4, job="fixed", command="sleep 600", prefix="frame")
    for _ in range(20):
        world.advance(120)
        await world.app.fire("tick")
    answer = await asked(world, "accounts/demo/pools/fixed/whatif", PENDING)
    assert answer["ownFormula"] is None
    assert answer["asItWas"]["targets"][-1]["dedicated"] == 2
    assert answer["asked"]["targets"][-1]["dedicated"] == 0


async def test_runs_on_nodes_that_leave_by_recorded_targets_are_requeued_unless_it_is_recorded(world: World) -> None:
    await world.app.fire("tick")
    world.advance(8 * 86_400)
    await add_pool(world.batch, "shrunk", nodes=2, size="standard_d4s_v5", slots=1)
    await add_job(world.batch, "shrunk", pool="shrunk")
    await add_tasks(world.batch, 2, job="shrunk", command="sleep 1800", prefix="frame")
    for _ in range(5):
        world.advance(120)
        await world.app.fire("tick")
    await world.batch.begin_resize_pool("shrunk", models.BatchPoolResizeOptions(target_dedicated_nodes=1))
    for _ in range(45):
        world.advance(120)
        await world.app.fire("tick")
    answer = (await world.get("accounts/demo/pools/shrunk/whatif")).body
    was = answer["asItWas"]
    assert (was["lostRuns"], was["unfinishedTasks"]) == (1, 0)
    assert was["meanWaitSeconds"]["expected"] == pytest.approx(1500 / 2, abs=120)
    text = (
        "Where recorded targets fall, runs on nodes that leave are requeued, as by Batch's default: nothing else is"
        " recorded."
    )
    assert text in answer["assumptions"]


async def test_a_pool_that_polls_saw_too_little_of_is_not_replayed(world: World) -> None:
    path = await scaled(world, "unwatched", 7)
    seen = (await world.get(path)).body
    assert seen["assumptions"][0].startswith("A replay as it was differs by ")
    until = seen["to"]
    world.advance(3 * 3600)
    await world.app.fire("tick")
    answer = (await world.get(path)).body
    assert (answer["asItWas"], answer["asked"]) == (None, None)
    assert re.fullmatch(r"No poll saw the pool for [23]\.\d of these 4\.\d hours: take .* polled\.", answer["reason"])
    again = (await world.get(f"{path}?to={quote(until)}")).body
    assert (again["reason"], again["asItWas"] is None) == (None, False)


async def test_another_formula_counts_from_the_begin_where_the_own_one_changed_meanwhile(world: World) -> None:
    path = await scaled(world, "changed", 6, "$TargetDedicatedNodes = 2;", minutes=60)
    later = models.BatchPoolEnableAutoScaleOptions(
        auto_scale_formula="$TargetDedicatedNodes = 1;", auto_scale_evaluation_interval=INTERVAL
    )
    await world.batch.enable_pool_auto_scale("changed", later)
    for _ in range(30):
        world.advance(120)
        await world.app.fire("tick")
    answer = await asked(world, path, "$TargetDedicatedNodes = 5;")
    begin, end = (datetime.fromisoformat(answer[name]) for name in ("from", "to"))
    hour = timedelta(hours=1)
    assert end - begin > 2 * hour
    (five,) = [one for one in answer["asked"]["targets"] if one["dedicated"] == 5]
    assert datetime.fromisoformat(five["time"]) - begin < 2 * INTERVAL
    was = [one["dedicated"] for one in answer["asItWas"]["targets"]]
    assert was[-2:] == [2, 1]
    assert answer["asItWas"]["nodeSeconds"]["expected"] == pytest.approx(answer["seen"]["nodeSeconds"], rel=0.2)
