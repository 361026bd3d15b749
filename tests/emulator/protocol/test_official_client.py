"""The unmodified azure-batch client against the emulator."""

import pytest
from azure.batch import models
from azure.batch.aio import BatchClient
from azure.core import MatchConditions
from azure.core.exceptions import HttpResponseError, ResourceExistsError, ResourceNotFoundError

from tests.emulator.support.driver import Driver


def _job(name: str = "job") -> models.BatchJobCreateOptions:
    return models.BatchJobCreateOptions(id=name, pool_info=models.BatchPoolInfo(pool_id="pool"))


def _failure(task: models.BatchTask) -> models.BatchTaskFailureInfo:
    assert task.execution_info
    assert task.execution_info.failure_info
    return task.execution_info.failure_info


def _task(number: int, line: str = "sleep 5") -> models.BatchTaskCreateOptions:
    return models.BatchTaskCreateOptions(id=f"t{number:03}", command_line=line)


async def test_what_batch_says_of_limits_can_be_sent_to_it(stepped: Driver, client: BatchClient) -> None:
    await client.create_job(_job())
    await client.create_task("job", _task(1))
    found = await client.get_task("job", "t001")
    assert found.constraints
    assert found.as_dict()["constraints"]["maxWallClockTime"] == "P10675199DT2H48M5.4775807S"
    again = models.BatchTaskCreateOptions(id="t002", command_line="true", constraints=found.constraints)
    await client.create_task("job", again)
    job = await client.get_job("job")
    await client.update_job("job", models.BatchJobUpdateOptions(constraints=job.constraints))


async def test_a_job_goes_from_its_pool_to_its_counts(stepped: Driver, client: BatchClient) -> None:
    image = models.BatchVmImageReference(publisher="canonical", offer="ubuntu", sku="24_04")
    machine = models.VirtualMachineConfiguration(image_reference=image, node_agent_sku_id="batch.node.ubuntu 24.04")
    await client.create_pool(
        models.BatchPoolCreateOptions(
            id="pool",
            vm_size="STANDARD_D2S_V5",
            virtual_machine_configuration=machine,
            target_dedicated_nodes=3,
            task_slots_per_node=2,
        )
    )
    await client.create_job(_job())
    await client.create_tasks("job", [_task(number, f"exit {number % 5 == 0:d}") for number in range(230)])
    await client.update_job("job", models.BatchJobUpdateOptions(all_tasks_complete_mode="terminatejob"))
    await stepped.advance(7200)

    pool = await client.get_pool("pool")
    assert (pool.current_dedicated_nodes, pool.allocation_state) == (3, models.AllocationState.STEADY)
    counts = (await client.get_job_task_counts("job")).task_counts
    assert (counts.active, counts.running, counts.succeeded, counts.failed, counts.completed) == (0, 0, 184, 46, 230)
    job = await client.get_job("job")
    assert job.state == models.BatchJobState.COMPLETED
    assert job.execution_info is not None
    assert job.execution_info.termination_reason == "AllTasksComplete"
    tasks = [task async for task in client.list_tasks("job", max_results=50)]
    assert len(tasks) == 230
    failed = await client.get_task("job", "T000")
    assert failed.id == "t000"
    assert _failure(failed).category == models.BatchErrorSourceCategory.USER_ERROR
    assert _failure(failed).code == "FailureExitCode"
    nodes = [node async for node in client.list_nodes("pool")]
    assert sum(node.total_tasks_run for node in nodes) == 230
    assert (await client.get_node("pool", nodes[0].id)).state == models.BatchNodeState.IDLE
    (node_counts,) = [each async for each in client.list_pool_node_counts()]
    assert node_counts.dedicated
    assert node_counts.low_priority
    assert (node_counts.dedicated.idle, node_counts.dedicated.total, node_counts.low_priority.total) == (3, 3, 0)


async def test_ids_are_case_insensitive_and_keep_their_case(client: BatchClient) -> None:
    await client.create_job(_job("Mixed-Case"))
    assert (await client.get_job("mIXED-cASE")).id == "Mixed-Case"
    with pytest.raises(ResourceExistsError) as caught:
        await client.create_job(_job("MIXED-CASE"))
    assert "JobExists" in str(caught.value)


async def test_missing_things_are_not_found(client: BatchClient) -> None:
    for missing in (
        client.get_job("no"),
        client.get_pool("no"),
        client.get_task("no", "no"),
        client.get_node("no", "no"),
    ):
        with pytest.raises(ResourceNotFoundError):
            await missing


async def test_a_stale_etag_fails_a_write(client: BatchClient) -> None:
    await client.create_job(_job())
    before = await client.get_job("job")
    change = models.BatchJobUpdateOptions(priority=5)
    await client.update_job("job", change, etag=before.etag, match_condition=MatchConditions.IfNotModified)
    with pytest.raises(HttpResponseError) as caught:
        await client.update_job("job", change, etag=before.etag, match_condition=MatchConditions.IfNotModified)
    assert caught.value.status_code == 412
    after = await client.get_job("job")
    assert (after.priority, after.etag != before.etag) == (5, True)


async def test_jobs_are_disabled_enabled_terminated_and_deleted(stepped: Driver, client: BatchClient) -> None:
    await client.create_job(_job())
    states = []
    for method, path, body in (
        ("POST", "/jobs/job/disable", {"disableTasks": "requeue"}),
        ("POST", "/jobs/job/enable", None),
        ("POST", "/jobs/job/terminate", {"terminateReason": "enough"}),
        ("DELETE", "/jobs/job", None),
    ):
        assert (await stepped.call(method, path, body)).status == 202
        states.append(models.BatchJobState((await client.get_job("job")).state).value)
        await stepped.advance(10)
        answer = await stepped.call("GET", "/jobs/job")
        states.append(answer.body.get("state", answer.status))
    assert states == ["disabling", "disabled", "enabling", "active", "terminating", "completed", "deleting", 404]


async def test_a_task_is_terminated_reactivated_and_deleted(stepped: Driver, client: BatchClient) -> None:
    await client.create_job(_job())
    await client.create_task("job", _task(0))
    await client.terminate_task("job", "t000")
    ended = await client.get_task("job", "t000")
    assert (ended.state, _failure(ended).code) == (models.BatchTaskState.COMPLETED, "TaskEnded")
    await client.reactivate_task("job", "t000")
    assert (await client.get_task("job", "t000")).state == "active"
    await client.delete_task("job", "t000")
    with pytest.raises(ResourceNotFoundError):
        await client.get_task("job", "t000")
    truth = await stepped.control("GET", "truth")
    assert truth["accounts"]["demo"]["jobs"]["job"]["total"] == 0
