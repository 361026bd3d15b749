"""The controls: clock, truth, reset, settings, counters, and holding writes while paused."""

import asyncio
import time
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

import pytest

from local.batch_emulator.http.controls import is_loopback
from tests.emulator.support.driver import Driver

_HOLD = {"x-emulator-hold-while-paused": "true"}


async def test_virtual_time_moves_only_on_request(stepped: Driver) -> None:
    clock = await stepped.control("GET", "clock")
    assert clock == {"mode": "stepped", "time": "2026-01-05T08:00:00Z", "paused": False, "speed": 1.0, "epoch": 0}
    await asyncio.sleep(0.02)
    assert await stepped.control("GET", "clock") == clock
    after = await stepped.control("POST", "clock", {"advanceSeconds": 1.5})
    assert after["time"] == "2026-01-05T08:00:01.5Z"
    assert (await stepped.call("GET", "/jobs")).headers["Date"] == "Mon, 05 Jan 2026 08:00:01 GMT"


async def test_the_speed_divides_durations_only(stepped: Driver) -> None:
    await stepped.control("POST", "clock", {"speed": 50})
    await stepped.add_pool(nodes=1)
    await stepped.add_job()
    await stepped.add_tasks("job", "sleep 50")
    await stepped.advance(4)
    run = (await stepped.task())["executionInfo"]
    lasted = datetime.fromisoformat(run["endTime"]) - datetime.fromisoformat(run["startTime"])
    assert abs(lasted - timedelta(seconds=1)) < timedelta(milliseconds=1)


@pytest.mark.parametrize("body", [{"advanceSeconds": 1}, {"speed": 2}])
async def test_clock_steps_and_speeds_conflict_with_live_mode(live: Driver, body: dict[str, float]) -> None:
    answer = await live.try_control("POST", "clock", body)
    assert (answer.status, list(answer.body)) == (409, ["error"])


async def test_live_time_is_real_and_things_happen_by_themselves(live: Driver) -> None:
    await live.add_pool(nodes=1)
    await live.add_job()
    await live.add_tasks("job", "sleep 10")
    for _ in range(200):
        if (await live.task())["state"] == "completed":
            break
        await asyncio.sleep(0.02)
    answer = await live.call("GET", "/jobs/job/tasks/t000")
    assert answer.body["state"] == "completed"
    for moment in (
        parsedate_to_datetime(answer.headers["Date"]),
        datetime.fromisoformat(answer.body["stateTransitionTime"]),
    ):
        assert abs(datetime.now(UTC) - moment) < timedelta(seconds=10)


async def test_a_pause_freezes_everything_but_dates(live: Driver) -> None:
    await live.add_pool(nodes=4)
    await live.add_job()
    await live.add_tasks("job", *["sleep 2"] * 400)
    await asyncio.sleep(0.6)
    assert (await live.control("POST", "clock", {"paused": True}))["paused"] is True
    first = await live.control("GET", "truth")
    await asyncio.sleep(0.2)
    second = await live.control("GET", "truth")
    assert second["accounts"] == first["accounts"]
    assert second["time"] > first["time"]
    assert (await live.control("GET", "clock"))["time"] > second["time"]
    await live.control("POST", "clock", {"paused": False})
    await asyncio.sleep(0.2)
    assert (await live.control("GET", "truth"))["accounts"] != first["accounts"]


async def test_due_events_happen_before_a_pause_and_not_in_it(live: Driver) -> None:
    await live.add_pool(nodes=20)
    await live.add_job()
    await live.add_tasks("job", *["sleep 2"] * 400)
    await asyncio.sleep(0.6)
    time.sleep(0.3)  # noqa: ASYNC251 - the loop falls behind on purpose
    await live.control("POST", "clock", {"paused": True})
    first = await live.control("GET", "truth")
    await asyncio.sleep(0.1)
    assert (await live.control("GET", "truth"))["accounts"] == first["accounts"]


async def test_writes_that_ask_for_it_wait_while_paused_and_others_do_not(live: Driver) -> None:
    await live.control("POST", "clock", {"paused": True})
    body = {"id": "held", "poolInfo": {"poolId": "pool"}}
    held = asyncio.create_task(live.call("POST", "/jobs", body, headers=_HOLD))
    await live.add_job("free")
    await asyncio.sleep(0.1)
    assert not held.done()
    assert list((await live.control("GET", "truth"))["accounts"]["demo"]["jobs"]) == ["free"]
    await live.control("POST", "clock", {"paused": False})
    assert (await held).status == 201


async def test_a_reset_empties_accounts_and_starts_another_epoch(stepped: Driver) -> None:
    await stepped.add_pool()
    await stepped.add_job()
    await stepped.control("POST", "faults", {"path": "/jobs", "status": 500})
    await stepped.control("POST", "settings", {"pageSize": 7})
    await stepped.control("POST", "clock", {"speed": 9})
    clock = await stepped.control("POST", "reset")
    assert (clock["epoch"], clock["speed"]) == (1, 1.0)
    assert await stepped.control("GET", "faults") == {"faults": []}
    assert await stepped.control("GET", "counters") == {"routes": {}, "taskLists": {}, "clients": {}}
    assert (await stepped.control("GET", "settings"))["pageSize"] == 1000
    await stepped.advance(100)
    truth = await stepped.control("GET", "truth")
    empty: dict[str, object] = {"jobs": {}, "pools": {}, "taskCounters": {}}
    assert truth["accounts"] == {"demo": empty, "other": empty}


async def test_counters_count_requests_and_items_by_route_and_task_list(stepped: Driver) -> None:
    for job in ("one", "two"):
        await stepped.add_job(job)
        await stepped.add_tasks(job, "true", "true", "true")
    await stepped.pages("/jobs/one/tasks", maxresults=2)
    await stepped.call("GET", "/jobs/two/tasks", _filter="state eq 'completed'")
    counters = await stepped.control("GET", "counters")
    assert counters["routes"]["GET /jobs/{jobId}/tasks"] == {"requests": 3, "items": 3}
    assert counters["taskLists"] == {
        "/jobs/one/tasks": {"requests": 2, "items": 3},
        "/jobs/two/tasks": {"requests": 1, "items": 0},
    }


async def test_settings_are_checked_and_all_or_none_are_taken(stepped: Driver) -> None:
    before = await stepped.control("GET", "settings")
    for wrong in (
        {"pageSize": 0},
        {"pageSize": 1001},
        {"pageSize": True},
        {"emptyPageEvery": 1},
        {"countLagSeconds": -1},
        {"nodeCountLagSeconds": -1},
        {"idCollation": "random"},
        {"unorderedLists": 1},
        {"countLagSeconds": 5, "colour": "red"},
    ):
        answer = await stepped.try_control("POST", "settings", wrong)
        assert answer.status == 400, wrong
        assert answer.body["error"]
    assert await stepped.control("GET", "settings") == before
    assert (await stepped.control("POST", "settings", {"latencySeconds": 0, "countLagSeconds": 2}))[
        "countLagSeconds"
    ] == 2


@pytest.mark.parametrize(
    ("method", "name", "body", "status"),
    [
        ("GET", "nothing", None, 404),
        ("DELETE", "clock", None, 404),
        ("POST", "clock", {"pausd": True}, 400),
        ("POST", "clock", {"paused": "yes"}, 400),
        ("POST", "clock", {"advanceSeconds": -1}, 400),
        ("POST", "clock", [1], 400),
    ],
)
async def test_a_wrong_control_is_refused_in_words(
    stepped: Driver, method: str, name: str, body: object, status: int
) -> None:
    answer = await stepped.try_control(method, name, body)
    assert (answer.status, list(answer.body)) == (status, ["error"])


def test_controls_are_for_this_machine_only() -> None:
    assert all(map(is_loopback, ("127.0.0.1", "127.8.9.1", "::1", "::ffff:127.0.0.1")))
    assert not any(map(is_loopback, ("10.0.0.1", "::ffff:10.0.0.1", "2001:db8::1", "", None, "localhost")))
