"""Job schedules from Batch to the API: states, runs, missed runs and totals equal the emulator's own record."""

from collections import Counter
from datetime import timedelta

import pytest
import pytest_asyncio

from local.batch_emulator.core.durations import seconds_of
from local.batch_emulator.core.injection import Fault
from local.batch_emulator.core.stamps import LATEST, ticks
from local.batch_emulator.entities import Schedule
from tests.emulator.support.staging import add_job, add_pool
from tests.functions.conftest import World, begin_anew
from tests.functions.support.shown_schedules import (
    MINUTE,
    add_schedule,
    differences,
    now,
    polled,
    schedule,
    schedules,
    true_schedules,
)

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(loop_scope="session")
async def world(_running: World) -> World:
    """Yields an empty account that each tick polls."""
    await begin_anew(_running, poll_seconds=1)
    return _running


class Turns:
    """Records the runs of schedules in the emulator, second by second: each is taken, waits, or is missed."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.missed: Counter[str] = Counter()

    def advance(self, seconds: int) -> None:
        for _ in range(seconds):
            before = {name: self._at(true) for name, true in true_schedules(self.world).items()}
            self.world.advance(1)
            for name, true in true_schedules(self.world).items():
                (due, made, waited), (next_due, made_now, waits) = before[name], self._at(true)
                self.missed[name] += waited + (due != next_due) - (made_now - made) - waits

    def _at(self, true: Schedule) -> tuple[int | None, int, bool]:
        """Returns the time of the next run, the number of runs taken, and whether one waits that isn't missed."""
        window = true.spec.get("schedule", {}).get("startWindow")
        last = ticks(seconds_of(window)) if window else LATEST
        return true.next_run, true.jobs_made, true.due is not None and self.world.emulator.clock.now - true.due <= last


async def test_schedules_equal_the_emulators_record_while_their_jobs_run(world: World) -> None:
    await add_pool(world.batch, nodes=4)
    world.advance(120)
    turns = Turns(world)
    await add_schedule(world, "Nightly", recurrence_interval=MINUTE)
    await add_schedule(world, "Slow", seconds=130, recurrence_interval=MINUTE)
    await add_schedule(world, "Strict", seconds=200, recurrence_interval=2 * MINUTE, start_window=MINUTE)
    await add_schedule(world, "Once")
    await add_schedule(world, "Later", do_not_run_until=now(world) + timedelta(hours=2))
    for _ in range(16):
        turns.advance(47)
        await polled(world)
        await polled(world)
        assert await differences(world) == []
        shown = await schedules(world)
        assert {name: shown[name]["missedRuns"]["count"] for name in shown} == {
            name: turns.missed[name] for name in shown
        }
    for name, line in shown.items():
        alone = await schedule(world, name)
        assert {field: alone[field] for field in line} == line
    assert turns.missed["Slow"] > 5
    assert turns.missed["Strict"] > 1
    assert shown["Later"]["runs"]["total"] == 0
    assert shown["Once"]["state"] == "completed"


async def test_faults_make_schedules_stale_and_the_next_good_poll_right(world: World) -> None:
    await add_pool(world.batch, nodes=4)
    await add_schedule(world, "Nightly", recurrence_interval=MINUTE)
    for fault in (
        Fault(path="/jobschedules", status=500),
        Fault(path="/jobschedules", reset=True),
        Fault(path="/jobschedules", truncate=True),
        Fault(path="/jobschedules", status=403),
        Fault(path="/jobschedules", status=429, retryAfter=1),
    ):
        world.advance(47)
        await polled(world)
        await polled(world)
        assert await differences(world) == []
        world.advance(5)
        world.emulator.faults.all.append(fault)
        await polled(world)
        verdict = (await schedules(world))["Nightly"]["verdict"]
        assert verdict["level"] == "stale", fault
        assert verdict["reason"].startswith("The last poll failed: http"), fault
        account = (await world.get("accounts/demo")).body
        assert account["lastRound"]["outcome"] == "succeeded"
        assert verdict["reason"] == f"The last poll failed: {account['schedulesReason']}"
        health = (await world.get("health")).body
        assert [problem[:20] for problem in health["problems"]] == ["demo, job schedules:"]
        assert 'azbatch_collector_schedules_up{account="demo"} 0.0' in (await world.get("metrics")).body
        world.emulator.faults.all.clear()
    world.advance(47)
    await polled(world)
    await polled(world)
    assert await differences(world) == []
    assert (await world.get("accounts/demo")).body["schedulesReason"] is None


async def test_failing_jobs_and_pools_do_not_hinder_schedules(world: World) -> None:
    await add_pool(world.batch)
    await add_schedule(world, recurrence_interval=MINUTE)
    await polled(world)
    world.advance(100)
    world.emulator.faults.all += [Fault(path="/jobs", status=500), Fault(path="/pools", status=500)]
    await polled(world)
    shown = (await schedules(world))["Nightly"]
    assert (shown["verdict"]["level"], shown["runs"]["total"]) == ("exact", 2)
    assert shown["recentJob"] == {"id": "Nightly:job-2", "state": None, "deleted": False}
    assert shown["lastRunTime"] is None
    assert (shown["totals"]["unknownJobs"], shown["totals"]["exact"]) == (2, False)
    assert shown["missedRuns"]["count"] == 0


async def test_throttled_schedules_leave_the_whole_account_alone_for_a_while(world: World) -> None:
    await add_pool(world.batch)
    await add_schedule(world, recurrence_interval=MINUTE)
    await polled(world)
    world.advance(10)
    world.emulator.faults.all.append(Fault(path="/jobschedules", status=503, retryAfter=300))
    await polled(world)
    world.emulator.faults.all.clear()
    world.emulator.counters.clear()
    world.advance(200)
    await polled(world)
    assert world.emulator.counters == {}
    world.advance(120)
    await polled(world)
    assert (await schedules(world))["Nightly"]["verdict"]["level"] == "exact"


async def test_schedules_are_filtered_paged_and_given_as_a_table(world: World) -> None:
    await add_pool(world.batch)
    for name in ("Alpha", "Beta", "Gamma"):
        await add_schedule(world, name, recurrence_interval=timedelta(hours=1))
    await world.batch.disable_job_schedule("Gamma")
    world.advance(30)
    await polled(world)
    assert (await schedules(world, "&state=disabled")).keys() == {"Gamma"}
    assert (await schedules(world, "&prefix=bE")).keys() == {"Beta"}
    totals = (await world.get("accounts/demo")).body["schedules"]
    as_of = f"{now(world):%Y-%m-%dT%H:%M:%SZ}"
    assert totals == {"total": 3, "byState": {"active": 2, "disabled": 1}, "asOf": as_of}
    first = await world.get("accounts/demo/jobschedules?maxpagesize=2")
    assert [found["id"] for found in first.body["value"]] == ["Alpha", "Beta"]
    rest = await world.get(first.body["nextLink"].partition("/api/")[2])
    assert [found["id"] for found in rest.body["value"]] == ["Gamma"]
    again = await world.get("accounts/demo/jobschedules?maxpagesize=2", if_none_match=first.headers["etag"])
    assert again.status == 304
    table = (await world.get("accounts/demo/jobschedules?format=csv")).body.splitlines()
    assert len(table) == 4
    assert table[0].startswith("id,account,displayName,state,previousState,")
    assert (await world.get("accounts/demo/jobschedules?state=running")).status == 400
    assert (await world.get("accounts/demo/jobschedules?pool=x")).status == 400
    missing = await world.get("accounts/demo/jobschedules/Delta")
    assert (missing.status, missing.body["error"]["code"]) == (404, "ScheduleNotFound")
    metrics = (await world.get("metrics")).body
    assert 'azbatch_schedules{account="demo",state="active"} 2.0' in metrics
    assert 'azbatch_schedule_runs{account="demo",schedule="Alpha"} 1.0' in metrics


async def test_an_account_without_schedules_costs_no_request_until_a_job_of_one_shows_up(world: World) -> None:
    await add_pool(world.batch, nodes=0)
    await add_job(world.batch)
    await polled(world)
    world.emulator.counters.clear()
    for _ in range(5):
        world.advance(60)
        await polled(world)
    assert "GET /jobschedules" not in world.emulator.counters
    await add_schedule(world, recurrence_interval=MINUTE)
    world.advance(60)
    await polled(world)
    assert (await schedules(world)).keys() == {"Nightly"}
