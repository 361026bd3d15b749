"""The control `usage`: seconds of nodes by state and of runs by outcome, in the simplest cases of each."""

import asyncio
from collections import defaultdict
from datetime import datetime
from pathlib import Path
from typing import Any, get_args

import pytest

from local.batch_emulator.state.usage_log import Outcome, UsageLog
from tests.emulator.keeping.keeping import Kept, busy
from tests.emulator.support.driver import Driver

_FAR = 100_000


async def _usage(driver: Driver, query: str = "") -> Any:
    return (await driver.control("GET", f"usage{query}"))["accounts"]["demo"]


def _seconds(start: str, end: str) -> float:
    return (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()


async def _states(driver: Driver, query: str = "") -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for row in (await _usage(driver, query))["nodes"]:
        found[row["node"]][row["state"]] = row["seconds"]
    return dict(found)


async def _runs(driver: Driver, task: str = "t000", job: str = "job") -> list[Any]:
    rows = (await _usage(driver))["slots"]
    return [row for row in rows if (row["job"], row["task"]) == (job, task)]


async def _outcomes(driver: Driver, task: str = "t000", job: str = "job") -> list[str]:
    return [row["outcome"] for row in await _runs(driver, task, job)]


async def _busy(driver: Driver, line: str = "sleep 100000", *, spot: bool = False, **job: Any) -> None:
    """Starts one task on one node."""
    kind: dict[str, Any] = {"targetDedicatedNodes": 0, "targetLowPriorityNodes": 1} if spot else {}
    await driver.add_pool(nodes=1, **kind)
    await driver.advance(100)
    await driver.add_job(**job)
    await driver.add_tasks("job", line)
    await driver.advance(10)


async def test_a_run_has_the_seconds_that_its_slots_were_held_and_those_that_it_ran(stepped: Driver) -> None:
    await stepped.add_pool(nodes=1, taskSlotsPerNode=4)
    await stepped.add_job(jobPreparationTask={"commandLine": "sleep 30"})
    await stepped.add_tasks("job", "sleep 60", requiredSlots=3)
    await stepped.advance(300)
    (row,) = (await _usage(stepped))["slots"]
    node, task = (await stepped.rows("/pools/pool/nodes"))[0]["id"], await stepped.task()
    held, ran = row.pop("seconds"), row.pop("runningSeconds")
    assert ran == 60
    assert 90 < held < 93
    assert row == {
        "pool": "pool", "node": node, "job": "job", "task": "t000", "creationTime": task["creationTime"], "attempt": 1,
        "outcome": "succeeded", "slots": 3,
    }  # fmt: skip


async def test_a_node_has_its_seconds_by_state_also_when_it_and_its_pool_are_gone(stepped: Driver) -> None:
    await stepped.add_pool(nodes=1, startTask={"commandLine": "sleep 40", "waitForSuccess": True})
    await stepped.advance(200)
    await stepped.call("DELETE", "/pools/pool")
    await stepped.advance(_FAR)
    (states,) = (await _states(stepped)).values()
    assert states.keys() == {"creating", "starting", "waitingforstarttask", "idle", "leavingpool"}
    assert states["waitingforstarttask"] == 40
    (lease,) = stepped.emulator.simulations["demo"].account.leases
    assert sum(states.values()) == pytest.approx((lease.end - lease.start) / 1e7)
    assert {row["pool"] for row in (await _usage(stepped))["nodes"]} == {"pool"}


async def test_a_spot_node_that_comes_back_is_one_node_and_its_run_was_preempted(stepped: Driver) -> None:
    await stepped.control("POST", "settings", {"preemptionSeconds": 500})
    await _busy(stepped, spot=True)
    while "preempted" not in await _outcomes(stepped):
        await stepped.advance(50)
    await stepped.advance(200)
    ((node, states),) = (await _states(stepped)).items()
    assert states["preempted"] >= 40
    assert node == (await stepped.rows("/pools/pool/nodes"))[0]["id"]
    assert [row["attempt"] for row in await _runs(stepped)] == [1, 2]


async def test_a_node_that_is_preempted_while_it_leaves_never_comes_back(stepped: Driver) -> None:
    await stepped.control("POST", "settings", {"preemptionSeconds": 300})
    await _busy(stepped, spot=True)
    body = {"targetLowPriorityNodes": 0, "nodeDeallocationOption": "taskcompletion"}
    await stepped.call("POST", "/pools/pool/resize", body)
    while await stepped.rows("/pools/pool/nodes"):
        await stepped.advance(10)
    assert await _outcomes(stepped) == ["preempted"]
    before = await _states(stepped)
    await stepped.advance(1000)
    assert await _states(stepped) == before


async def test_a_run_on_a_dedicated_node_that_breaks_is_lost(stepped: Driver) -> None:
    await stepped.control("POST", "settings", {"nodeLossSeconds": 500})
    await _busy(stepped)
    while "lost" not in await _outcomes(stepped):
        await stepped.advance(50)
    assert "unusable" in next(iter((await _states(stepped)).values()))


async def test_a_failed_run_that_is_retried_and_the_last_one_differ(stepped: Driver) -> None:
    await _busy(stepped, "sleep 5; exit 1", constraints={"maxTaskRetryCount": 2})
    await stepped.advance(100)
    rows = await _runs(stepped)
    found = [(row["attempt"], row["outcome"], row["runningSeconds"]) for row in rows]
    assert found == [(1, "retried", 5), (2, "retried", 5), (3, "failed", 5)]


async def test_attempts_go_on_when_a_task_is_reactivated_and_begin_anew_with_another_task(stepped: Driver) -> None:
    await _busy(stepped, "sleep 5; exit 1")
    await stepped.call("POST", "/jobs/job/tasks/t000/reactivate")
    await stepped.advance(50)
    await stepped.call("DELETE", "/jobs/job")
    await stepped.advance(50)
    await stepped.add_job()
    await stepped.add_tasks("job", "sleep 5")
    await stepped.advance(50)
    rows = await _runs(stepped)
    assert [(row["attempt"], row["outcome"]) for row in rows] == [(1, "failed"), (2, "failed"), (1, "succeeded")]
    first, second, other = (row["creationTime"] for row in rows)
    assert first == second < other


@pytest.mark.parametrize(
    ("method", "path", "body", "outcome"),
    [
        ("POST", "/jobs/job/tasks/t000/terminate", {}, "terminated"),
        ("POST", "/jobs/job/terminate", {}, "terminated"),
        ("DELETE", "/jobs/job/tasks/t000", None, "deleted"),
        ("DELETE", "/jobs/job", None, "deleted"),
        ("DELETE", "/pools/pool", None, "requeued"),
        ("POST", "/jobs/job/disable", {"disableTasks": "requeue"}, "requeued"),
        ("GET", "/jobs/job", None, "running"),
    ],
)
async def test_a_request_that_ends_a_run_is_its_outcome(
    stepped: Driver, method: str, path: str, body: Any, outcome: str
) -> None:
    await _busy(stepped)
    await stepped.advance(90)
    await stepped.call(method, path, body)
    before = await _runs(stepped)
    assert [row["outcome"] for row in before] == [outcome]
    assert 98 < before[0]["runningSeconds"] < before[0]["seconds"] <= 100
    if outcome != "running":
        await stepped.advance(100)
        assert await _runs(stepped) == before


async def test_a_run_that_gives_way_to_a_job_of_higher_priority_has_an_outcome_of_its_own(stepped: Driver) -> None:
    await _busy(stepped, allowTaskPreemption=True)
    await stepped.add_job("higher", priority=5)
    await stepped.add_tasks("higher", "sleep 5")
    await stepped.advance(30)
    assert await _outcomes(stepped) == ["taskPreempted", "running"]
    assert await _outcomes(stepped, job="higher") == ["succeeded"]


async def test_a_run_whose_job_preparation_fails_held_its_slots_and_never_ran(stepped: Driver) -> None:
    await _busy(stepped, jobPreparationTask={"commandLine": "sleep 3; exit 1"})
    (row,) = await _runs(stepped)
    assert (row["outcome"], row["runningSeconds"]) == ("preparationFailed", 0)
    assert 3 < row["seconds"] < 4


async def test_job_preparation_and_release_tasks_hold_no_slots(stepped: Driver) -> None:
    task = {"commandLine": "sleep 3"}
    await _busy(stepped, "sleep 1", jobPreparationTask=task, jobReleaseTask=task)
    await stepped.call("POST", "/jobs/job/terminate", {})
    await stepped.advance(30)
    assert len((await _usage(stepped))["slots"]) == 1


async def test_clocks_of_nodes_and_late_reports_change_no_seconds(stepped: Driver) -> None:
    await stepped.control("POST", "settings", {"nodeClockSkewSeconds": 20})
    await stepped.control("POST", "faults", {"lateReportSeconds": 45})
    await stepped.add_pool(nodes=1, startTask={"commandLine": "sleep 60", "waitForSuccess": True})
    await stepped.advance(300)
    await stepped.add_job()
    await stepped.add_tasks("job", "sleep 80")
    await stepped.advance(300)
    (states,) = (await _states(stepped)).values()
    assert states["waitingforstarttask"] == pytest.approx(60, abs=1e-5)
    assert all(8 <= states[name] <= 20 for name in ("creating", "starting"))
    (run,) = await _runs(stepped)
    assert run["runningSeconds"] == pytest.approx(80, abs=1e-5)


async def test_a_window_is_half_open_and_counts_what_overlaps_it(stepped: Driver) -> None:
    await _busy(stepped)
    await stepped.advance(3600 * 3)
    for hour in ("09", "10"):
        hourly = await _usage(stepped, f"?from=2026-01-05T{hour}:00:00Z&to=2026-01-05T{hour}:59:59.9999999Z")
        assert [row["seconds"] for row in (*hourly["nodes"], *hourly["slots"])] == pytest.approx([3600] * 2)
    nothing = await _usage(stepped, "?from=2026-01-05T10:00:00Z&to=2026-01-05T10:00:00Z")
    assert (nothing["nodes"], nothing["slots"]) == ([], [])
    later = await _usage(stepped, "?from=2026-01-06")
    assert (later["nodes"], later["slots"]) == ([], [])


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("?from=now", "from is not a time such as 2026-01-05T08:00:00Z: 'now'."),
        ("?to=2026-13-01", "to is not a time such as 2026-01-05T08:00:00Z: '2026-13-01'."),
        ("?from=2026-01-06&to=2026-01-05", "to is before from."),
        ("?account=nobody", "There is no account 'nobody'; known are demo, other."),
        ("?pool=pool", "There is no 'pool' in usage; known are from, to, account."),
    ],
)
async def test_bad_parameters_are_refused_with_a_sentence(stepped: Driver, query: str, sentence: str) -> None:
    answer = await stepped.try_control("GET", f"usage{query}")
    assert (answer.status, answer.body) == (400, {"error": sentence})


async def test_an_account_can_be_selected(stepped: Driver) -> None:
    await stepped.add_pool(nodes=1)
    await stepped.advance(100)
    both, one = await stepped.control("GET", "usage"), await stepped.control("GET", "usage?account=demo")
    assert one == {"time": "2026-01-05T08:01:40Z", "accounts": {"demo": both["accounts"]["demo"]}}
    assert both["accounts"]["other"] == {"since": "2026-01-05T08:00:00Z", "nodes": [], "slots": []}


async def test_a_reset_begins_a_new_log(stepped: Driver) -> None:
    await _busy(stepped)
    await stepped.control("POST", "reset")
    assert await _usage(stepped) == {"since": "2026-01-05T08:01:50Z", "nodes": [], "slots": []}


async def test_nodes_of_several_sizes_say_which_they_have(stepped: Driver) -> None:
    sizes = [{"name": size, "rank": rank} for rank, size in enumerate(("standard_d4s_v5", "standard_d4as_v5"))]
    spec = {"vmSize": "Mix", "vmSkuProfile": {"vmSizes": sizes, "allocationStrategy": "prioritized"}}
    await stepped.control("POST", "settings", {"vmSizeCapacity": "standard_d4s_v5=1"})
    body = {"id": "pool", "targetDedicatedNodes": 2, **spec}
    answer = await stepped.follow("POST", f"{stepped.url}/pools?api-version=2026-10-01", body)
    assert answer.status == 201
    await stepped.advance(100)
    rows = (await _usage(stepped))["nodes"]
    assert {(row["vmSize"], row["dedicated"]) for row in rows} == {(size["name"], True) for size in sizes}


async def test_a_pause_counts_as_the_state_in_which_a_node_is(live: Driver) -> None:
    await live.add_pool(nodes=1)
    await asyncio.sleep(0.3)
    await live.control("POST", "clock", {"paused": True})
    before = await live.control("GET", "usage")
    await asyncio.sleep(0.1)
    after = await live.control("GET", "usage")
    first, second = (sum(row["seconds"] for row in each["accounts"]["demo"]["nodes"]) for each in (before, after))
    assert first > 0
    assert second - first == pytest.approx(_seconds(before["time"], after["time"]), abs=1e-5)


def test_a_restarted_emulator_begins_a_new_log_with_what_goes_on(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    busy(kept, tasks=4, nodes=1, line="sleep 600")
    kept.flush()
    kept.restart()
    kept.advance(100)
    simulation = kept.emulator.simulations["demo"]
    (node,) = simulation.context.usage.node_intervals(simulation.account, kept.emulator.clock.now)
    assert node.state == "running"
    runs = list(simulation.context.usage.run_intervals(simulation.account, kept.emulator.clock.now))
    assert [run.attempt for run in runs] == [1, 1]


async def test_a_log_of_too_many_intervals_stays_exact_from_a_later_moment_on(stepped: Driver) -> None:
    context = stepped.emulator.simulations["demo"].context
    await stepped.add_pool(nodes=2)
    await stepped.add_job()
    await stepped.add_tasks("job", *["sleep 10"] * 60)
    await stepped.advance(100)
    context.usage = UsageLog(context.now, max_intervals=20)
    await stepped.advance(200)
    found = await _usage(stepped)
    lasted = _seconds(found["since"], "2026-01-05T08:05:00Z")
    assert 0 < lasted < 200
    assert 0 < len(found["slots"]) <= 22
    assert sum(row["seconds"] for row in found["nodes"]) == pytest.approx(2 * lasted, abs=1e-5)


def test_the_page_names_every_outcome() -> None:
    text = Path("docs/emulator.md").read_text(encoding="utf-8")
    assert [outcome for outcome in get_args(Outcome.__value__) if f"`{outcome}`" not in text] == []
