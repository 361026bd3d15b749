"""Jobs whose own pool can't be created, and nodes on which an application package can't be installed."""

from typing import Any

import pytest
from azure.batch import models
from azure.batch.aio import BatchClient
from azure.core.exceptions import HttpResponseError

from tests.emulator.conftest import Running
from tests.emulator.support.staging import add_job, add_pool, add_tasks


def packages(name: str) -> list[models.BatchApplicationPackageReference]:
    return [models.BatchApplicationPackageReference(application_id=name, version="2.1")]


def specification(**more: Any) -> models.BatchPoolSpecification:
    return models.BatchPoolSpecification(
        vm_size="standard_d2s_v5", task_slots_per_node=2, target_dedicated_nodes=1, **more
    )


async def add_job_with_pool(batch: BatchClient, **pool: Any) -> None:
    rules = models.BatchAutoPoolSpecification(pool_lifetime_option="job", pool=specification(**pool))
    info = models.BatchPoolInfo(auto_pool_specification=rules)
    await batch.create_job(models.BatchJobCreateOptions(id="job", pool_info=info))


@pytest.mark.parametrize(
    ("quota", "package", "code"),
    [
        (1, "tool", "AutoPoolCreationFailedWithQuotaReached"),
        (0, "unknown-tool", "InvalidApplicationPackageReferencesInAutoPool"),
    ],
)
async def test_a_job_whose_own_pool_cannot_be_made_completes_with_the_reason(
    emulator: Running, quota: int, package: str, code: str
) -> None:
    await add_pool(emulator.batch, "other", nodes=0)
    await emulator.control("POST", "settings", {"poolQuota": quota})
    await add_job_with_pool(emulator.batch, application_package_references=packages(package))
    await emulator.advance(10)
    job = await emulator.batch.get_job("job")
    assert job.state == "completed"
    assert job.execution_info
    assert job.execution_info.scheduling_error
    assert (job.execution_info.scheduling_error.code, job.execution_info.pool_id) == (code, None)
    assert [pool.id async for pool in emulator.batch.list_pools()] == ["other"]


async def test_a_pool_beyond_the_quota_or_with_a_package_that_is_not_there_is_refused(emulator: Running) -> None:
    options = models.BatchPoolCreateOptions(
        id="pool", vm_size="standard_d2s_v5", application_package_references=packages("unknown-tool")
    )
    with pytest.raises(HttpResponseError) as refusal:
        await emulator.batch.create_pool(options)
    assert refusal.value.error
    assert (refusal.value.status_code, refusal.value.error.code) == (409, "InvalidApplicationPackageReferences")
    await add_pool(emulator.batch, "other", nodes=0)
    await emulator.control("POST", "settings", {"poolQuota": 1})
    with pytest.raises(HttpResponseError) as refusal:
        await add_pool(emulator.batch)
    assert refusal.value.error
    assert (refusal.value.status_code, refusal.value.error.code) == (409, "PoolQuotaReached")


async def test_a_package_that_cannot_be_downloaded_makes_nodes_unusable_until_the_pool_names_another(
    emulator: Running,
) -> None:
    options = models.BatchPoolCreateOptions(
        id="pool",
        vm_size="standard_d2s_v5",
        target_dedicated_nodes=1,
        application_package_references=packages("missing-tool"),
    )
    await emulator.batch.create_pool(options)
    await add_job(emulator.batch)
    await add_tasks(emulator.batch, 1, command="sleep 5")
    await emulator.advance(120)
    (node,) = [node async for node in emulator.batch.list_nodes("pool")]
    assert node.state == "unusable"
    assert node.errors
    assert node.errors[0].code == "ApplicationPackageError"
    assert (await emulator.truth())["jobs"]["job"]["active"] == 1
    update = models.BatchPoolUpdateOptions(application_package_references=packages("tool"))
    await emulator.batch.update_pool("pool", update)
    await emulator.batch.begin_resize_pool("pool", models.BatchPoolResizeOptions(target_dedicated_nodes=0))
    await emulator.advance(60)
    await emulator.batch.begin_resize_pool("pool", models.BatchPoolResizeOptions(target_dedicated_nodes=1))
    await emulator.advance(180)
    (node,) = [node async for node in emulator.batch.list_nodes("pool")]
    assert (node.state, node.errors) == ("idle", None)
    assert (await emulator.truth())["jobs"]["job"]["succeeded"] == 1


async def test_a_task_whose_package_cannot_be_downloaded_fails(emulator: Running) -> None:
    await add_pool(emulator.batch, nodes=1)
    await add_job(emulator.batch)
    task = models.BatchTaskCreateOptions(
        id="task", command_line="sleep 5", application_package_references=packages("missing-tool")
    )
    await emulator.batch.create_task("job", task)
    await emulator.advance(120)
    found = await emulator.batch.get_task("job", "task")
    assert found.execution_info
    assert found.execution_info.failure_info
    assert (found.execution_info.result, found.execution_info.failure_info.code) == (
        "failure", "ApplicationPackageError",
    )  # fmt: skip
