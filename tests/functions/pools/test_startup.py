"""Start-ups as the API shows them, judged by the emulator's own moments of each node."""

import csv
import io
import os
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import pytest
import pytest_asyncio
from azure.batch import models

from local.azurite import StorageAddresses
from local.batch_emulator.exports.log_writer import LogWriter
from tests.emulator.support.staging import add_job, add_pool, add_tasks
from tests.functions.conftest import World, begin_anew
from tests.functions.pools.shown_pools import polled

pytestmark = pytest.mark.asyncio(loop_scope="session")
INTERVAL = 15.0
MANY = "start-ups-many"
"""Ids of pools are of this module alone: start-ups of a pool created anew under an id go on."""
SKEW = 2.0  # seconds: both ends of a phase may be by a node's clock
type Moments = Mapping[str, datetime]
_TRUE: Mapping[str, tuple[str, str]] = {
    "allocation": ("wished", "allocated"),
    "boot": ("allocated", "booted"),
    "setup": ("booted", "startTaskStarted"),
    "startTask": ("startTaskStarted", "startTaskEnded"),
    "wait": ("ready", "preparing"),
    "preparation": ("preparing", "firstTask"),
    "total": ("wished", "firstTask"),
}


def moments(world: World, pool: str = MANY) -> list[Moments]:
    """Returns the emulator's own moments of a pool's nodes that had any."""
    found = world.emulator.simulations["demo"].context.start_ups.to_json().get(pool, {})
    return [{n: datetime.fromisoformat(at) for n, at in node.items() if n != "vmSize"} for node in found.values()]


def lacking(world: World, name: str) -> bool:
    found = moments(world)
    return not found or any(name not in node for node in found)


def true_quantile(nodes: list[Moments], phase: str, percent: int) -> float:
    begin, end = _TRUE[phase]
    spans = sorted((node[end] - node[begin]).total_seconds() for node in nodes)
    return spans[-(-len(spans) * percent // 100) - 1]


async def startup(world: World, pool: str = MANY, query: str = "") -> Any:
    found = await world.get(f"accounts/demo/pools/{pool}/startup{query}")
    assert found.status == 200, found.body
    return found.body


def phases(body: Any) -> dict[str, Any]:
    return {one["phase"]: one for one in body["phases"]}


async def poll_while(world: World, lacks: Callable[[], bool], interval: float = INTERVAL) -> None:
    for _ in range(40):
        if not lacks():
            break
        world.advance(interval)
        await polled(world)
    world.advance(interval)
    await polled(world)


async def add_prepared_job(world: World, seconds: int, pool: str = MANY) -> None:
    """Creates a job whose preparation task takes so long."""
    await world.batch.create_job(
        models.BatchJobCreateOptions(
            id="job",
            pool_info=models.BatchPoolInfo(pool_id=pool),
            job_preparation_task=models.BatchJobPreparationTask(
                command_line=f"sleep {seconds}", constraints=models.BatchTaskConstraints(max_task_retry_count=0)
            ),
        )
    )


@pytest_asyncio.fixture(loop_scope="session")
async def world(_running: World) -> World:
    """Yields an empty account that is polled each 15 seconds."""
    await begin_anew(_running, poll_seconds=10)
    return _running


async def test_figures_of_500_nodes_are_those_of_the_emulator_within_a_polls_interval(world: World) -> None:
    await add_pool(world.batch, MANY, nodes=500, slots=1, start="sleep 45")
    await polled(world)
    await poll_while(world, lambda: lacking(world, "ready"))
    world.advance(40)
    await add_prepared_job(world, 50)
    await add_tasks(world.batch, 500, command="sleep 600")
    await poll_while(world, lambda: lacking(world, "firstTask"))
    shown, true = await startup(world), moments(world)
    found = phases(shown)
    print(
        f"\n{'phase':12}{'p50':>9}{'true':>9}{'p95':>9}{'true':>9}  seconds, over 500 nodes, polled each {INTERVAL} s"
    )
    for phase in _TRUE:
        ours = found[phase]["p50Seconds"], found[phase]["p95Seconds"]
        theirs = true_quantile(true, phase, 50), true_quantile(true, phase, 95)
        print(f"{phase:12}{ours[0]:9.1f}{theirs[0]:9.1f}{ours[1]:9.1f}{theirs[1]:9.1f}")
        assert found[phase]["nodes"] == 500, found[phase]
        for mine, other in zip(ours, theirs, strict=True):
            assert abs(mine - other) <= INTERVAL, phase
        if phase not in {"wait", "preparation", "total"}:
            assert abs(ours[0] - theirs[0]) <= SKEW, phase
    assert shown["nodes"] == 500
    assert [(day["nodes"], size["name"]) for day, size in zip(shown["byDay"], shown["bySize"], strict=True)] == [
        (500, "standard_d2s_v5")
    ]


async def test_phases_that_no_node_has_are_null_with_a_reason_in_words(world: World) -> None:
    await add_pool(world.batch, "start-ups-idle", nodes=2)
    await polled(world)
    for _ in range(8):
        world.advance(INTERVAL)
        await polled(world)
    body = await startup(world, "start-ups-idle")
    found = phases(body)
    assert (body["nodes"], body["limited"], body["medianTaskSeconds"], body["findings"]) == (2, False, None, [])
    assert found["boot"]["p50Seconds"] > 0
    assert found["startTask"] == {
        "phase": "startTask",
        "nodes": 0,
        "p50Seconds": None,
        "p95Seconds": None,
        "reason": "noStartTask",
        "unknown": [{"reason": "noStartTask", "nodes": 2, "detail": "The pool has no start task."}],
    }
    assert {found[name]["reason"] for name in ("wait", "preparation", "overhead", "total")} == {"noTaskSoFar"}


async def test_a_resize_that_no_poll_saw_leaves_the_allocation_unknown(world: World) -> None:
    await add_pool(world.batch, "start-ups-unseen", nodes=2)
    world.advance(300)
    await polled(world)
    found = phases(await startup(world, "start-ups-unseen"))
    assert (found["allocation"]["p50Seconds"], found["allocation"]["reason"]) == (None, "resizeNotSeen")
    assert found["boot"]["nodes"] == 2


async def test_slow_starts_beside_short_tasks_are_a_finding_and_series(world: World) -> None:
    await add_pool(world.batch, "start-ups-short", nodes=6, slots=1, start="sleep 120")
    await add_job(world.batch, pool="start-ups-short")
    await add_tasks(world.batch, 40, command="sleep 5")
    await polled(world)
    for _ in range(20):
        world.advance(INTERVAL)
        await polled(world)
    body = await startup(world, "start-ups-short")
    (finding,) = body["findings"]
    assert (finding["code"], finding["evidence"]["phase"]) == ("startUpExceedsTasks", "startTask")
    assert finding["evidence"]["medianRun"] == pytest.approx(body["medianTaskSeconds"], abs=0.001)
    text = (await world.get("metrics")).body
    lines = [line for line in text.splitlines() if line.startswith("azbatch_pool_startup_seconds{")]
    labels = ('pool="start-ups-short"', 'phase="startTask"', 'quantile="0.95"')
    (line,) = [line for line in lines if all(label in line for label in labels)]
    assert f'vm_size="{body["bySize"][0]["name"]}"' in line
    assert f'image="{body["byImage"][0]["name"]}"' in line
    assert float(line.rpartition(" ")[2]) == phases(body)["startTask"]["p95Seconds"]


async def test_runs_of_preparation_tasks_are_those_of_batchs_events(world: World, azurite: StorageAddresses) -> None:
    container = os.environ["RESOURCE_LOG_CONTAINER"]
    async with LogWriter(world.emulator, azurite.connection_string, container) as writer:
        await add_pool(world.batch, "prepared", nodes=3, slots=1)
        await add_prepared_job(world, 2, "prepared")
        await add_tasks(world.batch, 3, command="sleep 60")
        await polled(world)
        world.advance(120)
        await polled(world)
        assert (await startup(world, "prepared"))["preparationTasks"] is None
        await writer.flush()
    world.advance(INTERVAL)
    await polled(world)
    found = (await startup(world, "prepared"))["preparationTasks"]
    assert (found["runs"], round(found["p50Seconds"]), round(found["p95Seconds"])) == (3, 2, 2)


async def test_a_table_has_a_line_for_each_phase_of_each_group(world: World) -> None:
    await add_pool(world.batch, "start-ups-table", nodes=2)
    await polled(world)
    world.advance(60)
    await polled(world)
    body = await startup(world, "start-ups-table")
    lines = list(
        csv.DictReader(io.StringIO((await world.get("accounts/demo/pools/start-ups-table/startup?format=csv")).body))
    )
    names = {"all": {""}, "day": {body["byDay"][0]["name"]}, "vmSize": {"standard_d2s_v5"}}
    names["image"] = {body["byImage"][0]["name"]}
    assert {line["grouping"]: {line["name"]} for line in lines} == names
    boot = phases(body)["boot"]["p50Seconds"]
    assert [float(line["p50Seconds"]) for line in lines if line["phase"] == "boot"] == [boot] * 4
    assert {(line["p50Seconds"], line["reason"]) for line in lines if line["phase"] == "total"} == {("", "noTaskSoFar")}


async def test_days_beyond_a_month_are_refused(world: World) -> None:
    await add_pool(world.batch, "start-ups-empty", nodes=0)
    await polled(world)
    for days in ("0", "32", "many"):
        assert (await world.get(f"accounts/demo/pools/start-ups-empty/startup?days={days}")).status == 400
    assert (await startup(world, "start-ups-empty", query="?days=31"))["nodes"] == 0
