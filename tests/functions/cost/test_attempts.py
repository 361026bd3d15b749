"""All runs of tasks have a cost where Batch's event log is ingested: retried ones, and those of jobs no poll saw."""

import os
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from local.azurite import StorageAddresses
from local.batch_emulator.core.stamps import SECOND, stamp
from local.batch_emulator.exports.log_writer import LogWriter
from local.batch_emulator.http.usage import usage
from shared.domain.leaves.leaves import Leaf
from tests.emulator.support.staging import add_job, add_pool, add_tasks
from tests.functions.conftest import World

pytestmark = pytest.mark.asyncio(loop_scope="session")

_DAY = 86_400 * SECOND


@pytest_asyncio.fixture(loop_scope="session")
async def writer(world: World, azurite: StorageAddresses) -> AsyncIterator[LogWriter]:
    """Yields a writer of the emulator's log, at two o'clock (UTC) of a new day."""
    await world.app.fire("tick")  # finds pools of earlier tests deleted
    world.advance((_DAY - world.emulator.clock.now % _DAY) / SECOND + 2 * 3600)
    await world.app.fire("tick")
    async with LogWriter(world.emulator, azurite.connection_string, os.environ["RESOURCE_LOG_CONTAINER"]) as opened:
        yield opened


async def _pass(world: World, writer: LogWriter, minutes: int) -> None:
    for _ in range(minutes):
        world.advance(60)
        await writer.flush()
        await world.app.fire("tick")


async def _shown(world: World, job: str) -> dict[str, float]:
    """Returns the seconds that a job's tasks held by class, after a roll-up."""
    await world.app.fire("housekeeping")
    query = f"from={_today(world)}&groupBy=job&sharing=none"
    groups = (await world.get(f"accounts/demo/cost?{query}")).body["value"]
    found: dict[str, float] = next((one["cost"]["nodeSeconds"] for one in groups if one["name"] == job), {})
    return found


def _true(world: World, job: str) -> Counter[str]:
    """Returns the seconds that a job's tasks ran by outcome."""
    found, seconds = usage(world.emulator, {"from": _today(world), "account": "demo"}), Counter[str]()
    for row in found["accounts"]["demo"]["slots"]:
        if row["job"] == job:
            seconds[row["outcome"]] += row["runningSeconds"]
    return seconds


def _today(world: World) -> str:
    return stamp(world.emulator.clock.now - world.emulator.clock.now % _DAY)


async def test_runs_that_were_retried_count_once_and_stay_when_their_hours_are_settled(
    world: World, writer: LogWriter
) -> None:
    await add_pool(world.batch, "retries", nodes=2, slots=1)
    await add_job(world.batch, "again", pool="retries")
    await add_tasks(world.batch, 2, job="again", command="sleep 400; exit 1", retries=2)
    await _pass(world, writer, 9)
    early = await _shown(world, "again")
    assert early["retried"] == pytest.approx(_true(world, "again")["retried"], abs=2 * 6)
    assert early["running"] > 0
    await _pass(world, writer, 15)
    true = _true(world, "again")
    assert true.keys() == {"retried", "failed"}
    for _ in range(2):
        shown = await _shown(world, "again")
        assert shown["retried"] == pytest.approx(true["retried"], abs=4 * 3)
        assert shown["failed"] == pytest.approx(true["failed"], abs=2)
        assert shown.keys() == true.keys()
        world.advance(3 * 3600)
        await world.app.fire("tick")


async def test_a_job_that_came_and_went_between_two_polls_has_its_cost(world: World, writer: LogWriter) -> None:
    await add_pool(world.batch, "unpolled", nodes=3, slots=1)
    await _pass(world, writer, 3)
    await add_job(world.batch, "Flash", pool="unpolled")
    await add_tasks(world.batch, 3, job="Flash", command="sleep 200")
    world.advance(300)
    await world.batch.begin_delete_job("Flash")
    world.advance(10)
    await _pass(world, writer, 2)
    assert (await world.get("accounts/demo/jobs/flash")).status == 404
    shown: dict[str, Any] = await _shown(world, "Flash")
    assert shown == {"succeeded": pytest.approx(_true(world, "Flash")["succeeded"], abs=2)}


async def test_a_multi_instance_task_holds_the_slots_of_all_of_its_nodes(world: World, writer: LogWriter) -> None:
    await add_pool(world.batch, "connected", nodes=5, slots=1, connected=True)
    await _pass(world, writer, 3)
    await add_job(world.batch, "Wide", pool="connected")
    await add_job(world.batch, "narrow", pool="connected")
    await add_tasks(world.batch, 2, job="Wide", command="sleep 900", instances=3)
    await add_tasks(world.batch, 2, job="narrow", command="sleep 300; exit 1", retries=1)
    await _pass(world, writer, 12)
    early = await _shown(world, "Wide")
    assert early == {"running": pytest.approx(_true(world, "Wide")["running"], rel=0.01)}
    await _pass(world, writer, 30)
    for job in ("Wide", "narrow"):
        true = _true(world, job)
        assert await _shown(world, job) == {name: pytest.approx(true[name], rel=0.01) for name in true}
    assert _true(world, "Wide")["succeeded"] == pytest.approx(2 * 3 * 900, rel=0.01)
    query = f"from={_today(world)}&groupBy=pool"
    groups = (await world.get(f"accounts/demo/cost?{query}")).body["value"]
    (pool,) = (one["cost"]["nodeSeconds"] for one in groups if one["name"] == "connected")
    held = _true(world, "Wide") + _true(world, "narrow")
    assert {name: pool[name] for name in held} == {name: pytest.approx(held[name], rel=0.01) for name in held}
    assert pool.get("unattributed", 0) < 0.01 * held.total()


async def test_a_multi_instance_task_that_runs_for_long_holds_its_slots_all_the_time(
    world: World, writer: LogWriter
) -> None:
    await add_pool(world.batch, "lasting", nodes=4, slots=1, connected=True)
    await _pass(world, writer, 3)
    for job, instances in (("Lasting", 3), ("single", 0)):
        await add_job(world.batch, job, pool="lasting")
        await add_tasks(world.batch, 1, job=job, command="sleep 43200", instances=instances)
    await _pass(world, writer, 3)
    for hour in range(13):
        world.advance(3600)
        await writer.flush()
        await world.app.fire("tick")
        for job in ("Lasting", "single"):
            shown, true = sum((await _shown(world, job)).values()), _true(world, job).total()
            assert shown == pytest.approx(true, rel=0.01), f"{job} after {hour + 1} hours"


async def test_a_pool_that_was_deleted_between_two_polls_lasted_until_its_event_says_so(
    world: World, writer: LogWriter
) -> None:
    await add_pool(world.batch, "Passing", nodes=3, slots=1)
    await _pass(world, writer, 6)
    world.advance(2)
    await world.batch.begin_delete_pool("Passing")
    world.advance(58)
    await _pass(world, writer, 1)
    found = usage(world.emulator, {"from": _today(world), "account": "demo"})["accounts"]["demo"]["nodes"]
    true = sum(row["seconds"] for row in found if row["pool"] == "Passing")
    for hours in (0, 1, 3):
        world.advance(hours * 3600)
        await _pass(world, writer, 1)
        await world.app.fire("housekeeping")
        cost = (await world.get("accounts/demo/pools/passing/cost")).body
        assert sum(cost["nodeSeconds"]["dedicated"].values()) == pytest.approx(true, abs=3)
        groups = (await world.get(f"accounts/demo/cost?from={_today(world)}&groupBy=pool")).body["value"]
        (rolled,) = (one["cost"]["nodeSeconds"] for one in groups if one["name"] == "Passing")
        assert sum(rolled.values()) == pytest.approx(true, abs=3)


async def test_a_job_that_was_deleted_while_no_poll_looked_ran_until_others_took_its_slots(
    world: World, writer: LogWriter
) -> None:
    await add_pool(world.batch, "taken", nodes=3, slots=1)
    await _pass(world, writer, 3)
    await add_job(world.batch, "Dropped", pool="taken")
    await add_tasks(world.batch, 3, job="Dropped", command="sleep 86400")
    await _pass(world, writer, 5)
    await add_job(world.batch, "waiting", pool="taken")
    await add_tasks(world.batch, 30, job="waiting", command="sleep 300")
    world.advance(20)
    await world.batch.begin_delete_job("Dropped")
    world.advance(1800)
    await _pass(world, writer, 2)
    true = _true(world, "Dropped")["deleted"]
    assert await _shown(world, "Dropped") == {"interrupted": pytest.approx(true, abs=3 * 10)}


async def test_a_job_that_was_seen_being_deleted_ran_until_that_began(world: World, writer: LogWriter) -> None:
    await add_pool(world.batch, "emptied", nodes=3, slots=1)
    await _pass(world, writer, 3)
    await add_job(world.batch, "Leaving", pool="emptied")
    await add_tasks(world.batch, 3, job="Leaving", command="sleep 86400")
    await _pass(world, writer, 5)
    world.advance(59.9)
    await world.batch.begin_delete_job("Leaving")
    world.advance(0.1)
    await world.app.fire("tick")
    world.advance(600)
    await _pass(world, writer, 1)
    assert (await world.get("accounts/demo/jobs/leaving")).body["state"] == "deleting"
    true = _true(world, "Leaving")["deleted"]
    assert await _shown(world, "Leaving") == {"interrupted": pytest.approx(true, abs=3 * 2)}


async def test_columns_of_tasks_are_decoded_as_often_however_many_tasks_have_events(
    world: World, writer: LogWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoded, column = Counter[int](), Leaf.column

    def counted(leaf: Leaf, name: str) -> list[Any]:
        decoded[len(leaf)] += 1
        return column(leaf, name)

    monkeypatch.setattr(Leaf, "column", counted)
    await add_pool(world.batch, "decoded", nodes=4, slots=16)
    for job, tasks in (("few-events", 7), ("many-events", 61)):
        await add_job(world.batch, job, pool="decoded")
        await add_tasks(world.batch, tasks, job=job, command="sleep 60")
    await _pass(world, writer, 5)
    decoded.clear()
    assert (await _shown(world, "many-events"))["succeeded"] >= 61 * 60 / 16
    assert decoded[61] == decoded[7] > 0
