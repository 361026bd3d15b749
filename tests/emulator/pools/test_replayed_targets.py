"""Pools that scale in the emulator, and the app's evaluation of their formulas on what tasks' stamps and polls show."""

from typing import Any

from local.prove.scaling.pools import ScaledPool, drawn_pools
from shared.domain.autoscale.evaluation import Targets
from shared.domain.autoscale.parser import parsed
from shared.domain.core.stamps import parse_milliseconds
from shared.domain.efficiency.scaling.agreement import Evaluator, reproduced
from shared.domain.efficiency.scaling.recorded_pool import (
    NodePoint,
    PoolTask,
    RecordedPool,
    recorded_evaluations,
)
from tests.emulator.support.driver import Driver

_MINUTES = 60


async def test_formulas_give_the_emulators_targets_on_stamps_and_polls(stepped: Driver) -> None:
    pools = drawn_pools(1)
    begins, polls = await _begun(stepped, pools), dict[str, list[NodePoint]]()
    for minute in range(_MINUTES):
        await _add_tasks(stepped, pools, minute)
        await stepped.advance(60)
        now = parse_milliseconds((await stepped.control("GET", "clock"))["time"])
        for row in (await stepped.call("GET", "/pools")).body["value"]:
            polls.setdefault(row["id"], []).append(_point(row, now))
    for pool in pools:
        tasks = [_task(row) for row in await stepped.rows(f"/jobs/{pool.name}/tasks")]
        created = parse_milliseconds((await stepped.call("GET", f"/pools/{pool.name}")).body["creationTime"])
        record = RecordedPool(created, tasks, polls[pool.name], pool.slots)
        times = range(begins, begins + _MINUTES * 60_000 + 1, 300_000)
        evaluations = recorded_evaluations(times, {}, record.nodes)
        evaluator = Evaluator(parsed(pool.formula), pool.slots, max_steps=1_000_000, seed="1")
        found = reproduced(evaluator, record, evaluations)
        assert (found.evaluations, found.failed) == (12, 0)
        assert found.differences == [], pool.name


async def _begun(driver: Driver, pools: list[ScaledPool]) -> int:
    """Adds pools with formulas and their jobs; returns when these begin."""
    for pool in pools:
        await driver.add_pool(pool.name, nodes=0, taskSlotsPerNode=pool.slots)
        await driver.add_job(pool.name, pool=pool.name)
    await driver.advance(120)
    for pool in pools:
        scale = {"autoScaleFormula": pool.formula, "autoScaleEvaluationInterval": "PT5M"}
        assert (await driver.call("POST", f"/pools/{pool.name}/enableautoscale", scale)).status == 200
    return parse_milliseconds((await driver.control("GET", "clock"))["time"])


async def _add_tasks(driver: Driver, pools: list[ScaledPool], minute: int) -> None:
    for pool in pools:
        for wave in pool.waves:
            if wave.minute == minute:
                tasks = [{"id": f"{minute}-{at}", "commandLine": f"sleep {wave.seconds}"} for at in range(wave.tasks)]
                await driver.call("POST", f"/jobs/{pool.name}/addtaskcollection", {"value": tasks})


def _point(row: Any, now: int) -> NodePoint:
    dedicated, spot = row["currentDedicatedNodes"], row["currentLowPriorityNodes"]
    targets = Targets(row["targetDedicatedNodes"], row["targetLowPriorityNodes"])
    return NodePoint(now, dedicated, spot, 0, dedicated + spot, targets)


def _task(row: Any) -> PoolTask:
    start = row.get("executionInfo", {}).get("startTime")
    end = parse_milliseconds(row["stateTransitionTime"]) if row["state"] == "completed" else None
    return PoolTask(parse_milliseconds(row["creationTime"]), parse_milliseconds(start) if start else None, end)
