"""A 404 that isn't Batch's own answer about a job is a failure: the job stays listed, and becomes fresh again."""

import pytest
from azure.batch.models import BatchJobCreateOptions, BatchPoolInfo, BatchTaskCreateOptions

from local.batch_emulator.core.injection import Fault
from tests.functions.conftest import World

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_job_that_a_proxy_calls_missing_stays_and_says_why(world: World) -> None:
    await world.batch.create_job(BatchJobCreateOptions(id="render", pool_info=BatchPoolInfo(pool_id="none")))
    await world.batch.create_task("render", BatchTaskCreateOptions(id="a", command_line="sleep 1"))
    await world.poll()
    world.emulator.faults.add(Fault(path="/jobs/render*", status=404))
    world.advance(60)
    await world.poll()
    job = (await world.jobs())["render"]
    assert (job["deleted"], job["verdict"]["level"]) == (False, "stale")
    assert "answered 404 ResourceNotFound" in job["verdict"]["reason"]
    assert "Only JobNotFound" in job["verdict"]["reason"]
    world.emulator.faults.clear()
    world.advance(60)
    await world.poll()
    job = (await world.jobs())["render"]
    assert (job["deleted"], job["verdict"]["level"], job["taskCounts"]["total"]) == (False, "exact", 1)
