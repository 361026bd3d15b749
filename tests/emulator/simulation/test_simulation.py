"""Simulated events in stepped time: nodes, tasks, failures, retries, jobs."""

from collections import Counter
from datetime import UTC, datetime

import pytest
from azure.batch import models
from azure.batch.models._models import BatchJobTerminateOptions

from tests.emulator.conftest import Running
from tests.emulator.support.staging import add_job, add_pool, add_tasks


async def _states(emulator: Running) -> Counter[str]:
    return Counter([str(getattr(task.state, "value", task.state)) async for task in emulator.batch.list_tasks("job")])


async def test_tasks_run_through_their_states_to_the_end(emulator: Running) -> None:
    await add_pool(emulator.batch)
    await add_job(emulator.batch, ends=True)
    await add_tasks(emulator.batch, 6)
    assert await _states(emulator) == {"active": 6}
    seen: set[str] = set()
    for _ in range(800):
        await emulator.advance(0.2)
        seen |= {
            state for state, count in (await emulator.truth())["jobs"]["job"].items() if count and state != "state"
        }
    assert {"active", "preparing", "running", "completed", "succeeded"} <= seen
    job = await emulator.batch.get_job("job")
    assert job.state == "completed"
    assert job.execution_info
    assert job.execution_info.termination_reason == "AllTasksComplete"


async def test_a_failing_task_bears_its_exit_code_after_its_retries(emulator: Running) -> None:
    await add_pool(emulator.batch)
    await add_job(emulator.batch)
    await add_tasks(emulator.batch, 1, command="sleep 1; exit 137", retries=2)
    await emulator.advance(120)
    task = await emulator.batch.get_task("job", "task-00000")
    assert task.state == "completed"
    assert task.execution_info
    assert (task.execution_info.exit_code, task.execution_info.retry_count) == (137, 2)
    assert task.execution_info.result == "failure"
    assert task.execution_info.failure_info
    assert task.execution_info.failure_info.code == "FailureExitCode"


async def test_a_broken_start_task_leaves_its_nodes_useless(emulator: Running) -> None:
    await add_pool(emulator.batch, start="/bin/sh -c 'exit 1'")
    await add_job(emulator.batch)
    await add_tasks(emulator.batch, 3)
    await emulator.advance(120)
    assert (await emulator.truth())["pools"]["pool"]["nodes"] == {"starttaskfailed": 2}
    assert await _states(emulator) == {"active": 3}


async def test_preempted_tasks_run_again_and_no_requeue_is_counted(emulator: Running) -> None:
    await emulator.control("POST", "settings", {"preemptionSeconds": 60.0})
    await add_pool(emulator.batch, nodes=0, spot=3)
    await add_job(emulator.batch)
    await add_tasks(emulator.batch, 12, command="sleep 50")
    preempted = False
    for _ in range(180):
        await emulator.advance(10)
        preempted |= (await emulator.truth())["pools"]["pool"]["nodes"].get("preempted", 0) > 0
    assert preempted
    assert await _states(emulator) == {"completed": 12}
    runs = [task.execution_info async for task in emulator.batch.list_tasks("job")]
    assert {run.requeue_count for run in runs if run} == {0}


async def test_a_state_change_moves_its_own_stamp_and_not_the_etag(emulator: Running) -> None:
    await add_pool(emulator.batch)
    await add_job(emulator.batch)
    await add_tasks(emulator.batch, 1)
    before = await emulator.batch.get_task("job", "task-00000")
    await emulator.advance(100)
    after = await emulator.batch.get_task("job", "task-00000")
    assert after.state == "completed"
    assert after.state_transition_time > before.state_transition_time
    assert (after.etag, after.last_modified) == (before.etag, before.last_modified)


async def test_nodes_stamp_by_clocks_of_their_own(emulator: Running) -> None:
    await emulator.control("POST", "settings", {"nodeClockSkewSeconds": 300.0})
    await add_pool(emulator.batch, nodes=4)
    await add_job(emulator.batch)
    await add_tasks(emulator.batch, 8, command="sleep 1")
    await emulator.advance(60)
    _, clock = await emulator.control("GET", "clock")
    now = datetime.fromisoformat(clock["time"])
    stamps = [
        task.state_transition_time.replace(tzinfo=UTC)
        async for task in emulator.batch.list_tasks("job")
        if task.state == "completed"
    ]
    assert max(abs((now - stamp).total_seconds()) for stamp in stamps) > 65


async def test_a_late_report_shows_later_under_its_old_stamp(emulator: Running) -> None:
    await add_pool(emulator.batch)
    await emulator.advance(60)
    await add_job(emulator.batch)
    await add_tasks(emulator.batch, 1, command="sleep 1")
    await emulator.control("POST", "faults", {"lateReportSeconds": 100})
    await emulator.advance(60)
    assert (await _states(emulator))["completed"] == 0
    assert (await emulator.truth())["jobs"]["job"]["completed"] == 0
    await emulator.advance(100)
    task = await emulator.batch.get_task("job", "task-00000")
    _, clock = await emulator.control("GET", "clock")
    assert task.state == "completed"
    assert (datetime.fromisoformat(clock["time"]) - task.state_transition_time).total_seconds() > 90


async def test_task_counts_lag_by_the_set_delay(emulator: Running) -> None:
    await add_job(emulator.batch)
    await emulator.control("POST", "settings", {"countLagSeconds": 30.0})
    await add_tasks(emulator.batch, 5)
    assert (await emulator.batch.get_job_task_counts("job")).task_counts.active == 0
    await emulator.advance(31)
    assert (await emulator.batch.get_job_task_counts("job")).task_counts.active == 5


async def test_the_truth_equals_lists_and_counts_all_the_way(emulator: Running) -> None:
    await add_pool(emulator.batch, nodes=3)
    await add_job(emulator.batch)
    await add_tasks(emulator.batch, 40, command="sleep 7; exit 0")
    for _ in range(20):
        await emulator.advance(5)
        truth = (await emulator.truth())["jobs"]["job"]
        states = await _states(emulator)
        assert {state: truth[state] for state in ("active", "preparing", "running", "completed")} == {
            state: states[state] for state in ("active", "preparing", "running", "completed")
        }
        counts = (await emulator.batch.get_job_task_counts("job")).task_counts
        assert (counts.active, counts.running) == (truth["active"], truth["running"] + truth["preparing"])
        assert (counts.succeeded, counts.failed) == (truth["succeeded"], truth["failed"])


async def test_a_delta_by_time_returns_changed_tasks_only(emulator: Running) -> None:
    await add_pool(emulator.batch)
    await add_job(emulator.batch)
    await add_tasks(emulator.batch, 30)
    await emulator.advance(60)
    _, clock = await emulator.control("GET", "clock")
    await emulator.advance(20)
    since = f"stateTransitionTime ge DateTime'{clock['time']}'"
    found = {task.id async for task in emulator.batch.list_tasks("job", filter=since)}
    border = datetime.fromisoformat(clock["time"])
    expected = {
        task.id
        async for task in emulator.batch.list_tasks("job")
        if task.state_transition_time.replace(tzinfo=UTC) >= border
    }
    assert found == expected
    assert 0 < len(found) < 30


async def test_jobs_are_disabled_enabled_terminated_and_deleted(emulator: Running) -> None:
    await add_pool(emulator.batch)
    await add_job(emulator.batch)
    await add_tasks(emulator.batch, 2, command="sleep 500")
    await emulator.advance(60)
    options = models.BatchJobDisableOptions(disable_tasks="requeue")
    await emulator.batch._disable_job_internal("job", options)
    await emulator.advance(2)
    assert (await emulator.batch.get_job("job")).state == "disabled"
    assert await _states(emulator) == {"active": 2}
    await emulator.batch._enable_job_internal("job")
    await emulator.advance(5)
    assert (await emulator.batch.get_job("job")).state == "active"
    await emulator.batch._terminate_job_internal("job", BatchJobTerminateOptions(termination_reason="enough"))
    await emulator.advance(5)
    assert (await emulator.batch.get_job("job")).state == "completed"
    assert await _states(emulator) == {"completed": 2}
    await emulator.batch._delete_job_internal("job")
    await emulator.advance(5)
    assert "job" not in (await emulator.truth())["jobs"]


async def test_a_reset_forgets_all_and_begins_another_epoch(emulator: Running) -> None:
    await add_job(emulator.batch)
    status, clock = await emulator.control("POST", "reset")
    assert (status, clock["epoch"]) == (200, 1)
    assert (await emulator.truth())["jobs"] == {}
    with pytest.raises(Exception, match="JobNotFound"):
        await emulator.batch.get_job("job")
