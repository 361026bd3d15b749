"""The API and Prometheus report the cost of a job's last task read, also for unchanged jobs."""

import pytest
from azure.batch.models import BatchJobCreateOptions, BatchPoolInfo, BatchTaskCreateOptions

from tests.functions.conftest import World

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_job_shows_the_cost_of_its_last_task_read(world: World) -> None:
    await world.batch.create_job(BatchJobCreateOptions(id="measured", pool_info=BatchPoolInfo(pool_id="none")))
    for name in "abc":
        await world.batch.create_task("measured", BatchTaskCreateOptions(id=name, command_line="sleep 1"))
    await world.poll()
    read = (await world.get("accounts/demo/jobs/measured")).body["taskRead"]
    assert read["pages"] == 1
    assert read["requests"] >= 2
    assert 0 < read["seconds"] < 30
    metrics = (await world.get("metrics")).body
    for name, value in (("seconds", read["seconds"]), ("requests", read["requests"]), ("pages", 1)):
        (line,) = [line for line in metrics.splitlines() if line.startswith(f"azbatch_job_task_read_{name}{{")]
        assert 'job="measured"' in line
        assert float(line.rpartition(" ")[2]) == pytest.approx(value)


async def test_the_read_of_an_unchanged_job_is_the_latest(world: World) -> None:
    await world.batch.create_job(BatchJobCreateOptions(id="still", pool_info=BatchPoolInfo(pool_id="none")))
    await world.batch.create_task("still", BatchTaskCreateOptions(id="a", command_line="sleep 1"))
    reads = []
    for _ in range(5):
        await world.poll()
        world.advance(60)
        reads.append((await world.get("accounts/demo/jobs/still")).body["taskRead"])
    assert all(read["pages"] >= 1 for read in reads)
    assert len({read["seconds"] for read in reads}) > 1
