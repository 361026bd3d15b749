"""Multi-instance tasks: when they start, all nodes that they occupy, their subtasks, and what ends them."""

from collections import Counter, defaultdict
from typing import Any

import pytest

from tests.emulator.support.driver import Driver

_CONNECTED: dict[str, Any] = {"enableInterNodeCommunication": True}


def _settings(nodes: int = 3, line: str = "true") -> dict[str, Any]:
    return {"multiInstanceSettings": {"numberOfInstances": nodes, "coordinationCommandLine": line}}


async def _begin(driver: Driver, *lines: str, nodes: int = 4, instances: int = 3, **task: Any) -> None:
    """Starts multi-instance tasks in a pool of dedicated nodes."""
    await driver.add_pool(nodes=nodes, **_CONNECTED)
    await driver.advance(100)
    await driver.add_job()
    await driver.add_tasks("job", *lines, **{**_settings(instances), **task})
    await driver.advance(10)


async def _states(driver: Driver) -> Counter[str]:
    return Counter(row["state"] for row in await driver.rows("/pools/pool/nodes"))


async def _slots(driver: Driver) -> list[Any]:
    rows: list[Any] = (await driver.control("GET", "usage"))["accounts"]["demo"]["slots"]
    return rows


async def _subtasks(driver: Driver, task: str = "t000") -> list[Any]:
    return await driver.rows(f"/jobs/job/tasks/{task}/subtasksinfo")


async def test_a_task_occupies_as_many_nodes_as_it_has_instances_and_frees_them_together(stepped: Driver) -> None:
    await _begin(stepped, "sleep 60")
    task, rows = await stepped.task(), await _subtasks(stepped)
    assert await _states(stepped) == {"running": 3, "idle": 1}
    assert (task["state"], task["multiInstanceSettings"]["numberOfInstances"]) == ("running", 3)
    nodes = {task["nodeInfo"]["nodeId"], *(row["nodeInfo"]["nodeId"] for row in rows)}
    assert len(nodes) == 3
    assert [(row["id"], row["state"]) for row in rows] == [(1, "running"), (2, "running")]
    await stepped.advance(60)
    assert await _states(stepped) == {"idle": 4}
    held = await _slots(stepped)
    assert {row["node"] for row in held} == nodes
    assert len({(row["attempt"], row["outcome"], row["seconds"], row["runningSeconds"]) for row in held}) == 1
    assert held[0]["outcome"] == "succeeded"
    assert held[0]["runningSeconds"] == pytest.approx(60, abs=0.31)


async def test_subtasks_end_with_the_primary_and_stay_listed(stepped: Driver) -> None:
    await _begin(stepped, "sleep 60; exit 3")
    await stepped.advance(60)
    info = (await stepped.task())["executionInfo"]
    assert info["exitCode"] == 3
    for row in await _subtasks(stepped):
        assert (row["state"], row["previousState"], row["exitCode"]) == ("completed", "running", 0)
        assert (row["startTime"], row["endTime"]) == (info["startTime"], info["endTime"])
    await stepped.call("POST", "/jobs/job/tasks/t000/reactivate", {})
    assert await _subtasks(stepped) == []


async def test_a_coordination_command_runs_first_and_its_failure_is_that_of_the_task(stepped: Driver) -> None:
    await _begin(stepped, "sleep 60", **_settings(2, "sleep 30"))
    await _begin_second(stepped, **_settings(2, "sleep 5; exit 7"), constraints={"maxTaskRetryCount": 1})
    await stepped.advance(150)
    rows = await _slots(stepped)
    ran = {(row["task"], row["attempt"], row["outcome"]): row["runningSeconds"] for row in rows}
    assert ran == {("t000", 1, "succeeded"): 90, ("second", 1, "retried"): 5, ("second", 2, "failed"): 5}
    assert len(rows) == 6
    assert (await stepped.task("second"))["executionInfo"]["exitCode"] == 7
    assert [row["exitCode"] for row in await _subtasks(stepped, "second")] == [7]


async def _begin_second(driver: Driver, **task: Any) -> None:
    body = {"id": "second", "commandLine": "sleep 60", **task}
    assert (await driver.call("POST", "/jobs/job/tasks", body)).status == 201


async def test_a_task_waits_until_enough_nodes_are_idle_at_once_while_others_pass_it(stepped: Driver) -> None:
    await _begin(stepped, "sleep 50", nodes=3, instances=2)
    await _begin_second(stepped, **_settings(3))
    body = {"id": "narrow", "commandLine": "sleep 20"}
    await stepped.call("POST", "/jobs/job/tasks", body)
    await stepped.advance(10)
    found = {row["id"]: row["state"] for row in await stepped.rows("/jobs/job/tasks")}
    assert found == {"t000": "running", "second": "active", "narrow": "running"}
    await stepped.advance(60)
    assert (await stepped.task("second"))["state"] == "running"
    assert await _states(stepped) == {"running": 3}


@pytest.mark.parametrize("spec", [{}, {**_CONNECTED, "taskSlotsPerNode": 2}])
async def test_in_other_pools_a_task_stays_active_and_hinders_no_other_task(
    stepped: Driver, spec: dict[str, Any]
) -> None:
    await stepped.add_pool(nodes=3, **spec)
    await stepped.add_job()
    await stepped.add_tasks("job", "true", **_settings(1))
    await stepped.call("POST", "/jobs/job/tasks", {"id": "other", "commandLine": "true"})
    await stepped.advance(5000)
    found = {row["id"]: row["state"] for row in await stepped.rows("/jobs/job/tasks")}
    assert found == {"t000": "active", "other": "completed"}


async def test_the_loss_of_any_node_requeues_the_task_and_frees_the_others(stepped: Driver) -> None:
    await stepped.control("POST", "settings", {"preemptionSeconds": 2000})
    await stepped.add_pool(nodes=0, targetLowPriorityNodes=3, **_CONNECTED)
    await stepped.add_job()
    await stepped.add_tasks("job", "sleep 100000", **_settings())
    lost = set[int]()
    while len(lost) < 2:
        await stepped.advance(50)
        rows = [row for row in await _slots(stepped) if row["outcome"] == "preempted"]
        by_attempt = Counter(row["attempt"] for row in rows)
        assert set(by_attempt.values()) <= {3}
        if (await stepped.task())["state"] == "active":
            states = await _states(stepped)
            assert states["running"] == 0
            lost |= set(by_attempt)
    assert (await stepped.task())["executionInfo"]["requeueCount"] == 0


@pytest.mark.parametrize(
    ("option", "state", "outcomes"),
    [("requeue", "active", {"requeued": 3}), ("terminate", "completed", {"terminated": 3})],
)
async def test_the_reboot_of_a_subtasks_node_ends_the_run_on_all_nodes(
    stepped: Driver, option: str, state: str, outcomes: dict[str, int]
) -> None:
    await _begin(stepped, "sleep 500", nodes=3)
    node = (await _subtasks(stepped))[1]["nodeInfo"]["nodeId"]
    await stepped.call("POST", f"/pools/pool/nodes/{node}/reboot", {"nodeRebootOption": option})
    assert (await stepped.task())["state"] == state
    assert Counter(row["outcome"] for row in await _slots(stepped)) == outcomes
    assert await _states(stepped) == {"idle": 2, "rebooting": 1}


async def test_a_job_is_prepared_on_all_nodes_before_its_task_starts(stepped: Driver) -> None:
    await stepped.add_pool(nodes=3, **_CONNECTED)
    await stepped.add_job(jobPreparationTask={"commandLine": "sleep 30"})
    await stepped.add_tasks("job", "sleep 50", **_settings())
    await stepped.advance(300)
    held = await _slots(stepped)
    assert [row["outcome"] for row in held] == ["succeeded"] * 3
    assert 80 < held[0]["seconds"] < 84
    statuses = await stepped.rows("/jobs/job/jobpreparationandreleasetaskstatus")
    assert len({row["nodeId"] for row in statuses}) == 3


async def test_events_have_the_number_of_instances(stepped: Driver) -> None:
    stepped.emulator.simulations["demo"].context.log.is_enabled = True
    await _begin(stepped, "sleep 5")
    await stepped.call("POST", "/jobs/job/tasks", {"id": "plain", "commandLine": "sleep 5"})
    await stepped.advance(30)
    found = defaultdict(set)
    for record in stepped.emulator.simulations["demo"].context.log.drain():
        if record["operationName"] in {"TaskStartEvent", "TaskCompleteEvent"}:
            properties = record["properties"]
            found[properties["id"]].add(properties["multiInstanceSettings"]["numberOfInstances"])
    assert found == {"t000": {3}, "plain": {1}}


async def test_recent_tasks_of_nodes_have_the_ids_of_subtasks(stepped: Driver) -> None:
    await _begin(stepped, "sleep 5", nodes=3)
    nodes = await stepped.rows("/pools/pool/nodes")
    shown = {row["id"]: row["recentTasks"][0].get("subtaskId", 0) for row in nodes}
    assert sorted(shown.values()) == [0, 1, 2]
    assert shown == {(await stepped.task())["nodeInfo"]["nodeId"]: 0} | {
        row["nodeInfo"]["nodeId"]: row["id"] for row in await _subtasks(stepped)
    }


@pytest.mark.parametrize(
    ("task", "code"),
    [
        ({"multiInstanceSettings": {"numberOfInstances": 2}}, "MissingRequiredProperty"),
        (_settings(0), "InvalidPropertyValue"),
        ({**_settings(), "requiredSlots": 2}, "InvalidPropertyValue"),
    ],
)
async def test_wrong_settings_are_refused(stepped: Driver, task: dict[str, Any], code: str) -> None:
    await stepped.add_job()
    answer = await stepped.call("POST", "/jobs/job/tasks", {"id": "t", "commandLine": "true", **task})
    assert (answer.status, answer.code) == (400, code)


@pytest.mark.parametrize("seed", range(4))
async def test_in_seeded_churn_a_run_holds_all_of_its_nodes_and_no_node_two_runs(stepped: Driver, seed: int) -> None:
    await stepped.control("POST", "settings", {"preemptionSeconds": 300, "nodeLossSeconds": 300})
    rng = stepped.emulator.simulations["other"].context.rng
    rng.seed(seed)
    await stepped.add_pool(nodes=3, targetLowPriorityNodes=3, **_CONNECTED)
    await stepped.add_job(jobPreparationTask={"commandLine": "sleep 2"})
    widths = {f"t{number:03}": rng.choice((0, 1, 2, 3, 5)) for number in range(20)}
    for name, width in widths.items():
        line = f"sleep {rng.randint(5, 60)}; exit {rng.choice((0, 1))}"
        task = {"id": name, "commandLine": line, "constraints": {"maxTaskRetryCount": 1}}
        await stepped.call("POST", "/jobs/job/tasks", {**task, **(_settings(width) if width else {})})
    pool = stepped.emulator.simulations["demo"].account.pools["pool"]
    for _ in range(150):
        await stepped.advance(10)
        for node in pool.nodes.values():
            assert len(node.runs) <= 1
            assert node.free == 1 - len(node.runs)
            assert node.state == "running" or not node.visible_runs
            assert all(node in run.nodes and run.task.run is run for run in node.runs)
    runs = defaultdict(list)
    for row in await _slots(stepped):
        runs[row["task"], row["attempt"]].append((row["outcome"], row["seconds"], row["runningSeconds"]))
    for (task, _), held in runs.items():
        assert len(held) == max(widths[task], 1)
        assert len(set(held)) == 1
    states = Counter(row["state"] for row in await stepped.rows("/jobs/job/tasks"))
    assert states["completed"] >= 15


async def test_clocks_of_nodes_and_late_reports_change_no_seconds_of_nodes(stepped: Driver) -> None:
    await stepped.control("POST", "settings", {"nodeClockSkewSeconds": 20})
    await _begin(stepped, "sleep 80", nodes=3)
    await stepped.advance(200)
    usage = (await stepped.control("GET", "usage"))["accounts"]["demo"]
    running = [row["seconds"] for row in usage["nodes"] if row["state"] == "running"]
    assert len(running) == 3
    assert max(running) == pytest.approx(min(running), abs=1e-5)
