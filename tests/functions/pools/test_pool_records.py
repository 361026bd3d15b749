"""Recorded events of pools and nodes, from the emulator to the API: times in state, interruptions, runs, history."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

import pytest
import pytest_asyncio
from azure.batch import models

from local.batch_emulator.core.stamps import stamp
from local.batch_emulator.entities import Node
from tests.emulator.support.staging import add_job, add_pool, add_tasks
from tests.functions.conftest import World, begin_anew

pytestmark = pytest.mark.asyncio(loop_scope="session")
POOL = "pool"
_POLLS = 40


@pytest_asyncio.fixture(loop_scope="session")
async def world(_running: World) -> World:
    """Yields an empty account that each tick polls."""
    await begin_anew(_running, poll_seconds=1)
    return _running


async def get(world: World, path: str) -> Any:
    found = await world.get(f"accounts/demo/pools/{path}")
    assert found.status == 200, found.body
    return found.body


async def nodes(world: World, pool: str = POOL) -> dict[str, Any]:
    return {node["id"]: node for node in (await get(world, f"{pool}/nodes?maxpagesize=1000"))["value"]}


def now(world: World) -> datetime:
    return time(stamp(world.emulator.clock.now))


def true_nodes(world: World) -> dict[str, Node]:
    return world.emulator.simulations["demo"].account.pools[POOL].nodes


def time(text: str) -> datetime:
    return datetime.fromisoformat(text)


async def test_a_nodes_time_in_state_is_right_to_one_interval(world: World) -> None:
    """Holds at any moment, up to an interval after the list of nodes."""
    interval = 20
    world.emulator.settings.preemptionSeconds, world.emulator.settings.nodeLossSeconds = 60, 90
    await add_pool(world.batch, nodes=3, spot=3)
    await add_job(world.batch)
    await add_tasks(world.batch, 60, command="sleep 17")
    wrong = Counter[str]()
    for _ in range(20):
        await world.app.fire("tick")
        for _ in range(4):
            world.advance(interval / 4)
            shown, at = await nodes(world), now(world)
            for name in shown.keys() & true_nodes(world).keys():
                node, true = shown[name], true_nodes(world)[name]
                since = max((at - time(stamp(true.changed))).total_seconds(), 0)
                if node["stateTransitionTime"][:23] == stamp(true.changed)[:23]:
                    assert node["state"] == true.state
                    assert node["secondsInState"] == pytest.approx(since, abs=0.002)
                else:
                    assert since <= interval, "it changed before the last poll, which didn't see it"
                    wrong.update([node["state"]])
    assert wrong, "nothing changed between polls"


async def test_states_and_interruptions_are_those_that_polls_saw(world: World) -> None:
    world.emulator.settings.preemptionSeconds = 45
    await add_pool(world.batch, nodes=1, spot=5)
    seen: dict[str, list[tuple[str, str]]] = {}
    started = ""
    for _ in range(_POLLS):
        await world.app.fire("tick")
        started = started or (await get(world, POOL))["verdict"]["asOf"]
        for name, true in true_nodes(world).items():
            states = seen.setdefault(name, [])
            if (state := (true.state, stamp(true.changed)[:23])) not in states:
                states.append(state)
        world.advance(6)
    await world.app.fire("tick")
    taken = {name: [at for state, at in states if state == "preempted"] for name, states in seen.items()}
    shown = await nodes(world)
    assert shown.keys() == seen.keys()
    for name, node in shown.items():
        states = [(one["state"], one["since"][:23]) for one in reversed(node["history"]) if one["state"]]
        assert states == seen[name][-len(states) :] or states[:-1] == seen[name][-len(states) + 1 :]
        assert node["history"][0]["until"] is None
        assert [one["since"] for one in node["history"][:-1]] == [one["until"] for one in node["history"][1:]]
        assert node["historyComplete"] == (len(states) <= 20 and all(one["state"] for one in node["history"]))
        assert node["interruptions"]["total"] >= len(taken[name])
    found = (await get(world, POOL))["interruptions"]
    assert found["total"] == sum(node["interruptions"]["total"] for node in shown.values())
    assert found["total"] >= sum(map(len, taken.values())) >= 5
    assert (found["lastHour"], found["lastDay"], found["since"]) == (found["total"], found["total"], started)
    assert found["latest"] == max(node["interruptions"]["latest"] or "" for node in shown.values())
    metrics = (await world.get("metrics")).body
    assert f'azbatch_pool_interruptions_total{{account="demo",pool="pool"}} {found["total"]:.1f}' in metrics


async def test_a_preemption_between_two_polls_is_counted_as_an_unexplained_restart(world: World) -> None:
    await add_pool(world.batch, nodes=0, spot=1)
    world.advance(120)
    await world.app.fire("tick")
    world.emulator.settings.preemptionSeconds = 1
    (true,) = true_nodes(world).values()
    world.emulator.simulations["demo"].nodes._lose(true, true.life)
    world.emulator.settings.preemptionSeconds = 0
    world.advance(300)
    assert true.state == "idle"
    await world.app.fire("tick")
    (node,) = (await nodes(world)).values()
    assert [one["state"] for one in node["history"]] == ["idle", None, "idle"]
    assert (node["historyComplete"], node["flaps"], node["flapping"]) == (False, 1, False)
    found = (await get(world, POOL))["interruptions"]
    assert (found["total"], found["unexplainedRestarts"]) == (0, 1)


async def test_a_node_that_falls_time_and_again_flaps_for_an_hour(world: World) -> None:
    await add_pool(world.batch, nodes=2)
    world.advance(120)
    await world.app.fire("tick")
    true = next(iter(true_nodes(world).values()))
    for expected in (1, 2, 3):
        for state in ("unusable", "idle"):
            world.advance(60)
            true.state, true.changed = state, world.emulator.clock.now
            await world.app.fire("tick")
        assert (await nodes(world))[true.id]["flaps"] == expected
        assert (await get(world, POOL))["flappingNodes"] == (expected == 3)
        drawn = (await get(world, f"{POOL}/nodestates"))["nodes"]
        assert {node["id"]: node["flapping"] for node in drawn} == {
            name: name == true.id and expected == 3 for name in true_nodes(world)
        }
    for flapping, wanted in (("true", {true.id}), ("false", true_nodes(world).keys() - {true.id})):
        found = (await get(world, f"{POOL}/nodes?flapping={flapping}"))["value"]
        assert {node["id"] for node in found} == wanted
    world.advance(3600)
    assert (await get(world, POOL))["flappingNodes"] == 0
    assert {node["flapping"] for node in (await nodes(world)).values()} == {False}


async def test_the_latest_evaluations_of_an_autoscale_formula_are_listed(world: World) -> None:
    await add_pool(world.batch, nodes=1)
    assert (await get(world, f"{POOL}/autoscaleruns"))["value"] == []
    world.advance(60)
    formula = "$TargetDedicatedNodes = 3;"
    await world.batch.enable_pool_auto_scale(
        POOL,
        models.BatchPoolEnableAutoScaleOptions(
            auto_scale_formula=formula, auto_scale_evaluation_interval=timedelta(minutes=5)
        ),
    )
    expected: dict[str, str] = {}
    for _ in range(24):
        world.advance(300)
        await world.app.fire("tick")
        run = (await world.batch.get_pool(POOL)).auto_scale_run
        assert run
        expected[run.timestamp.astimezone(UTC).isoformat()[:19]] = run.results or ""
    runs = (await get(world, f"{POOL}/autoscaleruns"))["value"]
    assert [(one["timestamp"][:19], one["results"]) for one in runs] == list(reversed(expected.items()))[:20]
    assert {one["error"] for one in runs} == {None}
    assert "$TargetDedicatedNodes=3" in runs[0]["results"]


async def test_a_history_has_the_numbers_of_each_poll(world: World) -> None:
    world.emulator.settings.preemptionSeconds = 200
    name = "history-1"  # no other test has it: histories outlive pools
    await add_pool(world.batch, name, nodes=2, spot=3)
    await add_job(world.batch)
    shown: dict[datetime, Any] = {}
    first = now(world)
    for _ in range(25):
        world.advance(60 - now(world).timestamp() % 60)
        await world.app.fire("tick")
        shown[now(world)] = await get(world, name)
    query = f"from={quote(first.isoformat())}&to={quote(now(world).isoformat())}"
    found = await get(world, f"{name.upper()}/history?{query}&step=PT1M")
    points = {time(point["time"]): point for point in found["value"]}
    assert points.keys() == shown.keys()
    before = 0
    for at, pool in shown.items():
        point = points[at]
        sizes = {kind: (pool[kind]["current"], pool[kind]["target"]) for kind in ("dedicated", "spot")}
        assert {kind: (point["current"][kind], point["target"][kind]) for kind in sizes} == sizes
        for field in ("nodeCounts", "slots", "cores"):
            assert point[field] == pool[field], at
        assert (point["exact"], point["tasks"], point["resizeErrors"]) == (True, pool["runningTasks"], 0)
        assert point["preempted"] == pool["interruptions"]["total"] - before
        before = pool["interruptions"]["total"]
    assert before >= 3
    assert len({str(point["nodeCounts"]) for point in points.values()}) >= 4
    table = await world.get(f"accounts/demo/pools/{name}/history?{query}&step=PT15M&format=csv")
    header, *lines = table.body.splitlines()
    assert header.split(",")[:7] == [
        *("time", "asOf", "exact", "target.dedicated", "target.spot", "current.dedicated", "current.spot")
    ]
    assert lines


@pytest.mark.parametrize(
    ("path", "status", "target"),
    [
        ("none/history", 404, "pool"),
        ("none/autoscaleruns", 404, "pool"),
        ("none/history?step=PT90S", 400, "step"),
        ("none/history?start=2026-11-21T08:00:00Z", 400, "start"),
        ("none/autoscaleruns?maxpagesize=3", 400, "maxpagesize"),
    ],
)
async def test_invalid_requests_name_their_target(world: World, path: str, status: int, target: str) -> None:
    answer = await world.get(f"accounts/demo/pools/{path}")
    assert (answer.status, answer.body["error"]["target"]) == (status, target)
