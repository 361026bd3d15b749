"""Quotas of an account: limits as the emulated Resource Manager has them, use as the account has it, and failures."""

import csv
import io
from typing import Any

import pytest
from azure.batch.aio import BatchClient

from local.batch_emulator.core.injection import Fault
from tests.emulator.support.staging import add_job, add_pool, add_tasks
from tests.functions.conftest import RESOURCE_ID, World

pytestmark = pytest.mark.asyncio(loop_scope="session")

_PATH = "accounts/demo/quotas"
_LIMITS = {
    "dedicatedCoreQuota": 40,
    "spotCoreQuota": 20,
    "poolQuota": 30,
    "jobQuota": 200,
    "familyCoreQuotas": "standardDSv5Family=16 standardEv3Family=8",
}


def _limit(world: World, **changes: Any) -> None:
    settings = world.emulator.settings
    settings.copy_from(settings.with_changes({**_LIMITS, **changes}))


async def _read(world: World) -> dict[str, Any]:
    """Polls, has the quotas read, and returns the answer."""
    for _ in range(3):
        world.advance(60)
        await world.app.fire("tick")
    world.advance(3600)
    await world.app.fire("tick")
    await world.app.fire("housekeeping")
    answer = await world.get(_PATH)
    assert answer.status == 200, answer.body
    found: dict[str, Any] = answer.body
    return found


def _by_name(body: dict[str, Any]) -> dict[tuple[str, str | None], dict[str, Any]]:
    return {(one["quota"], one["family"]): one for one in body["value"]}


async def _stage(batch: BatchClient) -> None:
    await add_pool(batch, "quota-pool", nodes=3, size="standard_d4s_v5")
    await add_job(batch, "quota-job", pool="quota-pool")


async def test_limits_are_those_of_the_resource_manager_and_use_is_that_of_the_account(world: World) -> None:
    _limit(world)
    await _stage(world.batch)
    body = await _read(world)
    found = _by_name(body)
    assert (body["problem"], body["allocationMode"], body["unknownNodes"]) == (None, "BatchService", 0)
    assert {key: (one["limit"], one["used"], one["share"]) for key, one in found.items()} == {
        ("dedicatedCores", None): (40, 12, 0.3),
        ("spotCores", None): (20, 0, 0.0),
        ("pools", None): (30, 1, 0.0333),
        ("activeJobsAndSchedules", None): (200, 1, 0.005),
        ("familyCores", "standarddsv5family"): (16, 12, 0.75),
        ("familyCores", "standardev3family"): (8, 0, 0.0),
    }
    rows = list(csv.DictReader(io.StringIO((await world.get(f"{_PATH}?format=csv")).body)))
    assert [(row["quota"], row["limit"]) for row in rows] == [
        (one["quota"], str(one["limit"])) for one in body["value"]
    ]


async def test_metrics_have_limit_and_use(world: World) -> None:
    _limit(world)
    await _stage(world.batch)
    await _read(world)
    lines = (await world.get("metrics")).body.splitlines()
    assert 'azbatch_quota_limit{account="demo",family="",quota="dedicatedCores"} 40.0' in lines
    assert 'azbatch_quota_used{account="demo",family="standarddsv5family",quota="familyCores"} 12.0' in lines
    assert 'azbatch_quota_used{account="demo",family="",quota="activeJobsAndSchedules"} 1.0' in lines


async def test_a_read_that_fails_is_said_and_known_limits_go_on(world: World) -> None:
    _limit(world)
    await _read(world)
    world.emulator.faults.add(Fault("GET", RESOURCE_ID, status=403, count=1))
    body = await _read(world)
    assert "answers 403: the app's identity lacks Microsoft.Batch/batchAccounts/read" in body["problem"]
    assert _by_name(body)["pools", None]["limit"] == 30
    assert any("demo, quotas: Quotas couldn't be read" in one for one in (await world.get("health")).body["problems"])
    assert (await _read(world))["problem"] is None
    assert not any("quotas" in one for one in (await world.get("health")).body["problems"])


async def test_a_quota_that_is_used_up_has_a_finding_and_explains_a_pool_that_lacks_nodes(world: World) -> None:
    _limit(world, dedicatedCoreQuota=8, familyCoreQuotas="")
    await _stage(world.batch)
    body = await _read(world)
    (finding,) = body["findings"]
    assert (finding["code"], finding["evidence"]["used"]) == ("quotaNearlyReached", 8)
    assert _by_name(body)["dedicatedCores", None]["reachedAt"]
    await add_pool(world.batch, "quota-starved", nodes=1, size="standard_d4s_v5")
    await add_job(world.batch, "quota-waiting", pool="quota-starved")
    await add_tasks(world.batch, 1, job="quota-waiting")
    await _read(world)
    explained = (await world.get("accounts/demo/jobs/quota-waiting/explanation")).body
    (cause,) = [one for one in explained["findings"] if one["code"] == "resizeFailed"]
    assert (cause["evidence"]["coreQuota"], cause["evidence"]["coresUsed"]) == (8, 8)
    assert "The account may have 8 such cores, and 8 are in use." in cause["detail"]


async def test_growing_use_has_a_day_on_which_the_limit_is_reached(world: World) -> None:
    _limit(world, familyCoreQuotas="")
    await world.app.fire("tick")
    world.advance(10 * 86_400)  # the use by pools of other tests doesn't count any more
    for number in range(4):
        await add_pool(world.batch, f"quota-growing-{number}", nodes=1, size="standard_d4s_v5")
        body = await _read(world)
        world.advance(86_400)
    one = _by_name(body)["pools", None]
    assert (one["used"], one["limit"]) == (4, 30)
    assert one["reachedAt"]
