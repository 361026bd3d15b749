"""Job schedules: their jobs, times and states."""

from typing import Any

import pytest

from tests.emulator.support.driver import Driver

_AT = "/jobschedules/daily"


async def _add(driver: Driver, **rules: str) -> Any:
    specification = {"poolInfo": {"poolId": "pool"}, "priority": 3}
    body = {"id": "daily", "schedule": rules, "jobSpecification": specification}
    return await driver.call("POST", "/jobschedules", body)


async def _schedule(driver: Driver) -> Any:
    return (await driver.call("GET", _AT)).body


async def _jobs(driver: Driver) -> dict[str, str]:
    return {row["id"]: row["state"] for row in await driver.rows(f"{_AT}/jobs")}


async def _end(driver: Driver, name: str) -> None:
    assert (await driver.call("POST", f"/jobs/daily%3A{name}/terminate")).status == 202


async def test_a_recurrence_fires_and_jobs_are_numbered(stepped: Driver) -> None:
    assert (await _add(stepped, recurrenceInterval="PT1H")).status == 201
    await stepped.advance(1)
    assert await _jobs(stepped) == {"daily:job-1": "active"}
    shown = await _schedule(stepped)
    assert shown["executionInfo"]["nextRunTime"] == "2026-01-05T09:00:00Z"
    assert shown["executionInfo"]["recentJob"]["id"] == "daily:job-1"
    assert shown["jobSpecification"]["priority"] == 3
    assert (await stepped.call("GET", "/jobs/daily:job-1")).body["priority"] == 3
    await _end(stepped, "job-1")
    await stepped.advance(3600)
    assert await _jobs(stepped) == {"daily:job-1": "completed", "daily:job-2": "active"}
    assert {row["id"] for row in await stepped.rows("/jobs")} == {"daily:job-1", "daily:job-2"}
    assert set(await stepped.truth_jobs()) == {"daily:job-1", "daily:job-2"}


async def test_a_job_that_is_due_waits_for_the_one_before(stepped: Driver) -> None:
    await _add(stepped, recurrenceInterval="PT10M")
    await stepped.advance(900)
    assert set(await _jobs(stepped)) == {"daily:job-1"}
    await _end(stepped, "job-1")
    await stepped.advance(10)
    assert await _jobs(stepped) == {"daily:job-1": "completed", "daily:job-2": "active"}


async def test_a_turn_is_lost_after_its_start_window(stepped: Driver) -> None:
    await _add(stepped, recurrenceInterval="PT10M", startWindow="PT1M")
    await stepped.advance(900)
    await _end(stepped, "job-1")
    await stepped.advance(10)
    assert set(await _jobs(stepped)) == {"daily:job-1"}
    await stepped.advance(300)
    assert set(await _jobs(stepped)) == {"daily:job-1", "daily:job-2"}


async def test_a_schedule_that_does_not_recur_completes_with_its_job(stepped: Driver) -> None:
    await _add(stepped, doNotRunUntil="2026-01-05T08:10:00Z")
    await stepped.advance(590)
    assert await _jobs(stepped) == {}
    await stepped.advance(20)
    assert await _jobs(stepped) == {"daily:job-1": "active"}
    await _end(stepped, "job-1")
    await stepped.advance(10)
    shown = await _schedule(stepped)
    assert (shown["state"], "endTime" in shown["executionInfo"]) == ("completed", True)
    assert (await stepped.call("POST", f"{_AT}/disable")).code == "JobScheduleCompleted"
    assert await stepped.rows("/jobschedules", _filter="executionInfo/endTime gt DateTime'2026-01-05T08:00:00Z'")


async def test_nothing_runs_after_the_last_moment(stepped: Driver) -> None:
    await _add(stepped, recurrenceInterval="PT10M", doNotRunAfter="2026-01-05T08:15:00Z")
    await stepped.advance(5)
    await _end(stepped, "job-1")
    await stepped.advance(620)
    await _end(stepped, "job-2")
    await stepped.advance(3600)
    assert set(await _jobs(stepped)) == {"daily:job-1", "daily:job-2"}
    assert (await _schedule(stepped))["state"] == "completed"


async def test_a_disabled_schedule_makes_no_jobs_until_it_is_enabled(stepped: Driver) -> None:
    await _add(stepped, recurrenceInterval="PT10M")
    await stepped.advance(5)
    await _end(stepped, "job-1")
    assert (await stepped.call("POST", f"{_AT}/enable")).code == "OperationInvalidForCurrentState"
    assert (await stepped.call("POST", f"{_AT}/disable")).status == 204
    assert (await stepped.call("POST", f"{_AT}/disable")).code == "JobScheduleDisabled"
    await stepped.advance(3600)
    assert set(await _jobs(stepped)) == {"daily:job-1"}
    assert (await stepped.call("POST", f"{_AT}/enable")).status == 204
    await stepped.advance(5)
    assert set(await _jobs(stepped)) == {"daily:job-1", "daily:job-2"}
    assert (await _schedule(stepped))["previousState"] == "disabled"


async def test_terminating_a_schedule_ends_its_job(stepped: Driver) -> None:
    await _add(stepped, recurrenceInterval="PT10M")
    await stepped.advance(5)
    assert (await stepped.call("POST", f"{_AT}/terminate")).status == 202
    assert (await stepped.call("POST", f"{_AT}/terminate")).code == "JobScheduleBeingTerminated"
    await stepped.advance(3600)
    job = (await stepped.call("GET", "/jobs/daily:job-1")).body
    assert (job["state"], job["executionInfo"]["terminateReason"]) == ("completed", "TerminateJobSchedule")
    assert (await _schedule(stepped))["state"] == "completed"


async def test_deleting_a_schedule_deletes_its_jobs(stepped: Driver) -> None:
    await _add(stepped, recurrenceInterval="PT10M")
    await stepped.advance(5)
    assert (await stepped.call("DELETE", _AT)).status == 202
    assert (await stepped.call("DELETE", _AT)).code == "JobScheduleBeingDeleted"
    await stepped.advance(60)
    assert (await stepped.call("GET", _AT)).code == "JobScheduleNotFound"
    assert (await stepped.call("HEAD", _AT)).status == 404
    assert await stepped.rows("/jobs") == []
    await stepped.advance(3600)
    assert await stepped.rows("/jobs") == []


async def test_a_schedule_is_patched_and_replaced(stepped: Driver) -> None:
    await _add(stepped, recurrenceInterval="PT1H")
    await stepped.advance(5)
    before = await _schedule(stepped)
    assert (await stepped.call("PATCH", _AT, {"schedule": {"recurrenceInterval": "PT2H"}})).status == 200
    stale = await stepped.call("PATCH", _AT, {"metadata": []}, headers={"if-match": before["eTag"]})
    assert (stale.status, stale.code) == (412, "ConditionNotMet")
    assert (await stepped.call("PUT", _AT, {"schedule": {}})).code == "MissingRequiredProperty"
    specification = {"poolInfo": {"poolId": "elsewhere"}}
    body = {"schedule": {"recurrenceInterval": "PT10M"}, "jobSpecification": specification}
    assert (await stepped.call("PUT", _AT, body)).status == 200
    await _end(stepped, "job-1")
    await stepped.advance(3600)
    assert (await stepped.call("GET", "/jobs/daily:job-1")).body["poolInfo"] == {"poolId": "pool"}
    assert (await stepped.call("GET", "/jobs/daily:job-2")).body["poolInfo"] == {"poolId": "elsewhere"}


@pytest.mark.parametrize(
    ("rules", "code"),
    [
        ({"recurrenceInterval": "PT59S"}, "InvalidPropertyValue"),
        ({"startWindow": "soon"}, "InvalidPropertyValue"),
        ({"doNotRunAfter": "never"}, "InvalidPropertyValue"),
        ({"colour": "red"}, "UnsupportedProperty"),
    ],
)
async def test_a_wrong_schedule_is_refused(stepped: Driver, rules: dict[str, str], code: str) -> None:
    answer = await _add(stepped, **rules)
    assert (answer.status, answer.code) == (400, code)


async def test_a_schedule_and_a_job_cannot_have_one_id(stepped: Driver) -> None:
    await _add(stepped)
    job = await stepped.call("POST", "/jobs", {"id": "DAILY", "poolInfo": {"poolId": "p"}})
    assert (job.status, job.code) == (409, "JobScheduleWithSameIdExists")
    await stepped.add_job("taken")
    body = {"id": "taken", "schedule": {}, "jobSpecification": {"poolInfo": {"poolId": "p"}}}
    assert (await stepped.call("POST", "/jobschedules", body)).code == "JobWithSameIdExists"
    assert (await _add(stepped)).code == "JobScheduleExists"
