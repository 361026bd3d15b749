"""Efficiency and waste of an account's jobs by prefix, schedule and metadata, and the changes that would save most."""

from typing import Any

import pytest
from azure.batch import models
from azure.storage.blob.aio import ContainerClient

from local.batch_emulator.core.stamps import SECOND, stamp
from tests.emulator.support.staging import add_tasks
from tests.functions.conftest import World
from tests.functions.efficiency.measured_world import polled_tasks, started, written
from tests.functions.support.priced_pools import add_priced_pool

pytestmark = pytest.mark.asyncio(loop_scope="session")
_DAY = 86_400 * SECOND
_RUNS = 20
_SIZE = "Standard_D4as_v5"


async def _stage(world: World, container: ContainerClient) -> None:
    """Runs a wasteful job of a team and others without one, on nodes with a price, within a day.

    One of the others is as wasteful, but some of its tasks were killed for lack of memory.
    """
    for _ in range(2):  # pools of earlier tests, and their days, are long gone then
        await world.app.fire("tick")
        await world.app.fire("housekeeping")
        world.advance((9 * _DAY - world.emulator.clock.now % _DAY) / SECOND + 3600)
    await world.app.fire("tick")
    await add_priced_pool(world, "priced", nodes=4)
    for job, team in (("wasteful-7", "film"), ("sound-8", ""), ("killed-9", "")):
        metadata = [models.BatchMetadataItem(name="team", value=team)] if team else []
        where = models.BatchPoolInfo(pool_id="priced")
        await world.batch.create_job(models.BatchJobCreateOptions(id=job, pool_info=where, metadata=metadata))
        await add_tasks(world.batch, _RUNS, job=job, command="sleep 600", prefix="frame")
    for _ in range(60):
        world.advance(180)
        await world.app.fire("tick")
    await written(
        world, container, "wasteful-7", await polled_tasks(world, "wasteful-7"), cores=0.9, memory=2.0, size=_SIZE
    )
    await written(world, container, "sound-8", await polled_tasks(world, "sound-8"), cores=3.9, memory=12.0, size=_SIZE)
    killed = await polled_tasks(world, "killed-9")
    await written(world, container, "killed-9", killed, cores=0.9, memory=2.0, size=_SIZE, further=_kill)
    for _ in range(2):  # prices that the first one reads are those of the second
        await world.app.fire("housekeeping")


def _kill(own: list[dict[str, Any]]) -> str:
    """Returns the event of a node whose kernel killed its first task."""
    named = f"kind=oom_kill,job_id=killed-9,task_id={own[0]['id']}"
    at = (started(own[0]) + 60) * 10**9
    return f'batchscope_event,{named} message="Killed.",is_cgroup_limit=false {at}\n'


async def _answer(world: World, **query: str) -> dict[str, Any]:
    since = stamp(world.emulator.clock.now - world.emulator.clock.now % _DAY)
    asked = "&".join(f"{name}={value}" for name, value in {"from": since, **query}.items())
    answer = await world.get(f"accounts/demo/efficiency?{asked}")
    assert answer.status == 200, answer.body
    found: dict[str, Any] = answer.body
    return found


async def test_groups_have_their_shares_and_waste_and_the_most_rewarding_changes_come_first(
    world: World, container: ContainerClient
) -> None:
    await _stage(world, container)
    answer = await _answer(world)
    groups = {group["name"]: group["sums"] for group in answer["value"]}
    assert {name: (one["jobs"], one["measuredRuns"]) for name, one in groups.items() if name} == {
        "wasteful-": (1, _RUNS), "sound-": (1, _RUNS), "killed-": (1, _RUNS),
    }  # fmt: skip
    assert groups["wasteful-"]["usedShares"] == {"cpu": 0.225, "memory": 0.125, "gpu": None}
    assert groups["sound-"]["usedShares"] == {"cpu": 0.975, "memory": 0.75, "gpu": None}
    job = (await world.get("accounts/demo/jobs/wasteful-7/efficiency")).body
    spot, saving = answer["savings"]
    (found,) = [one for one in job["findings"] if one["code"] == saving["code"]]
    assert (saving["job"], saving["code"], saving["title"]) == ("wasteful-7", "oneBusyCore", found["title"])
    assert saving["ownAmount"] == pytest.approx(found["amount"], abs=2e-6)
    assert saving["heldAmount"] == pytest.approx(job["cost"], abs=2e-6)
    named = (spot["pool"], spot["job"], spot["code"], spot["title"])
    assert named == ("priced", None, "spotInstead", "Spot nodes would cost less")
    assert spot["amount"] == spot["ownAmount"] < spot["heldAmount"]
    left = 1 - spot["ownAmount"] / spot["heldAmount"]  # the job's tasks held some of the same time
    assert saving["amount"] == pytest.approx(left * saving["ownAmount"], abs=2e-6)
    longer = await _answer(world, **{"from": stamp(world.emulator.clock.now - 100 * _DAY)})  # with few stored days
    assert {one["pool"] for one in longer["savings"]} == {None}
    cost = (await world.get(f"accounts/demo/cost?from={answer['from']}&groupBy=job")).body
    amounts = {group["name"]: group["cost"]["amount"] for group in cost["value"]}
    assert groups["wasteful-"]["amount"] == pytest.approx(amounts["wasteful-7"], abs=2e-6)
    teams = {group["name"]: group["sums"] for group in (await _answer(world, groupBy="metadata:team"))["value"]}
    assert teams["film"] == groups["wasteful-"]
    assert teams[""]["measuredRuns"] == 2 * _RUNS
    (schedules,) = (await _answer(world, groupBy="schedule"))["value"]
    assert (schedules["name"], schedules["sums"]["jobs"], schedules["sums"]["measuredRuns"]) == ("", 3, 3 * _RUNS)
    header, *lines = str((await world.get("accounts/demo/efficiency?format=csv&step=P1D")).body).splitlines()
    assert header == "from,to,group,jobs,measuredRuns,amount,wastedAmount,currency,cpu,memory,gpu"
    assert any(",wasteful-,1,20," in line and line.endswith(",0.225,0.125,") for line in lines)


@pytest.mark.parametrize(
    ("query", "target"), [("groupBy=job", "groupBy"), ("groupBy=metadata:other", "groupBy"), ("step=PT1H", "step")]
)
async def test_other_groups_and_steps_are_refused(world: World, query: str, target: str) -> None:
    answer = await world.get(f"accounts/demo/efficiency?{query}")
    assert (answer.status, answer.body["error"]["target"]) == (400, target)
