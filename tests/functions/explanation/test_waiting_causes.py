"""Causes for which jobs wait, stored by ticks: equal to the explanations, by job, pool and account, and over time."""

import pytest

from tests.emulator.support.staging import add_job, add_pool, add_tasks
from tests.functions.conftest import World
from tests.functions.support.seen_metrics import families

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_ticks_count_waiting_tasks_by_cause_and_the_time_that_they_wait(world: World) -> None:
    await add_pool(world.batch, "full", nodes=1, slots=1)
    await add_job(world.batch, "busy", pool="full")
    await add_tasks(world.batch, 5, job="busy", command="sleep 100000")
    await add_job(world.batch, "lost", pool="nowhere")
    await add_tasks(world.batch, 3, job="lost")
    before = (await world.get("accounts/demo")).body["waitedSeconds"]
    world.advance(300)
    await world.app.fire("tick")
    jobs = await world.jobs()
    assert (jobs["busy"]["waiting"]["cause"], jobs["busy"]["waiting"]["tasks"]) == ("slotsBusy", 4)
    assert (jobs["lost"]["waiting"]["cause"], jobs["lost"]["waiting"]["actor"]) == ("poolMissing", "submitter")
    for name in ("busy", "lost"):
        explained = (await world.get(f"accounts/demo/jobs/{name}/explanation")).body
        assert explained["findings"][0]["code"] == jobs[name]["waiting"]["cause"]
        assert (await world.get(f"accounts/demo/jobs/{name}")).body["waiting"] == jobs[name]["waiting"]
    assert (await world.get("accounts/demo")).body["waitingTasks"] == {"poolMissing": 3, "slotsBusy": 4}
    assert (await world.get("accounts/demo/pools/full")).body["waitingTasks"] == {"slotsBusy": 4}
    found = families((await world.get("metrics")).body)["azbatch_job_waiting_tasks"].samples
    assert {(one.labels["job"], one.labels["cause"]): one.value for one in found} == {
        ("busy", "slotsBusy"): 4,
        ("lost", "poolMissing"): 3,
    }

    world.advance(400)
    await world.app.fire("tick")
    pool, account = (await world.get("accounts/demo/pools/full")).body, (await world.get("accounts/demo")).body
    assert pool["waitedSeconds"]["slotsBusy"] == pytest.approx(1600, abs=8)
    assert account["waitedSeconds"]["poolMissing"] - before.get("poolMissing", 0) == pytest.approx(1200, abs=6)


async def test_a_second_tick_within_five_minutes_asks_nothing_more_about_waiting_jobs(world: World) -> None:
    await add_job(world.batch, "lost", pool="nowhere")
    await add_tasks(world.batch, 3, job="lost")
    world.advance(120)
    await world.app.fire("tick")
    as_of = (await world.jobs())["lost"]["waiting"]["asOf"]
    asked = world.emulator.counters["GET /jobs/{}"]["requests"]
    world.advance(120)
    await world.app.fire("tick")
    assert world.emulator.counters["GET /jobs/{}"]["requests"] == asked
    assert (await world.jobs())["lost"]["waiting"]["asOf"] == as_of


async def test_a_job_in_which_no_task_waits_is_not_explained(world: World) -> None:
    await add_job(world.batch, "idle", pool="nowhere")
    world.advance(120)
    await world.app.fire("tick")
    assert (await world.jobs())["idle"]["waiting"] is None
    assert (await world.get("accounts/demo")).body["waitingTasks"] == {}
