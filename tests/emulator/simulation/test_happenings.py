"""Simulated events, step by step in virtual time."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.emulator.support.driver import Driver

_EVERY_FIELD = ("active", "preparing", "running", "completed", "succeeded", "failed", "total")


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


async def _truth(driver: Driver) -> Any:
    return (await driver.control("GET", "truth"))["accounts"]["demo"]


async def _listed(driver: Driver, job: str = "job") -> dict[str, int]:
    """Returns the counts from the task list."""
    rows = await driver.rows(f"/jobs/{job}/tasks")
    states = [row["state"] for row in rows]
    results = [row["executionInfo"].get("result") for row in rows if row["state"] == "completed"]
    counts = {state: states.count(state) for state in ("active", "preparing", "running", "completed")}
    ended = {"succeeded": results.count("success"), "failed": results.count("failure")}
    return {**counts, **ended, "total": len(rows)}


async def test_the_truth_agrees_with_lists_at_every_step(stepped: Driver) -> None:
    await stepped.control("POST", "settings", {"preemptionSeconds": 150.0, "nodeLossSeconds": 400.0})
    await stepped.add_pool(nodes=3, taskSlotsPerNode=3, targetLowPriorityNodes=3)
    await stepped.add_job(constraints={"maxTaskRetryCount": 1})
    await stepped.add_tasks("job", *[f"sleep {number % 40}; exit {number % 7 == 0:d}" for number in range(150)])
    seen = set()
    for step in range(250):
        await stepped.advance(6)
        if step == 30:
            await stepped.call("POST", "/pools/pool/resize", {"targetDedicatedNodes": 1})
        truth = await _truth(stepped)
        job, pool = truth["jobs"]["job"], truth["pools"]["pool"]
        assert {name: job[name] for name in _EVERY_FIELD} == await _listed(stepped)
        nodes = await stepped.rows("/pools/pool/nodes")
        assert sum(pool["nodes"].values()) == len(nodes)
        assert pool["slotsUsed"] == sum(node["runningTaskSlotsCount"] for node in nodes) == job["running"]
        counts = (await stepped.call("GET", "/jobs/job/taskcounts")).body["taskCounts"]
        assert counts["running"] == job["preparing"] + job["running"]
        seen |= pool["nodes"].keys()
        if job["completed"] == 150:
            break
    assert job["completed"] == job["total"] == 150
    assert job["failed"] == 22
    assert {"creating", "starting", "idle", "running", "preempted", "unusable", "leavingpool"} <= seen


async def test_the_same_seed_makes_the_same_happen(stepped: Driver) -> None:
    async def story() -> list[Any]:
        await stepped.control("POST", "reset")
        await stepped.control("POST", "settings", {"preemptionSeconds": 50.0})
        await stepped.add_pool(nodes=2, targetLowPriorityNodes=4, taskSlotsPerNode=2)
        await stepped.add_job()
        await stepped.add_tasks("job", *["exit 0"] * 100)
        truths = []
        for _ in range(12):
            await stepped.advance(20)
            truths.append(await _truth(stepped))
        return truths

    assert await story() == await story()


async def test_a_task_passes_its_states_in_order_and_then_stays(stepped: Driver) -> None:
    await stepped.add_pool(nodes=1)
    await stepped.add_job()
    await stepped.add_tasks("job", "sleep 20")
    states: list[tuple[str, str | None]] = []
    for _ in range(800):
        await stepped.advance(0.1)
        task = await stepped.task()
        if not states or states[-1][0] != task["state"]:
            states.append((task["state"], task.get("previousState")))
    assert states == [("active", None), ("preparing", "active"), ("running", "preparing"), ("completed", "running")]
    run = task["executionInfo"]
    lasted = _moment(run["endTime"]) - _moment(run["startTime"])
    assert abs(lasted - timedelta(seconds=20)) < timedelta(milliseconds=1)
    assert (run["exitCode"], run["result"], run["retryCount"], run["requeueCount"]) == (0, "success", 0, 0)
    assert task["nodeInfo"]["poolId"] == "pool"


async def test_the_service_stamps_seven_digits_and_nodes_six_by_their_own_clocks(stepped: Driver) -> None:
    await stepped.control("POST", "settings", {"nodeClockSkewSeconds": 3000.0})
    await stepped.add_pool(nodes=12)
    await stepped.add_job()
    await stepped.advance(0.1234567)
    await stepped.add_tasks("job", *["sleep 1"] * 60)
    await stepped.advance(300)
    now = _moment((await stepped.control("GET", "clock"))["time"])
    tasks = await stepped.rows("/jobs/job/tasks")
    assert {task["creationTime"] for task in tasks} == {"2026-01-05T08:00:00.1234567Z"}
    off = [_moment(task["stateTransitionTime"]) - now for task in tasks]
    assert min(off) < timedelta(seconds=-500)
    assert max(off) > timedelta(seconds=100)
    assert all(len(task["stateTransitionTime"].partition(".")[2]) <= len("123456Z") for task in tasks)
    by_node: dict[str, set[bool]] = {}
    for task, skew in zip(tasks, off, strict=True):
        by_node.setdefault(task["nodeInfo"]["nodeId"], set()).add(skew > timedelta(0))
    assert {len(signs) for signs in by_node.values()} == {1}


async def test_a_failing_task_is_retried_and_then_fails(stepped: Driver) -> None:
    await stepped.add_pool(nodes=1)
    await stepped.add_job()
    await stepped.add_tasks("job", "sleep 1; exit 5", constraints={"maxTaskRetryCount": 2})
    await stepped.advance(300)
    run = (await stepped.task())["executionInfo"]
    assert (run["retryCount"], run["exitCode"], run["result"]) == (2, 5, "failure")
    assert run["failureInfo"]["category"] == "usererror"
    assert "lastRetryTime" in run
    await stepped.call("POST", "/jobs/job/tasks/t000/reactivate")
    again = await stepped.task()
    assert (again["state"], again["previousState"]) == ("active", "completed")
    assert again["executionInfo"] == {"retryCount": 0, "requeueCount": 0}
    assert "nodeInfo" not in again


async def test_a_resource_file_that_is_missing_fails_the_task_without_an_exit_code(stepped: Driver) -> None:
    await stepped.add_pool(nodes=1)
    await stepped.add_job(constraints={"maxTaskRetryCount": 3})
    file = {"httpUrl": "https://x.blob.core.windows.net/c/missing.zip?sig=secret", "filePath": "a"}
    await stepped.add_tasks("job", "sleep 1", resourceFiles=[file])
    await stepped.advance(100)
    run = (await stepped.task())["executionInfo"]
    assert (run["result"], run["failureInfo"]["code"], run["retryCount"]) == ("failure", "BlobNotFound", 0)
    assert "exitCode" not in run
    assert "secret" not in str(run)


async def test_a_broken_start_task_keeps_tasks_waiting(stepped: Driver) -> None:
    await stepped.add_pool(startTask={"commandLine": "/bin/sh -c 'sleep 3; exit 9'", "maxTaskRetryCount": 1})
    await stepped.add_job()
    await stepped.add_tasks("job", "sleep 1")
    await stepped.advance(300)
    (first, _) = await stepped.rows("/pools/pool/nodes")
    assert (first["state"], first["startTaskInfo"]["exitCode"]) == ("starttaskfailed", 9)
    assert (first["startTaskInfo"]["result"], first["startTaskInfo"]["retryCount"]) == ("failure", 1)
    assert (await stepped.task())["state"] == "active"


@pytest.mark.parametrize("waits", [True, False], ids=["waited for", "not waited for"])
async def test_a_start_task_is_tried_as_often_as_it_may_be(stepped: Driver, *, waits: bool) -> None:
    start = {"commandLine": "/bin/sh -c 'sleep 20; exit 9'", "maxTaskRetryCount": 2, "waitForSuccess": waits}
    await stepped.add_pool(nodes=1, startTask=start)
    seen: dict[int, Any] = {}
    await stepped.advance(15)
    for _ in range(40):
        await stepped.advance(5)
        (node,) = await stepped.rows("/pools/pool/nodes")
        run = node.get("startTaskInfo") or {"state": "running", "retryCount": 0}
        if run["state"] == "completed":
            break
        seen[run["retryCount"]] = (node["state"], run)
    assert sorted(seen) == [0, 1, 2]
    state, again = seen[2]
    assert state == ("waitingforstarttask" if waits else "idle")
    assert (again["state"], again["result"], again["lastRetryTime"]) == ("running", "failure", again["startTime"])
    assert again["startTime"] > seen[1][1]["startTime"]
    assert not {"endTime", "exitCode", "failureInfo"} & again.keys()
    assert (node["state"], run["exitCode"], run["retryCount"]) == ("starttaskfailed" if waits else "idle", 9, 2)


async def test_a_start_task_without_a_bound_on_its_retries_is_tried_for_ever(stepped: Driver) -> None:
    start = {"commandLine": "/bin/sh -c 'sleep 0; exit 9'", "maxTaskRetryCount": -1}
    await stepped.add_pool(nodes=1, startTask=start)
    await stepped.advance(600)
    (node,) = await stepped.rows("/pools/pool/nodes")
    run = node["startTaskInfo"]
    assert (node["state"], run["state"]) == ("waitingforstarttask", "running")
    assert 100 < run["retryCount"] < 600


async def test_tasks_wait_for_a_pool_that_comes_later(stepped: Driver) -> None:
    await stepped.add_job()
    await stepped.add_tasks("job", "sleep 1")
    await stepped.advance(600)
    assert (await stepped.task())["state"] == "active"
    await stepped.add_pool(nodes=1)
    await stepped.advance(100)
    assert (await stepped.task())["state"] == "completed"


async def test_slots_bound_running_tasks_and_priority_sets_their_order(stepped: Driver) -> None:
    await stepped.add_pool(nodes=2, taskSlotsPerNode=4)
    await stepped.add_job("low")
    await stepped.add_job("high", priority=100)
    await stepped.add_tasks("low", *["sleep 5000"] * 10)
    await stepped.add_tasks("high", *["sleep 5000"] * 3, requiredSlots=2)
    await stepped.advance(300)
    truth = await _truth(stepped)
    assert truth["jobs"]["high"]["running"] == 3
    assert truth["jobs"]["low"]["running"] == 2
    assert (truth["pools"]["pool"]["slotsUsed"], truth["pools"]["pool"]["slotsTotal"]) == (8, 8)
    slots = (await stepped.call("GET", "/jobs/high/taskcounts")).body["taskSlotCounts"]
    assert slots["running"] == 6


async def test_preemption_sends_tasks_back_without_counting_a_requeue(stepped: Driver) -> None:
    await stepped.control("POST", "settings", {"preemptionSeconds": 100.0})
    await stepped.add_pool(nodes=0, targetLowPriorityNodes=3)
    await stepped.add_job()
    await stepped.add_tasks("job", *["sleep 100000"] * 3)
    went_back = False
    for _ in range(100):
        await stepped.advance(10)
        rows = await stepped.rows("/jobs/job/tasks")
        went_back |= any(row["state"] == "active" and row.get("previousState") == "running" for row in rows)
    assert went_back
    assert {row["executionInfo"]["requeueCount"] for row in rows} == {0}


async def test_a_smaller_pool_requeues_and_counts_it(stepped: Driver) -> None:
    await stepped.add_pool(nodes=2)
    await stepped.add_job()
    await stepped.add_tasks("job", "sleep 100000", "sleep 100000")
    await stepped.advance(100)
    resized = await stepped.call("POST", "/pools/pool/resize", {"targetDedicatedNodes": 1})
    assert resized.status == 202
    assert (await stepped.call("GET", "/pools/pool")).body["allocationState"] == "resizing"
    await stepped.advance(100)
    pool = (await stepped.call("GET", "/pools/pool")).body
    assert (pool["allocationState"], pool["currentDedicatedNodes"]) == ("steady", 1)
    rows = await stepped.rows("/jobs/job/tasks")
    assert sorted(row["executionInfo"]["requeueCount"] for row in rows) == [0, 1]
    await stepped.call("DELETE", "/pools/pool")
    assert (await stepped.call("GET", "/pools/pool")).body["state"] == "deleting"
    await stepped.advance(30)
    assert (await stepped.call("GET", "/pools/pool")).status == 404
    assert [row["state"] for row in await stepped.rows("/jobs/job/tasks")] == ["active", "active"]


async def test_disabling_waits_requeues_or_terminates(stepped: Driver) -> None:
    await stepped.add_pool(nodes=3)
    for disposal in ("wait", "requeue", "terminate"):
        await stepped.add_job(disposal)
        await stepped.add_tasks(disposal, "sleep 500")
    await stepped.advance(100)
    for disposal in ("wait", "requeue", "terminate"):
        await stepped.call("POST", f"/jobs/{disposal}/disable", {"disableTasks": disposal})
    await stepped.advance(30)
    jobs = (await _truth(stepped))["jobs"]
    assert [jobs[disposal]["state"] for disposal in ("wait", "requeue", "terminate")] == [
        "disabling",
        "disabled",
        "disabled",
    ]
    assert (jobs["wait"]["running"], jobs["requeue"]["active"], jobs["terminate"]["failed"]) == (1, 1, 1)
    assert (await stepped.task(job="requeue"))["executionInfo"]["requeueCount"] == 1
    await stepped.advance(1000)
    jobs = (await _truth(stepped))["jobs"]
    assert (jobs["wait"]["state"], jobs["requeue"]["active"]) == ("disabled", 1)
    await stepped.call("POST", "/jobs/requeue/enable")
    await stepped.advance(1000)
    assert (await _truth(stepped))["jobs"]["requeue"]["succeeded"] == 1


async def test_a_terminated_job_ends_runs_and_leaves_waiting_tasks_active(stepped: Driver) -> None:
    await stepped.add_pool(nodes=1)
    await stepped.add_job()
    await stepped.add_tasks("job", *["sleep 500"] * 4)
    await stepped.advance(100)
    await stepped.call("POST", "/jobs/job/terminate", {"terminateReason": "enough"})
    await stepped.advance(60)
    job = (await stepped.call("GET", "/jobs/job")).body
    assert (job["state"], job["previousState"], job["executionInfo"]["terminateReason"]) == (
        "completed",
        "terminating",
        "enough",
    )
    counts = (await _truth(stepped))["jobs"]["job"]
    assert (counts["active"], counts["failed"]) == (3, 1)


async def test_a_job_ends_after_its_last_task_when_asked_to(stepped: Driver) -> None:
    await stepped.add_pool(nodes=1)
    await stepped.add_job()
    await stepped.add_tasks("job", "sleep 5")
    await stepped.advance(300)
    assert (await stepped.call("GET", "/jobs/job")).body["state"] == "active"
    await stepped.call("PATCH", "/jobs/job", {"onAllTasksComplete": "terminatejob"})
    await stepped.advance(10)
    assert (await stepped.call("GET", "/jobs/job")).body["state"] == "completed"


async def test_a_job_created_again_is_another(stepped: Driver) -> None:
    await stepped.add_job()
    await stepped.add_tasks("job", "true")
    first = (await stepped.call("GET", "/jobs/job")).body
    await stepped.call("DELETE", "/jobs/job")
    await stepped.advance(10)
    await stepped.add_job()
    second = (await stepped.call("GET", "/jobs/job")).body
    assert second["creationTime"] > first["creationTime"]
    assert await stepped.rows("/jobs/job/tasks") == []


async def test_task_counts_lag_as_set_and_arrive(stepped: Driver) -> None:
    await stepped.control("POST", "settings", {"countLagSeconds": 30.0})
    await stepped.add_job()
    await stepped.add_tasks("job", *["true"] * 7)

    async def active() -> int:
        return int((await stepped.call("GET", "/jobs/job/taskcounts")).body["taskCounts"]["active"])

    assert await active() == 0
    await stepped.advance(29)
    assert await active() == 0
    await stepped.advance(2)
    assert await active() == 7


async def test_node_counts_lag_as_set_and_arrive(stepped: Driver) -> None:
    await stepped.control("POST", "settings", {"nodeCountLagSeconds": 30.0})
    await stepped.add_pool(nodes=2)

    async def counted() -> tuple[int, int]:
        (row,) = await stepped.rows("/nodecounts")
        return int(row["dedicated"]["total"]), int(row["dedicated"]["idle"])

    while not await stepped.rows("/pools/pool/nodes"):
        assert await counted() == (0, 0)
        await stepped.advance(1)
    await stepped.advance(28)
    assert await counted() == (0, 0)
    await stepped.advance(3)
    assert (await counted())[0] == 2
    await stepped.advance(60)
    assert await counted() == (2, 2)
    await stepped.add_job()
    await stepped.add_tasks("job", "sleep 100")
    await stepped.advance(10)
    assert await counted() == (2, 2)
    assert sorted(row["state"] for row in await stepped.rows("/pools/pool/nodes")) == ["idle", "running"]
    await stepped.advance(30)
    assert await counted() == (2, 1)


async def test_a_task_that_runs_longer_than_its_limit_is_ended_as_failed_and_retried(stepped: Driver) -> None:
    await stepped.add_pool(nodes=2)
    await stepped.add_job()
    for name, line, limit in (
        ("long", "sleep 500", "PT1M"),
        ("short", "sleep 50", "PT1M"),
        ("free", "sleep 500", None),
    ):
        constraints = {"maxTaskRetryCount": 1, "maxWallClockTime": limit} if limit else {}
        body = {"id": name, "commandLine": line, "constraints": constraints}
        assert (await stepped.call("POST", "/jobs/job/tasks", body)).status == 201
    await stepped.advance(900)
    rows = {row["id"]: row["executionInfo"] for row in await stepped.rows("/jobs/job/tasks")}
    long, short, free = rows["long"], rows["short"], rows["free"]
    assert (long["result"], long["exitCode"], long["retryCount"]) == ("failure", 137, 1)
    assert (long["failureInfo"]["category"], long["failureInfo"]["code"]) == ("usererror", "TaskEnded")
    assert _moment(long["endTime"]) - _moment(long["startTime"]) == timedelta(minutes=1)
    assert (short["result"], short["retryCount"], free["result"]) == ("success", 0, "success")


async def test_a_limit_that_is_no_duration_is_refused_everywhere(stepped: Driver) -> None:
    await stepped.add_job()
    limit = {"constraints": {"maxWallClockTime": "1 hour"}}
    task = {"id": "t", "commandLine": "true", **limit}
    job = {"id": "other", "poolInfo": {"poolId": "pool"}}
    for path, body in (
        ("/jobs/job/tasks", task),
        ("/jobs", {**job, **limit}),
        ("/jobs", {**job, "jobManagerTask": task}),
    ):
        assert (await stepped.call("POST", path, body)).code == "InvalidPropertyValue"
