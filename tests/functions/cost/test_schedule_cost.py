"""What the runs of a job schedule cost: each run as its group of the account's costs, latest first."""

import csv
import io
from datetime import timedelta

import pytest
import pytest_asyncio
from azure.batch import models

from local.batch_emulator.core.stamps import SECOND
from tests.functions.conftest import World
from tests.functions.support.priced_pools import add_priced_pool

pytestmark = pytest.mark.asyncio(loop_scope="session")
_DAY = 86_400 * SECOND


@pytest_asyncio.fixture(loop_scope="session")
async def staged(_running: World) -> World:
    return await _running.staged_once(_stage)


async def _stage(world: World) -> None:
    """Lets a schedule create a job every twenty minutes, whose manager task holds a node for some of them."""
    await world.app.fire("tick")
    world.advance((_DAY - world.emulator.clock.now % _DAY) / SECOND + 3600)
    await world.app.fire("tick")
    await add_priced_pool(world, "scheduled", nodes=1)
    manager = models.BatchJobManagerTask(id="manager", command_line="sleep 300", kill_job_on_completion=True)
    await world.batch.create_job_schedule(
        models.BatchJobScheduleCreateOptions(
            id="compared",
            schedule=models.BatchJobScheduleConfiguration(recurrence_interval=timedelta(minutes=20)),
            job_specification=models.BatchJobSpecification(
                pool_info=models.BatchPoolInfo(pool_id="scheduled"), job_manager_task=manager
            ),
        )
    )
    for _ in range(70):
        world.advance(60)
        await world.app.fire("tick")
    await world.app.fire("housekeeping")


async def test_each_run_has_the_cost_of_its_job_latest_first(staged: World) -> None:
    found = (await staged.get("accounts/demo/jobschedules/compared/cost")).body
    assert [run["job"] for run in found["value"]] == [f"compared:job-{number}" for number in (4, 3, 2, 1)]
    groups = (await staged.get(f"accounts/demo/cost?groupBy=job&from={found['asOf'][:10]}T00:00:00Z")).body["value"]
    costs = {one["name"]: one["cost"] for one in groups}
    for run in found["value"][1:]:
        assert run["cost"] == costs[run["job"]]
        assert run["cost"]["amounts"]["succeeded"] > 0
        assert (run["missingDays"], run["taskCounts"]["succeeded"], run["state"]) == (0, 1, "completed")
    few = (await staged.get("accounts/demo/jobschedules/compared/cost?runs=2&sharing=none")).body
    assert [run["job"] for run in few["value"]] == ["compared:job-4", "compared:job-3"]
    assert few["value"][1]["cost"]["sharedAmount"] == 0 < found["value"][1]["cost"]["sharedAmount"]


async def test_runs_are_a_table_too_and_an_unknown_schedule_is_missing(staged: World) -> None:
    answer = await staged.get("accounts/demo/jobschedules/compared/cost?format=csv")
    rows = list(csv.DictReader(io.StringIO(answer.body)))
    assert [row["job"] for row in rows][:1] == ["compared:job-4"]
    assert float(rows[1]["cost.amount"]) > float(rows[1]["cost.sharedAmount"]) > 0
    assert (await staged.get("accounts/demo/jobschedules/unheard-of/cost")).status == 404
    assert (await staged.get("accounts/demo/jobschedules/compared/cost?runs=0")).status == 400
