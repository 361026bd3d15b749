"""Figures of start-ups by day, VM size and image against the emulator's moments, and findings of any asker alike."""

import os
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
import pytest_asyncio
from azure.batch import models

from local.azurite import StorageAddresses
from local.batch_emulator.core.stamps import stamp
from shared.domain.nodes.start_ups import StartUp
from shared.domain.pools.start_up_days import StartUpDay
from shared.stores.pools.start_ups import StartUpStore
from shared.stores.tables.tables import Tables
from tests.emulator.support.staging import add_pool, add_tasks
from tests.functions.conftest import World, begin_anew
from tests.functions.pools.shown_pools import polled
from tests.functions.pools.test_startup import INTERVAL, SKEW, add_prepared_job, poll_while, startup

pytestmark = pytest.mark.asyncio(loop_scope="session")
POOL, GROWN = "start-ups-groups", "start-ups-grown"
OLD_SIZE, NEW_SIZE = "standard_d2s_v5", "standard_d4s_v5"
IMAGES = ("canonical/jammy/22_04-lts", "canonical/noble/24_04-lts")
_DAY = 86_400_000
type Moments = Mapping[str, Any]


@pytest_asyncio.fixture(loop_scope="session")
async def world(_running: World) -> World:
    """Yields an empty account that is polled each 15 seconds."""
    await begin_anew(_running, poll_seconds=10)
    return _running


def now(world: World) -> datetime:
    return datetime.fromisoformat(stamp(world.emulator.clock.now))


def true_nodes(world: World) -> dict[str, Moments]:
    """Returns the emulator's own moments and sizes of the pool's nodes that had any."""
    found: dict[str, Any] = world.emulator.simulations["demo"].context.start_ups.to_json().get(POOL, {})
    return {
        name: {n: at if n == "vmSize" else datetime.fromisoformat(at) for n, at in node.items()}
        for name, node in found.items()
    }


def spans(nodes: Sequence[Moments], phase: str) -> list[float]:
    """Returns the true seconds of a phase, in order; the overhead is the total without the wait."""
    ends = {
        "allocation": ("wished", "allocated"), "boot": ("allocated", "booted"), "setup": ("booted", "startTaskStarted"),
        "startTask": ("startTaskStarted", "startTaskEnded"), "wait": ("ready", "preparing"),
        "preparation": ("preparing", "firstTask"), "total": ("wished", "firstTask"),
    }  # fmt: skip
    if phase == "overhead":
        found = [(node["firstTask"] - node["wished"]) - (node["preparing"] - node["ready"]) for node in nodes]
    else:
        begin, end = ends[phase]
        found = [node[end] - node[begin] for node in nodes]
    return sorted(span.total_seconds() for span in found)


def differences(shown: Mapping[str, Any], nodes: Sequence[Moments]) -> list[str]:
    """Returns the phases of a group that differ from the emulator's by more than polls can."""
    found = [] if shown["nodes"] == len(nodes) else [f"{shown['nodes']} nodes for {len(nodes)}"]
    assert {phase["phase"] for phase in shown["phases"]} == {
        "allocation", "boot", "setup", "startTask", "wait", "preparation", "overhead", "total",
    }  # fmt: skip
    for phase in shown["phases"]:
        true = spans(nodes, phase["phase"])
        within = SKEW if phase["phase"] in {"allocation", "boot", "setup", "startTask"} else INTERVAL
        for percent in (50, 95):
            ours, theirs = phase[f"p{percent}Seconds"], true[-(-len(true) * percent // 100) - 1]
            if phase["nodes"] != len(nodes) or ours is None or abs(ours - theirs) > within:
                found.append(f"{phase['phase']} p{percent} is {ours} of {phase['nodes']} nodes for {theirs}")
    return found


async def start_nodes(world: World, image: str, nodes: int) -> None:
    """Resizes the pool to so many more nodes with an image, a third of them of another size, and lets them work."""
    pool = world.emulator.simulations["demo"].account.pools[POOL]
    publisher, offer, sku = image.split("/")
    reference = {"publisher": publisher, "offer": offer, "sku": sku}
    machine = {"imageReference": reference, "nodeAgentSKUId": "batch.node.ubuntu 22.04"}
    pool.spec["virtualMachineConfiguration"] = machine
    known = set(true_nodes(world))
    await world.batch.begin_resize_pool(POOL, models.BatchPoolResizeOptions(target_dedicated_nodes=len(known) + nodes))
    await polled(world)
    await poll_sized(world, known, nodes)
    world.advance(45)
    await polled(world)


async def poll_sized(world: World, known: set[str], nodes: int) -> None:
    """Polls until all nodes are allocated; each third gets the other size before a poll sees it."""
    pool = world.emulator.simulations["demo"].account.pools[POOL]
    sized = set(known)
    while len(sized) < len(known) + nodes:
        for _ in range(int(INTERVAL)):
            world.advance(1)
            for name in sorted(set(pool.nodes) - sized):
                if len(sized) % 3 == 0:
                    pool.nodes[name].vm_size = NEW_SIZE
                sized.add(name)
        await polled(world)
    await poll_while(world, lambda: any("ready" not in node for node in true_nodes(world).values()))


async def test_values_by_day_size_and_image_and_the_overhead_are_the_emulators(world: World) -> None:
    await add_pool(world.batch, POOL, nodes=0, slots=1, start="sleep 20")
    first_day = now(world).date()
    await start_nodes(world, IMAGES[0], 15)
    await add_prepared_job(world, 50, POOL)
    await add_tasks(world.batch, 15, command="sleep 400000")
    await poll_while(world, lambda: any("firstTask" not in node for node in true_nodes(world).values()))
    world.advance(86_400)
    await polled(world)
    await start_nodes(world, IMAGES[1], 9)
    await add_tasks(world.batch, 9, command="sleep 400000", prefix="more")
    await poll_while(world, lambda: any("firstTask" not in node for node in true_nodes(world).values()))
    shown, true = await startup(world, POOL), list(true_nodes(world).values())
    second_day = first_day + timedelta(days=1)
    days = {day: [node for node in true if node["allocated"].date() == day] for day in (first_day, second_day)}
    sizes = {size: [node for node in true if node["vmSize"] == size] for size in (OLD_SIZE, NEW_SIZE)}
    assert [len(nodes) for nodes in (*days.values(), *sizes.values())] == [15, 9, 16, 8]
    wanted = {
        "byDay": {day.isoformat(): nodes for day, nodes in days.items()},
        "bySize": sizes,
        "byImage": dict(zip(IMAGES, days.values(), strict=True)),
    }
    assert differences(shown, true) == []
    for grouping, groups in wanted.items():
        assert [group["name"] for group in shown[grouping]] == sorted(groups)
        found = {group["name"]: differences(group, groups[group["name"]]) for group in shown[grouping]}
        assert found == {name: [] for name in groups}


async def plant(azurite: StorageAddresses, pool: str, seconds: Mapping[date, int]) -> None:
    """Stores five start-ups of each day, whose overhead takes so long."""
    tables = Tables.connect(
        connection_string=azurite.connection_string, endpoint=None, credential=None, prefix=os.environ["TABLE_PREFIX"]
    )
    days = []
    for day, overhead in seconds.items():
        at = int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()) * 1000 + 3_600_000
        ready = at + overhead * 1000
        found = [
            StartUp(f"{day} {node}", at, OLD_SIZE, "", wished=at, booted=at + 1, ready=ready, busy=ready, worked=True)
            for node in range(5)
        ]
        days.append(StartUpDay(pool, at // _DAY, {one.node: one for one in found}))
    await StartUpStore(tables).save_all("demo", days)
    await tables.close()


async def test_a_finding_rests_on_the_last_seven_days_for_any_asker_and_is_in_the_pools_own_answer(
    world: World, azurite: StorageAddresses
) -> None:
    await add_pool(world.batch, GROWN, nodes=0)
    await polled(world)
    today = now(world).date()
    before = {today - timedelta(days=ago): 60 for ago in (3, 2, 1)}
    await plant(azurite, GROWN, {**before, today: 300})
    found = [(await startup(world, GROWN, f"?days={days}"))["findings"] for days in (1, 7, 31)]
    assert [[finding["code"] for finding in findings] for findings in found] == [["startUpGrows"]] * 3
    assert found[0] == found[1] == found[2]
    assert (await world.get(f"accounts/demo/pools/{GROWN}")).body["findings"] == found[0]
    world.advance(6 * 86_400)
    await polled(world)
    for days in (1, 7, 31):
        assert (await startup(world, GROWN, f"?days={days}"))["findings"] == []
    assert (await world.get(f"accounts/demo/pools/{GROWN}")).body["findings"] == []
