"""Causes for which jobs wait, stored by ticks: equal to the explanations, by job, pool and account, and over time."""

import csv
import io
import json
from collections import Counter
from datetime import timedelta

import pytest

from local.azurite import StorageAddresses
from local.batch_emulator.core.injection import Fault
from local.batch_emulator.core.stamps import SECOND, stamp
from shared.domain.explain.request_budget import SHARE
from shared.domain.jobs.waiting_causes import WaitingCauses
from shared.errors import StorageError
from shared.services.explain.waiting_jobs import WaitingJobs
from shared.stores.jobs.waiting_causes import WaitingCauseStore
from tests.emulator.support.staging import add_job, add_pool, add_tasks
from tests.functions.conftest import World
from tests.functions.storage.test_unreadable_rows import is_row, spoil
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
    full = (await world.get("accounts/demo/pools/full")).body
    assert full["waitingTasks"] == {"slotsBusy": 4}
    assert full["waitingTasksAsOf"] == jobs["busy"]["waiting"]["asOf"]
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


async def test_the_history_of_a_pool_shows_the_time_waited_in_each_step_though_passes_fail(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await add_pool(world.batch, "slow", nodes=1, slots=1)
    await add_job(world.batch, "queued", pool="slow")
    await add_tasks(world.batch, 5, job="queued", command="sleep 100000")
    for number in range(9):
        world.advance(300)
        with monkeypatch.context() as patch:
            if number in {4, 6}:  # as where the process ends before it stores the pass
                patch.setattr(WaitingCauseStore, "save", _fails)
            await world.app.fire("tick")
    total = (await world.get("accounts/demo/pools/slow")).body["waitedSeconds"]
    assert 8 * 4 * 300 - 60 < sum(total.values()) < 8 * 4 * 300 + 60
    world.advance(120)  # so that the minute of the last pass has ended
    for step in ("PT1M", "PT5M", "PT15M"):
        begin = stamp(world.emulator.clock.now - 3600 * SECOND)
        points = (await world.get(f"accounts/demo/pools/slow/history?step={step}&from={begin}")).body["value"]
        ended = [point["waitedSeconds"] for point in points if point["waitedSeconds"] is not None]
        sums = Counter[str]()
        for waited in ended:
            sums.update(waited)
        left = sum(total.values()) - sum(sums.values())  # in a quarter-hour that hasn't ended
        assert left == 0 if step == "PT1M" else 0 <= left <= 3 * 5 * 300 + 60
        assert 0 < len(ended) < len(points)
        table = await world.get(f"accounts/demo/pools/slow/history?step={step}&from={begin}&format=csv")
        cells = [row["waitedSeconds"] for row in csv.DictReader(io.StringIO(table.body))]
        assert [json.loads(cell) for cell in cells if cell] == ended


async def test_the_time_waited_of_a_pool_never_falls_where_its_row_is_damaged_during_a_pass(
    world: World, azurite: StorageAddresses
) -> None:
    await add_pool(world.batch, "damaged", nodes=1, slots=1)
    await add_job(world.batch, "stuck", pool="damaged")
    await add_tasks(world.batch, 5, job="stuck", command="sleep 100000")
    waited = [0.0]
    for is_damaged in (False, False, True, False):
        world.advance(300)
        if is_damaged:
            await spoil(azurite, "pools", is_row("damaged"), pool0="{")
            world.emulator.faults.all.append(Fault(path="/pools", status=403))
        await world.app.fire("tick")
        world.emulator.faults.all.clear()
        if not is_damaged:
            total = (await world.get("accounts/demo/pools/damaged")).body["waitedSeconds"]
            waited.append(sum(total.values()))
    assert waited == sorted(waited)
    assert waited[-1] == pytest.approx(3 * 4 * 300, abs=60)


async def _fails(*_: object) -> None:
    raise StorageError("The process ended.")


async def test_a_second_tick_within_five_minutes_asks_nothing_more_about_waiting_jobs(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await add_job(world.batch, "lost", pool="nowhere")
    await add_tasks(world.batch, 3, job="lost")
    world.advance(120)
    await world.app.fire("tick")
    as_of = (await world.jobs())["lost"]["waiting"]["asOf"]
    asked = world.emulator.counters["GET /jobs/{}"]["requests"]
    world.advance(120)
    loaded, load = list[str](), WaitingCauseStore.load

    async def noted(self: WaitingCauseStore, account_key: str) -> WaitingCauses:
        loaded.append(account_key)
        return await load(self, account_key)

    with monkeypatch.context() as patch:
        patch.setattr(WaitingCauseStore, "load", noted)
        await world.app.fire("tick")
        assert loaded == []
        assert world.emulator.counters["GET /jobs/{}"]["requests"] == asked
        assert (await world.jobs())["lost"]["waiting"]["asOf"] == as_of
        loaded.clear()
        world.advance(300)
        await world.app.fire("tick")
        assert loaded != []
    assert (await world.jobs())["lost"]["waiting"]["asOf"] > as_of


async def test_an_account_that_gets_no_turn_before_the_next_polls_has_the_first_one_in_the_next_tick(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await add_job(world.batch, "lost", pool="nowhere")
    await add_tasks(world.batch, 3, job="lost")
    run, turns = WaitingJobs.run, list[timedelta]()

    async def without_turn(self: WaitingJobs, *, turn: timedelta, budget: timedelta) -> None:
        turns.append(turn)
        await run(self, turn=timedelta(0), budget=budget)

    world.advance(300)
    with monkeypatch.context() as patch:
        patch.setattr(WaitingJobs, "run", without_turn)
        await world.app.fire("tick")
    assert (await world.jobs())["lost"]["waiting"]["asOf"] is None
    assert turns == [timedelta(seconds=15)]  # a quarter of the usual interval
    world.advance(60)
    await world.app.fire("tick")
    assert (await world.jobs())["lost"]["waiting"]["cause"] == "poolMissing"


async def test_an_account_whose_round_failed_is_asked_nothing_about_waiting_jobs_until_one_succeeds(
    world: World,
) -> None:
    await add_job(world.batch, "lost", pool="nowhere")
    await add_tasks(world.batch, 3, job="lost")
    world.advance(300)
    await world.app.fire("tick")
    as_of = (await world.jobs())["lost"]["waiting"]["asOf"]
    world.advance(400)
    world.emulator.faults.all.append(Fault(path="/jobs", status=500))
    asked = world.emulator.counters["GET /pools/{poolId}"]["requests"]
    await world.app.fire("tick")
    assert world.emulator.counters["GET /pools/{poolId}"]["requests"] == asked
    assert (await world.jobs())["lost"]["waiting"]["asOf"] == as_of
    world.emulator.faults.all.clear()
    world.advance(100)
    await world.app.fire("tick")
    assert world.emulator.counters["GET /pools/{poolId}"]["requests"] > asked
    assert (await world.jobs())["lost"]["waiting"]["asOf"] > as_of


async def test_a_job_in_which_no_task_waits_is_not_explained(world: World) -> None:
    await add_job(world.batch, "idle", pool="nowhere")
    world.advance(120)
    await world.app.fire("tick")
    assert (await world.jobs())["idle"]["waiting"] is None
    assert (await world.get("accounts/demo")).body["waitingTasks"] == {}


async def test_causes_take_a_small_share_of_a_small_accounts_requests_and_jobs_take_turns(world: World) -> None:
    await world.app.fire("tick")  # finds the jobs of earlier tests deleted
    world.emulator.counters.clear()
    for number in range(5):
        await add_job(world.batch, f"lost-{number}", pool="nowhere")
        await add_tasks(world.batch, 3, job=f"lost-{number}")
    asked, rounds = list[int](), list[int]()
    for _ in range(12):
        before = _requests(world)
        world.advance(300)
        await world.app.fire("tick")
        explained = _requests(world, "GET /jobs/{jobId}", "GET /pools/{poolId}")
        asked.append(explained - sum(asked))
        rounds.append(_requests(world) - before - asked[-1])
    assert asked[1] == 10
    assert 0 < sum(asked[6:]) <= SHARE * 5 * sum(rounds[6:]) + 2  # a round a minute would be five times as many
    explained_at = {job["waiting"]["asOf"] for job in (await world.jobs()).values()}
    assert None not in explained_at
    assert len(explained_at) > 1


def _requests(world: World, *routes: str) -> int:
    counters = world.emulator.counters
    return sum(counters[route]["requests"] for route in routes or counters if route in counters)
