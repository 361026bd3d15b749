"""Dependencies of tasks by id and by range; exit conditions decide whether an end satisfies them."""

from typing import Any

import pytest

from tests.emulator.support.driver import Driver


async def _add(driver: Driver, name: str, line: str = "sleep 5", **spec: Any) -> None:
    answer = await driver.call("POST", "/jobs/job/tasks", {"id": name, "commandLine": line, **spec})
    assert answer.status == 201, answer.body


async def _states(driver: Driver) -> dict[str, str]:
    return {row["id"]: row["state"] for row in await driver.rows("/jobs/job/tasks")}


async def _job(driver: Driver, **spec: Any) -> None:
    await driver.add_pool(nodes=4)
    await driver.add_job(usesTaskDependencies=True, **spec)
    await driver.advance(120)


async def test_a_task_waits_for_all_that_it_names_even_if_they_come_later(stepped: Driver) -> None:
    await _job(stepped)
    await _add(stepped, "last", dependsOn={"taskIds": ["One", "two"]})
    await _add(stepped, "one")
    await stepped.advance(60)
    assert await _states(stepped) == {"last": "active", "one": "completed"}
    await _add(stepped, "two")
    await stepped.advance(60)
    assert set((await _states(stepped)).values()) == {"completed"}
    assert (await stepped.task("last"))["dependsOn"] == {"taskIds": ["One", "two"]}
    await _add(stepped, "after", dependsOn={"taskIds": ["last"]})
    await stepped.advance(60)
    assert (await _states(stepped))["after"] == "completed"


async def test_a_range_counts_numbers_and_not_leading_zeros(stepped: Driver) -> None:
    await _job(stepped)
    await _add(stepped, "last", dependsOn={"taskIdRanges": [{"start": 1, "end": 3}]})
    for name in ("1", "002", "3x"):
        await _add(stepped, name)
    await stepped.advance(60)
    assert (await _states(stepped))["last"] == "active"
    await _add(stepped, "3")
    await stepped.advance(60)
    assert (await _states(stepped))["last"] == "completed"


async def test_a_failure_blocks_unless_its_exit_condition_satisfies(stepped: Driver) -> None:
    await _job(stepped)
    options = {"exitConditions": {"exitCodes": [{"code": 3, "exitOptions": {"dependencyAction": "satisfy"}}]}}
    await _add(stepped, "bad", "sleep 1; exit 2", **options)
    await _add(stepped, "good", "sleep 1; exit 3", **options)
    await _add(stepped, "on-bad", dependsOn={"taskIds": ["bad"]})
    await _add(stepped, "on-good", dependsOn={"taskIds": ["good"]})
    await stepped.advance(90)
    found = await _states(stepped)
    assert (found["on-bad"], found["on-good"]) == ("active", "completed")


async def test_tasks_ended_or_deleted_while_waiting_do_not_run(stepped: Driver) -> None:
    await _job(stepped)
    for name in ("ended", "deleted"):
        await _add(stepped, name, dependsOn={"taskIds": ["first"]})
    await stepped.call("POST", "/jobs/job/tasks/ended/terminate")
    await stepped.call("DELETE", "/jobs/job/tasks/deleted")
    await _add(stepped, "first")
    await stepped.advance(60)
    assert await _states(stepped) == {"ended": "completed", "first": "completed"}
    assert "exitCode" not in (await stepped.task("ended"))["executionInfo"]


@pytest.mark.parametrize(
    ("depends", "code"),
    [
        ({"taskIds": ["x" * 64] * 1001}, "TaskDependencyListTooLong"),
        ({"taskIds": "x"}, "InvalidPropertyValue"),
        ({"taskIdRanges": [{"start": 1}]}, "InvalidPropertyValue"),
    ],
)
async def test_wrong_dependencies_are_refused(stepped: Driver, depends: object, code: str) -> None:
    await stepped.add_job(usesTaskDependencies=True)
    answer = await stepped.call("POST", "/jobs/job/tasks", {"id": "t", "commandLine": "x", "dependsOn": depends})
    assert (answer.status, answer.code) == (400, code)


async def test_dependencies_and_job_actions_need_a_job_that_uses_them(stepped: Driver) -> None:
    await stepped.add_job()
    task = {"id": "t", "commandLine": "x", "dependsOn": {"taskIds": ["a"]}}
    assert (await stepped.call("POST", "/jobs/job/tasks", task)).code == "TaskDependenciesNotSpecifiedOnJob"
    task = {"id": "t", "commandLine": "x", "exitConditions": {"default": {"jobAction": "terminate"}}}
    assert (await stepped.call("POST", "/jobs/job/tasks", task)).code == "InvalidPropertyValue"


@pytest.mark.parametrize(
    ("options", "state", "reason"),
    [
        ({}, "completed", "TaskFailed"),
        ({"default": {"jobAction": "disable"}}, "disabled", None),
        ({"exitCodeRanges": [{"start": 1, "end": 9, "exitOptions": {"jobAction": "none"}}]}, "active", None),
    ],
)
async def test_a_failed_task_does_to_its_job_what_its_exit_conditions_say(
    stepped: Driver, options: object, state: str, reason: str | None
) -> None:
    await _job(stepped, onTaskFailure="performexitoptionsjobaction")
    await _add(stepped, "t000", "sleep 1; exit 4", exitConditions=options)
    await _add(stepped, "other", "sleep 500")
    await stepped.advance(60)
    job = (await stepped.call("GET", "/jobs/job")).body
    assert (job["state"], job["executionInfo"].get("terminateReason")) == (state, reason)


async def test_a_replaced_job_has_defaults_for_missing_properties(stepped: Driver) -> None:
    await stepped.add_job(priority=5, metadata=[{"name": "a", "value": "b"}], maxParallelTasks=3)
    before = (await stepped.call("GET", "/jobs/job")).body
    assert (await stepped.call("PUT", "/jobs/job", {"poolInfo": before["poolInfo"], "priority": 7})).status == 200
    after = (await stepped.call("GET", "/jobs/job")).body
    assert (after["priority"], after["maxParallelTasks"], "metadata" in after) == (7, -1, False)
    assert after["eTag"] != before["eTag"]
    elsewhere = await stepped.call("PUT", "/jobs/job", {"poolInfo": {"poolId": "other"}})
    assert (elsewhere.status, elsewhere.code) == (409, "OperationInvalidForCurrentState")
    assert (await stepped.call("PUT", "/jobs/job", {"priority": 1})).code == "MissingRequiredProperty"


async def test_automatic_termination_cannot_be_taken_back(stepped: Driver) -> None:
    await stepped.add_job()
    await stepped.add_tasks("job", "true")
    assert (await stepped.call("PATCH", "/jobs/job", {"onAllTasksComplete": "terminatejob"})).status == 200
    back = await stepped.call("PATCH", "/jobs/job", {"onAllTasksComplete": "noaction"})
    assert (back.status, back.code) == (400, "InvalidPropertyValue")
    assert (await stepped.call("PUT", "/jobs/job", {"poolInfo": {"poolId": "pool"}})).status == 400


async def test_a_tasks_constraints_are_replaced_and_its_etag_moves(stepped: Driver) -> None:
    await stepped.add_job()
    await stepped.add_tasks("job", "true", constraints={"maxTaskRetryCount": 2})
    before = await stepped.task()
    await stepped.advance(1)
    changed = await stepped.call("PUT", "/jobs/job/tasks/t000", {"constraints": {"retentionTime": "PT1H"}})
    assert changed.status == 200
    after = await stepped.task()
    assert after["constraints"]["maxTaskRetryCount"] == 0
    assert after["constraints"]["retentionTime"] == "PT1H"
    assert after["eTag"] == changed.headers["ETag"] != before["eTag"]
    assert after["stateTransitionTime"] == before["stateTransitionTime"]
    await stepped.call("POST", "/jobs/job/tasks/t000/terminate")
    assert (await stepped.call("PUT", "/jobs/job/tasks/t000", {})).code == "TaskCompleted"


async def test_a_job_ends_with_its_manager_and_at_its_time(stepped: Driver) -> None:
    await stepped.add_pool()
    manager = {"id": "manager", "commandLine": "sleep 20"}
    await stepped.add_job(jobManagerTask=manager)
    await stepped.add_job("timed", constraints={"maxWallClockTime": "PT5M"})
    await stepped.advance(120)
    ended = (await stepped.call("GET", "/jobs/job")).body
    assert (ended["state"], ended["executionInfo"]["terminateReason"]) == ("completed", "JMComplete")
    assert (await stepped.call("GET", "/jobs/timed")).body["state"] == "active"
    await stepped.advance(240)
    timed = (await stepped.call("GET", "/jobs/timed")).body
    assert timed["executionInfo"]["terminateReason"] == "MaxWallClockTimeExpiry"


async def test_a_task_that_a_user_ended_does_nothing_to_its_job(stepped: Driver) -> None:
    await _job(stepped, onTaskFailure="performexitoptionsjobaction")
    await _add(stepped, "ended", "sleep 500")
    await stepped.call("POST", "/jobs/job/tasks/ended/terminate")
    await stepped.advance(60)
    assert (await stepped.call("GET", "/jobs/job")).body["state"] == "active"
    assert (await stepped.call("POST", "/jobs/job/tasks/ended/reactivate")).status == 204
