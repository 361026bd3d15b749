"""Findings on what a job's runs don't show, through the app: kills, stolen time, the network, limits and start-ups."""

from datetime import timedelta
from typing import Any

import pytest
from azure.batch import models
from azure.storage.blob.aio import ContainerClient

from tests.emulator.support.staging import add_job, add_pool, add_tasks
from tests.functions.conftest import World
from tests.functions.efficiency.measured_world import TASKS, polled_tasks, record, staged, started, written

pytestmark = pytest.mark.asyncio(loop_scope="session")
MEBI = 1 << 20
ENDED: Any = {"terminateReason": "done"}
LONG, SHORT = timedelta(days=3), timedelta(hours=1)
LIMITS = {"loose": (LONG, LONG), "tight": (SHORT, SHORT), "mixed": (LONG, None)}
"""The limit of the first task of a job, and of its others."""


async def findings(world: World, job: str) -> dict[str, Any]:
    """Returns a job's findings by code, in their order."""
    answer = await world.get(f"accounts/demo/jobs/{job}/efficiency")
    assert (answer.status, answer.body["reason"]) == (200, None), answer.body
    return {one["code"]: one for one in answer.body["findings"]}


async def test_tasks_that_the_kernel_killed_are_named_also_behind_many_other_events(
    world: World, container: ContainerClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.services.events.event_queries._MAX_LOOKED_AT", 0)  # a page has the events of a minute
    tasks = await staged(world, "killed", 4)
    killed = {tasks[0]["id"], tasks[5]["id"]}

    def kills(own: list[dict[str, Any]]) -> str:
        return "".join(
            f'batchscope_event,kind=oom_kill,job_id={job},task_id={one["id"]} message="Killed.",is_cgroup_limit=false'
            f" {(started(one) + 60) * 10**9}\n"
            for one in own
            for job in ("killed", "other")
            if one["id"] in killed
        )

    await written(world, container, "killed", tasks, cores=0.9, memory=2.0, further=kills)
    found = await findings(world, "killed")
    assert list(found) == ["memoryNearLimit"]
    assert (found["memoryNearLimit"]["evidence"]["killedTasks"], found["memoryNearLimit"]["title"]) == (
        2, "Tasks were killed for lack of memory",
    )  # fmt: skip


async def test_stolen_time_and_the_network_are_those_of_the_nodes_while_the_job_ran(
    world: World, container: ContainerClient
) -> None:
    tasks = await staged(world, "robbed", 5)

    def figures(own: list[dict[str, Any]]) -> str:
        first = min(map(started, own))
        lines = []
        for minute in range(60):
            at = (first + 60 * minute) * 10**9
            lines += [
                f"cpu,cpu=cpu-total usage_idle=60,usage_user=28,usage_steal=12 {at}\n",
                f"net,interface=eth0 bytes_recv={70 * MEBI * 60 * minute}i,bytes_sent={MEBI * 60 * minute}i {at}\n",
            ]
        return "".join(lines)

    await written(world, container, "robbed", tasks, cores=0.1, memory=12.0, further=figures)
    found = await findings(world, "robbed")
    assert list(found) == ["waitsForNetwork", "stolenTime"]
    assert found["stolenTime"]["evidence"]["stolenShare"] == pytest.approx(0.12, rel=0.01)
    assert found["stolenTime"]["evidence"]["nodes"] == 4
    assert found["waitsForNetwork"]["evidence"]["networkMiBPerSecond"] == pytest.approx(71, rel=0.05)


async def test_nodes_of_an_unknown_size_offer_the_memory_that_they_report(
    world: World, container: ContainerClient
) -> None:
    size = "standard_l4as_v4"
    tasks = await staged(world, "unknown-size", 8, size=size)

    def memory(own: list[dict[str, Any]]) -> str:
        first = min(map(started, own))
        return "".join(f"mem total={31 * 1024 * MEBI}i {(first + 60 * at) * 10**9}\n" for at in range(60))

    await written(world, container, "unknown-size", tasks, cores=3.9, memory=3.0, size=size, further=memory)
    answer = (await world.get("accounts/demo/jobs/unknown-size/efficiency")).body
    offered = {one["name"]: one["offered"] for one in answer["groups"][0]["figures"]}
    assert (offered["cores"], offered["memory"]) == (4.0, 31 * 1024 * MEBI)
    (found,) = answer["findings"]
    assert (found["code"], found["evidence"]["sufficientSize"]) == ("memoryAboveNeed", "standard_d4lds_v5")


async def test_the_time_limit_of_a_completed_job_is_compared_with_the_time_that_it_took(
    world: World, container: ContainerClient
) -> None:
    await world.poll()
    world.advance(6 * 86_400)
    await add_pool(world.batch, nodes=4, size="standard_d4s_v5", slots=1)
    for job, limit in (("limited", timedelta(days=7)), ("bounded", timedelta(hours=3))):
        await world.batch.create_job(
            models.BatchJobCreateOptions(
                id=job,
                pool_info=models.BatchPoolInfo(pool_id="pool"),
                constraints=models.BatchJobConstraints(max_wall_clock_time=limit),
            )
        )
        await add_tasks(world.batch, TASKS, job=job, command="sleep 300", prefix="frame")
        world.advance(3600)
        await world.batch.begin_terminate_job(job, ENDED)
        world.advance(60)
    for job in ("limited", "bounded"):
        tasks = await polled_tasks(world, job)
        await written(world, container, job, tasks, cores=3.9, memory=12.0, seconds=300)
    found = await findings(world, "limited")
    assert list(found) == ["timeLimitTooLong"]
    evidence = found["timeLimitTooLong"]["evidence"]
    assert (evidence["maxWallClockTime"], evidence["longestRun"]) == (7 * 86_400, 300)
    assert 3600 <= evidence["jobTime"] < 4000
    assert await findings(world, "bounded") == {}


async def _stage_limits(world: World, container: ContainerClient) -> None:
    """Runs jobs whose first task has one limit and whose others have another; the first has the shortest run."""
    await world.poll()
    world.advance(9 * 86_400)
    await add_pool(world.batch, nodes=4, size="standard_d4s_v5", slots=1)
    for job, (own, usual) in LIMITS.items():
        await add_job(world.batch, job)
        for number in range(TASKS):
            limit = usual if number else own
            constraints = models.BatchTaskConstraints(max_wall_clock_time=limit) if limit else None
            name = f"frame-{number:02}"
            options = models.BatchTaskCreateOptions(id=name, command_line="sleep 300", constraints=constraints)
            await world.batch.create_task(job, options)
    world.advance(9000)
    for job in LIMITS:
        first, *others = await polled_tasks(world, job)
        line = record(job, first, cores=3.9, memory=12.0, seconds=290)

        def of_first(own: list[dict[str, Any]], node: str = first["nodeId"], line: str = line) -> str:
            return line if own[0]["nodeId"] == node else ""

        await written(world, container, job, others, cores=3.9, memory=12.0, seconds=300, further=of_first)


async def test_the_time_limit_of_tasks_is_looked_up_for_the_shortest_and_the_longest_run(
    world: World, container: ContainerClient
) -> None:
    await _stage_limits(world, container)
    before = world.emulator.counters["GET /jobs/{jobId}/tasks/{taskId}"]["requests"]
    found = await findings(world, "loose")
    assert list(found) == ["taskTimeLimitTooLong"]
    assert found["taskTimeLimitTooLong"]["evidence"]["exampleTasks"] == ["frame-01", "frame-00"]
    assert await findings(world, "tight") == await findings(world, "mixed") == {}
    limits = {job: (await world.get(f"accounts/demo/jobs/{job}/efficiency")).body["taskLimit"] for job in LIMITS}
    examples = ["frame-01", "frame-00"]
    assert limits["loose"] == {"tasks": examples, "maxWallClockSeconds": 3 * 86_400.0, "reason": None}
    assert limits["tight"] == {"tasks": examples, "maxWallClockSeconds": 3600.0, "reason": None}
    assert limits["mixed"]["maxWallClockSeconds"] is None
    assert limits["mixed"]["reason"] == "The time limit of tasks isn't the same for all that were looked up."
    assert world.emulator.counters["GET /jobs/{jobId}/tasks/{taskId}"]["requests"] - before == 2 * len(LIMITS)
    await add_tasks(world.batch, 1, job="loose", command="sleep 3000", prefix="long")
    world.advance(600)
    await world.poll()
    assert await findings(world, "loose") == {}
    world.advance(3600)
    await world.poll()
    (over,) = (await findings(world, "loose")).values()
    assert 3000 <= over["evidence"]["longestRun"] <= 3000 * 9 / 8
    await world.batch.begin_delete_job("loose")
    world.advance(600)
    await world.poll()
    deleted = (await world.get("accounts/demo/jobs/loose/efficiency")).body
    assert deleted["taskLimit"]["reason"] == "Tasks to look up the time limit of don't exist any more."


async def test_nodes_that_start_for_longer_than_they_run_a_job_are_named(
    world: World, container: ContainerClient
) -> None:
    await world.poll()
    world.advance(7 * 86_400)
    await add_pool(world.batch, "slow-start", nodes=6, size="standard_d4s_v5", slots=1, start="sleep 900")
    await add_job(world.batch, "brief", pool="slow-start")
    await add_tasks(world.batch, TASKS, job="brief", command="sleep 30", prefix="frame")
    for _ in range(40):
        world.advance(60)
        await world.app.fire("tick")
    await world.app.fire("housekeeping")
    tasks = await polled_tasks(world, "brief")
    await written(world, container, "brief", tasks, cores=3.9, memory=12.0, seconds=30)
    found = await findings(world, "brief")
    assert list(found) == ["startUpExceedsWork"]
    evidence = found["startUpExceedsWork"]["evidence"]
    assert evidence["runTime"] == pytest.approx(TASKS * 30, rel=0.01)
    assert evidence["startUpTime"] > 6 * 900
