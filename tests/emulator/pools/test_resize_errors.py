"""Errors of resizes stay until the next resize begins, also where the pool lacks no nodes any more."""

from typing import Any

import pytest

from tests.emulator.support.driver import Driver

_POOL = "/pools/pool"


async def _pool(driver: Driver) -> Any:
    return (await driver.call("GET", _POOL)).body


async def _codes(driver: Driver) -> list[str]:
    return [error["code"] for error in (await _pool(driver)).get("resizeErrors") or ()]


async def _failed(driver: Driver, nodes: int = 2, **spec: Any) -> None:
    """Adds a pool for which the quota allows one node."""
    driver.emulator.settings.dedicatedNodeQuota = 1
    await driver.add_pool(nodes=nodes, **spec)
    await driver.advance(120)
    assert await _codes(driver) == ["AccountCoreQuotaReached"]


async def _scale(driver: Driver, formula: str) -> None:
    answer = await driver.call("POST", f"{_POOL}/enableautoscale", {"autoScaleFormula": formula})
    assert answer.status == 200, answer.body


async def test_a_formula_that_wants_the_nodes_that_are_there_begins_no_resize_and_keeps_the_error(
    stepped: Driver,
) -> None:
    await _failed(stepped)
    before = await _pool(stepped)
    await _scale(stepped, "$TargetDedicatedNodes=1")
    after = await _pool(stepped)
    assert (before["targetDedicatedNodes"], after["targetDedicatedNodes"]) == (2, 1)
    assert after["currentDedicatedNodes"] == 1
    for name in ("resizeErrors", "allocationState", "allocationStateTransitionTime"):
        assert after[name] == before[name]
    await stepped.advance(3 * 86400)
    assert await _codes(stepped) == ["AccountCoreQuotaReached"]


@pytest.mark.parametrize("formula", ["$TargetDedicatedNodes=0", "$TargetDedicatedNodes=1;$TargetLowPriorityNodes=1"])
async def test_the_next_resize_takes_the_error_away(stepped: Driver, formula: str) -> None:
    await _failed(stepped)
    await _scale(stepped, formula)
    assert (await _pool(stepped))["allocationState"] == "resizing"
    assert await _codes(stepped) == []
    await stepped.advance(120)
    assert await _codes(stepped) == []


async def test_the_removal_of_nodes_is_a_resize_too(stepped: Driver) -> None:
    await _failed(stepped)
    (node,) = await stepped.rows(f"{_POOL}/nodes", _select="id")
    answer = await stepped.call("POST", f"{_POOL}/removenodes", {"nodeList": [node["id"]]})
    assert answer.status == 202
    assert await _codes(stepped) == []
    await stepped.advance(300)
    pool = await _pool(stepped)
    assert (pool["currentDedicatedNodes"], pool["targetDedicatedNodes"]) == (0, 1)


async def test_a_resize_to_the_nodes_that_are_there_is_one_all_the_same_where_a_user_asks_for_it(
    stepped: Driver,
) -> None:
    await _failed(stepped)
    answer = await stepped.call("POST", f"{_POOL}/resize", {"targetDedicatedNodes": 1})
    assert answer.status == 202
    assert await _codes(stepped) == []
