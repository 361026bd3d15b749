"""Used shares of jobs' measured runs in lists, tables and metrics: from digests, which housekeeping makes."""

from datetime import timedelta
from typing import Any

import pytest
from azure.storage.blob.aio import ContainerClient

from shared.domain.events.event_lists import EventFilter, Position
from shared.services.events.event_queries import EventPage, EventQueries
from tests.emulator.support.staging import add_pool
from tests.functions.conftest import World
from tests.functions.efficiency.measured_world import TASKS, polled_tasks, staged, started, written
from tests.functions.support.shown_schedules import add_schedule

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_lists_tables_and_metrics_have_the_used_shares_of_the_last_digest(
    world: World, container: ContainerClient
) -> None:
    tasks = await staged(world, "digested", 5)
    await written(world, container, "digested", tasks, cores=1.0, memory=4.0)
    path = "accounts/demo/jobs/digested"
    assert (await world.get(path)).body["efficiency"] is None
    await world.app.fire("housekeeping")
    found = (await world.get(path)).body["efficiency"]
    assert (found["measuredRuns"], found["cpu"], found["memory"], found["gpu"]) == (TASKS, 0.25, 0.25, None)
    assert found["asOf"] == (await world.get(f"{path}/efficiency")).body["asOf"]
    shares = (await world.get(f"{path}/efficiency")).body["usedShares"]
    assert shares == {"cpu": 0.25, "memory": 0.25, "gpu": None}
    (listed,) = (await world.get("accounts/demo/jobs?prefix=digested")).body["value"]
    assert listed["efficiency"] == found
    header, row = (await world.get("accounts/demo/jobs?prefix=digested&format=csv")).body.splitlines()
    columns = dict(zip(header.split(","), row.split(","), strict=False))
    assert columns["id"] == "digested"
    assert header.endswith("efficiency.measuredRuns,efficiency.asOf,efficiency.cpu,efficiency.memory,efficiency.gpu")
    assert row.endswith(",0.25,0.25,")
    text = (await world.get("metrics")).body
    assert f'azbatch_job_measured_runs{{account="demo",job="digested"}} {float(TASKS)}' in text
    assert 'azbatch_job_efficiency_ratio{account="demo",job="digested",resource="memory"} 0.25' in text
    await world.poll()
    assert (await world.get(path)).body["efficiency"] == found


@pytest.mark.parametrize(("job", "day", "runs"), [("advised-gpus", 13, TASKS), ("unadvised-gpus", 14, 1)])
async def test_kills_are_looked_up_only_for_jobs_with_advice(
    world: World, container: ContainerClient, monkeypatch: pytest.MonkeyPatch, *, job: str, day: int, runs: int
) -> None:
    size, asked, events = "Standard_NC4as_T4_v3", list[str](), EventQueries.events

    async def seen(
        self: EventQueries, account_id: str, wanted: EventFilter, *, after: Position | None, most: int
    ) -> EventPage:
        asked.extend(wanted.jobs or ())
        return await events(self, account_id, wanted, after=after, most=most)

    monkeypatch.setattr(EventQueries, "events", seen)
    tasks = await staged(world, job, day, size=size.lower())
    await written(world, container, job, tasks[:runs], cores=3.5, memory=20.0, size=size)
    await world.app.fire("housekeeping")
    assert (await world.get(f"accounts/demo/jobs/{job}")).body["efficiency"]["measuredRuns"] == runs
    assert (job in asked) is (runs == TASKS)


@pytest.mark.parametrize(("job", "day", "share"), [("unseen-gpus", 11, None), ("untouched-gpus", 12, 0.0)])
async def test_gpus_without_a_figure_are_unknown_and_untouched_ones_unused(
    world: World, container: ContainerClient, job: str, day: int, share: float | None
) -> None:
    tasks = await staged(world, job, day, size="standard_nc4as_t4_v3")

    def figures(own: list[dict[str, Any]]) -> str:
        first = min(map(started, own))
        gpu = "nvidia_smi,index=0,name=Tesla\\ T4,uuid=GPU-1 utilization_gpu=0i"
        of_node = "cpu,cpu=cpu-total usage_idle=60,usage_steal=0" if share is None else gpu
        return "".join(f"{of_node} {(first + 60 * at) * 10**9}\n" for at in range(60))

    size = "Standard_NC4as_T4_v3"
    await written(world, container, job, tasks, cores=3.5, memory=20.0, size=size, further=figures)
    await world.app.fire("housekeeping")
    path = f"accounts/demo/jobs/{job}"
    assert (await world.get(path)).body["efficiency"]["gpu"] == share
    answer = (await world.get(f"{path}/efficiency")).body
    assert answer["usedShares"]["gpu"] == share
    assert [one["code"] for one in answer["findings"]] == ([] if share is None else ["idleGpus"])
    ratio = f'azbatch_job_efficiency_ratio{{account="demo",job="{job}",resource="gpu"}}'
    assert (ratio in (await world.get("metrics")).body) is (share is not None)


async def test_of_too_few_runs_nothing_but_their_number_is_said(world: World, container: ContainerClient) -> None:
    tasks = await staged(world, "few", 6)
    await written(world, container, "few", tasks[:7], cores=1.0, memory=4.0)
    await world.app.fire("housekeeping")
    found = (await world.get("accounts/demo/jobs/few")).body["efficiency"]
    assert (found["measuredRuns"], found["cpu"], found["memory"]) == (7, None, None)
    shares = (await world.get("accounts/demo/jobs/few/efficiency")).body["usedShares"]
    assert shares == {"cpu": None, "memory": None, "gpu": None}


async def test_jobs_of_schedules_have_digests(world: World, container: ContainerClient) -> None:
    await world.poll()
    world.advance(7 * 86_400)
    await add_pool(world.batch, nodes=4)
    world.advance(600)
    await add_schedule(world, "Measured", seconds=600, recurrence_interval=timedelta(days=2))
    world.advance(1800)
    tasks = await polled_tasks(world, "Measured:job-1")
    await written(world, container, "Measured:job-1", tasks, cores=1.0, memory=4.0)
    await world.app.fire("housekeeping")
    (job,) = (await world.get("accounts/demo/jobs?prefix=measured")).body["value"]
    assert job["efficiency"]["measuredRuns"] == 1
    groups = (await world.get("accounts/demo/efficiency?groupBy=schedule")).body["value"]
    (sums,) = [group["sums"] for group in groups if group["name"] == "Measured"]
    assert (sums["jobs"], sums["measuredRuns"]) == (1, 1)


async def test_runs_that_are_written_later_are_in_the_next_digest(world: World, container: ContainerClient) -> None:
    tasks = await staged(world, "later", 8)
    nodes = sorted({task["nodeId"] for task in tasks})
    for first in (True, False):
        own = [task for task in tasks if (task["nodeId"] in nodes[:2]) is first]
        await written(world, container, "later", own, cores=1.0, memory=4.0)
        await world.app.fire("housekeeping")
        found = (await world.get("accounts/demo/jobs/later")).body["efficiency"]
        assert found["measuredRuns"] == (len(own) if first else TASKS)
        world.advance(3600)


async def test_a_day_that_other_hosts_write_is_left_to_the_next_housekeeping(
    world: World, container: ContainerClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks = await staged(world, "contended", 9)
    await written(world, container, "contended", tasks, cores=1.0, memory=4.0)

    async def runs() -> int:
        groups = (await world.get("accounts/demo/efficiency?groupBy=prefix")).body["value"]
        return sum(group["sums"]["measuredRuns"] for group in groups if group["name"] == "contended")

    with monkeypatch.context() as others:
        others.setattr("shared.stores.telemetry.day_use._TRIES", 0)
        await world.app.fire("housekeeping")
    assert await runs() == 0
    world.advance(3 * 3600)
    await world.app.fire("housekeeping")
    assert await runs() == TASKS
