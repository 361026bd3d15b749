"""Job preparation and release tasks, and the list of their states."""

from typing import Any

from tests.emulator.support.driver import Driver

_LIST = "/jobs/job/jobpreparationandreleasetaskstatus"


async def _job(driver: Driver, preparation: str, release: str = "sleep 10", **more: Any) -> None:
    await driver.add_pool(nodes=2)
    await driver.advance(120)
    release_task = {"commandLine": release}
    await driver.add_job(jobPreparationTask={"commandLine": preparation, **more}, jobReleaseTask=release_task)


async def test_tasks_are_preparing_until_their_node_is_prepared(stepped: Driver) -> None:
    await _job(stepped, "sleep 30")
    await stepped.add_tasks("job", "sleep 100", "sleep 100")
    await stepped.advance(10)
    assert {row["state"] for row in await stepped.rows("/jobs/job/tasks")} == {"preparing"}
    assert [row["jobPreparationTaskExecutionInfo"]["state"] for row in await stepped.rows(_LIST)] == ["running"] * 2
    await stepped.advance(30)
    assert {row["state"] for row in await stepped.rows("/jobs/job/tasks")} == {"running"}
    (first, _) = await stepped.rows(_LIST)
    info = first["jobPreparationTaskExecutionInfo"]
    assert (info["state"], info["exitCode"], info["result"], info["retryCount"]) == ("completed", 0, "success", 0)
    assert "jobReleaseTaskExecutionInfo" not in first


async def test_a_job_completes_after_its_release_tasks(stepped: Driver) -> None:
    await _job(stepped, "sleep 1", "sleep 60")
    await stepped.add_tasks("job", "sleep 100")
    await stepped.advance(20)
    await stepped.call("POST", "/jobs/job/terminate")
    await stepped.advance(30)
    assert (await stepped.call("GET", "/jobs/job")).body["state"] == "terminating"
    (row,) = await stepped.rows(_LIST)
    assert row["jobReleaseTaskExecutionInfo"]["state"] == "running"
    await stepped.advance(60)
    assert (await stepped.call("GET", "/jobs/job")).body["state"] == "completed"
    (row,) = await stepped.rows(_LIST, _filter="jobReleaseTaskExecutionInfo/result eq 'success'")
    assert row["jobReleaseTaskExecutionInfo"]["exitCode"] == 0
    assert await stepped.rows(_LIST, _filter="jobReleaseTaskExecutionInfo/exitCode gt 0") == []


async def test_a_node_where_preparation_failed_takes_no_task_until_reimaged(stepped: Driver) -> None:
    await _job(stepped, "sleep 1; exit 5", constraints={"maxTaskRetryCount": 1})
    await stepped.add_tasks("job", "sleep 5")
    await stepped.advance(60)
    assert (await stepped.task())["state"] == "active"
    rows = await stepped.rows(_LIST)
    assert [row["jobPreparationTaskExecutionInfo"]["retryCount"] for row in rows] == [1, 1]
    await stepped.add_job("other")
    await stepped.add_tasks("other", "sleep 5")
    await stepped.advance(60)
    assert (await stepped.task("t000", "other"))["state"] == "completed"
    answer = await stepped.call("POST", f"/pools/pool/nodes/{rows[0]['nodeId']}/reimage", {})
    assert answer.status == 202
    await stepped.advance(100)
    again = await stepped.rows(_LIST)
    moved = [before != after for before, after in zip(rows, again, strict=True)]
    assert moved == [True, False]


async def test_tasks_need_not_wait_for_preparation(stepped: Driver) -> None:
    await _job(stepped, "sleep 100; exit 1", waitForSuccess=False)
    await stepped.add_tasks("job", "sleep 20")
    await stepped.advance(40)
    assert (await stepped.task())["state"] == "completed"


async def test_refused_preparation_requests(stepped: Driver) -> None:
    await stepped.add_job("plain")
    refused = await stepped.call("GET", "/jobs/plain/jobpreparationandreleasetaskstatus")
    assert (refused.status, refused.code) == (409, "JobPreparationTaskNotSpecified")
    lonely = {"id": "j", "poolInfo": {"poolId": "p"}, "jobReleaseTask": {"commandLine": "x"}}
    assert (await stepped.call("POST", "/jobs", lonely)).code == "InvalidPropertyValue"
    await _job(stepped, "true")
    for name, code in (("jobPreparation", "Preparation"), ("JOBRELEASE", "Release")):
        answer = await stepped.call("POST", "/jobs/job/tasks", {"id": name, "commandLine": "x"})
        assert (answer.status, answer.code) == (409, f"TaskIdSameAsJob{code}Task")
