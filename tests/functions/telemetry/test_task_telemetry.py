"""A task's telemetry through the app: its node's measurements during the run, and none from before or after."""

import os
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from azure.batch import models
from azure.storage.blob.aio import ContainerClient

from local.azurite import StorageAddresses
from local.batch_emulator.core.stamps import stamp
from local.batch_emulator.exports.log_writer import LogWriter
from shared.services.tasks import node_sharing
from tests.emulator.support.staging import add_job, add_pool, add_tasks
from tests.functions.conftest import World

pytestmark = pytest.mark.asyncio(loop_scope="session")
MINUTE = timedelta(minutes=1)


def now(world: World) -> datetime:
    return datetime.fromisoformat(stamp(world.emulator.clock.now))


def used(value: int, at: datetime, tags: str = "") -> str:
    return f"mem{tags} used={value}i {int(at.timestamp()) * 10**9}\n"


async def staged(world: World, day: int) -> dict[str, Any]:
    """Stages two jobs on a node of two slots: `first` ran for 200 s, `second` still runs beside it, `third` waits.

    Each test has its own day, as all have the same node.
    """
    await world.poll()  # finds that the jobs of other tests are deleted
    world.advance(day * 86_400)
    await add_pool(world.batch, nodes=1)
    for job in ("alpha", "beta"):
        await add_job(world.batch, job)
    world.advance(660 - int(now(world).timestamp()) % 60)  # tasks that start together start in the same minute
    await add_tasks(world.batch, 1, job="alpha", command="sleep 200", prefix="first")
    await add_tasks(world.batch, 1, job="beta", command="sleep 10000", prefix="second")
    world.advance(900)
    await add_tasks(world.batch, 2, job="alpha", command="sleep 20000", prefix="third")
    world.advance(60)
    await world.poll()
    return {task["id"]: task for job in ("alpha", "beta")
            for task in (await world.get(f"accounts/demo/jobs/{job}/tasks")).body["value"]}  # fmt: skip


async def written(world: World, container: ContainerClient, task: dict[str, Any], text: str, name: str = "a") -> None:
    """Writes to a blob of the task's node, which the app then reads."""
    path = f"accounts/demo/pools/{task['poolId']}/nodes/{task['nodeId']}/{name}.json"
    blob = container.get_blob_client(path)
    await blob.create_append_blob()
    await blob.append_block(text.encode())
    await world.app.fire("tick")


def sums(body: dict[str, Any]) -> list[float]:
    return [point["sum"] for series in body["telemetry"]["value"] for point in series["points"]]


async def test_a_task_shows_its_nodes_telemetry_during_its_run(world: World, container: ContainerClient) -> None:
    tasks = await staged(world, 1)
    first, second = (
        next(task for name, task in tasks.items() if name.startswith(part)) for part in ("first", "second")
    )
    begin, end = (datetime.fromisoformat(first[name]) for name in ("startTime", "endTime"))
    text = "".join(
        used(value, at) for value, at in ((1, begin - 5 * MINUTE), (2, begin), (4, end), (8, end + 5 * MINUTE))
    )
    await written(world, container, first, text)
    query = f"accounts/demo/jobs/alpha/tasks/{first['id']}/telemetry"
    shown = (await world.get(f"{query}?step=PT1M&name=system.memory")).body
    assert (shown["basis"], shown["reason"], shown["attempts"]) == ("node", None, [])
    assert (shown["startTime"], shown["endTime"], shown["earlierRuns"]) == (first["startTime"], first["endTime"], 0)
    assert (shown["nodeId"], shown["poolId"]) == (first["nodeId"], first["poolId"])
    assert sums(shown) == [2, 4]
    assert shown["sharing"] == {"otherTasks": 1, "complete": True}
    until = (begin + MINUTE).isoformat().replace("+00:00", "Z")
    assert sums((await world.get(f"{query}?step=PT1M&to={until}")).body) == [2]
    other = (await world.get(f"accounts/demo/jobs/beta/tasks/{second['id']}/telemetry?step=PT1M")).body
    assert (other["endTime"], sums(other)) == (None, [2, 4, 8])
    assert other["sharing"]["otherTasks"] == 2  # the first, and the one of the two later ones that has a slot
    table = (await world.get(f"{query}?format=csv")).body.splitlines()
    assert (len(table), table[0].split(",")[0]) == (3, "time")


async def test_in_a_large_job_only_tasks_next_to_the_task_are_checked_for_sharing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks = await staged(world, 4)
    first = next(name for name in tasks if name.startswith("first"))
    for most, is_complete in ((2, False), (3, True)):
        monkeypatch.setattr(node_sharing, "_MAX_TASKS", most)
        shown = (await world.get(f"accounts/demo/jobs/alpha/tasks/{first}/telemetry")).body
        assert shown["sharing"] == {"otherTasks": 1, "complete": is_complete}


async def test_blobs_that_name_a_task_count_alone(world: World, container: ContainerClient) -> None:
    tasks = await staged(world, 2)
    first = next(task for name, task in tasks.items() if name.startswith("first"))
    begin = datetime.fromisoformat(first["startTime"])
    own, other = (f",node_id={first['nodeId']},job_id=ALPHA,task_id={name}" for name in (first["id"], "another"))
    await written(world, container, first, used(1, begin, other), "of-another")
    query = f"accounts/demo/jobs/alpha/tasks/{first['id']}/telemetry?step=PT1H"
    answer = (await world.get(query)).body
    assert (answer["basis"], answer["reason"]) == (
        None, "The telemetry of the node in that time names other tasks only.",
    )  # fmt: skip
    await written(world, container, first, used(2, begin), "of-the-node")
    assert sums((await world.get(query)).body) == [2]
    await written(world, container, first, used(4, begin, f"{own},task_attempt=1"), "of-the-task")
    shown = (await world.get(query)).body
    assert (shown["basis"], shown["attempts"], sums(shown)) == ("task", ["1"], [4])
    text = used(8, begin, f"{own},task_attempt=2") + used(16, begin, other) + used(32, begin, f"{own},task_attempt=3")
    await written(world, container, first, text, "of-several")
    shown = (await world.get(query)).body
    assert (shown["attempts"], sums(shown)) == (["1", "2", "3"], [44])


async def test_a_blob_that_names_the_task_and_a_host_counts(world: World, container: ContainerClient) -> None:
    tasks = await staged(world, 5)
    first = next(task for name, task in tasks.items() if name.startswith("first"))
    begin = datetime.fromisoformat(first["startTime"])
    await written(world, container, first, used(2, begin), "of-the-node")
    blob = container.get_blob_client("loose/metrics.json")
    await blob.create_append_blob()
    for task, value in ((first["id"], 4), ("another", 8)):
        await blob.append_block(used(value, begin, f",host=vm000001,job_id=ALPHA,task_id={task}").encode())
    await world.app.fire("tick")
    shown = (await world.get(f"accounts/demo/jobs/alpha/tasks/{first['id']}/telemetry?step=PT1H")).body
    assert (shown["basis"], sums(shown)) == ("task", [4])


async def test_runs_before_the_latest_are_those_in_the_event_log(
    world: World, container: ContainerClient, azurite: StorageAddresses
) -> None:
    await world.poll()
    world.advance(6 * 86_400)
    await add_pool(world.batch, nodes=1)
    for job in ("alpha", "beta"):
        await add_job(world.batch, job)
    async with LogWriter(world.emulator, azurite.connection_string, os.environ["RESOURCE_LOG_CONTAINER"]) as writer:
        world.advance(600)
        await add_tasks(world.batch, 1, job="alpha", command="sleep 300; exit 3", prefix="failing", retries=2)
        await add_tasks(world.batch, 1, job="beta", command="sleep 10000", prefix="requeued")
        world.advance(500)
        options = models.BatchJobDisableOptions(disable_tasks="requeue")
        await world.batch.begin_disable_job("beta", options)
        world.advance(600)
        await world.batch.begin_enable_job("beta")
        world.advance(300)
        await world.poll()
        await writer.flush()
        await world.app.fire("tick")
    task = (await world.get("accounts/demo/jobs/alpha/tasks")).body["value"][0]
    paths = {job: f"accounts/demo/jobs/{job}/tasks/{name}-00000/telemetry?step=PT1M"
             for job, name in (("alpha", "failing"), ("beta", "requeued"))}  # fmt: skip
    shown = {job: (await world.get(path)).body for job, path in paths.items()}
    assert [(answer["earlierRuns"], len(answer["runsBefore"])) for answer in shown.values()] == [(2, 2), (1, 1)]
    second, first = shown["alpha"]["runsBefore"]
    assert first["startTime"] < first["endTime"] == second["startTime"] < second["endTime"] == task["startTime"]
    (before,) = shown["beta"]["runsBefore"]
    assert {run["nodeId"] for run in (first, second, before)} == {task["nodeId"]}
    stopped = datetime.fromisoformat(before["endTime"])
    assert datetime.fromisoformat(before["startTime"]) + 8 * MINUTE < stopped < now(world) - 14 * MINUTE
    begins = [datetime.fromisoformat(run["startTime"]) + MINUTE for run in (first, second, task)]
    text = "".join(used(value, at) for value, at in zip((1, 2, 4), begins, strict=True))
    await written(world, container, task, text + used(8, stopped + 9 * MINUTE), "of-all-runs")
    for run, value in ((0, 4), (1, 2), (2, 1)):
        answer = (await world.get(f"{paths['alpha']}&run={run}")).body
        assert (sums(answer), answer["earlierRuns"]) == ([value], 2 - run)
    answer = (await world.get(f"{paths['beta']}&run=1")).body
    assert (answer["startTime"], answer["endTime"], sums(answer)) == (before["startTime"], before["endTime"], [1, 2])
    refused = await world.get(f"{paths['beta']}&run=2")
    assert (refused.status, refused.body["error"]["target"]) == (400, "run")


async def test_runs_ended_by_preemption_are_listed_though_batch_counts_none(
    world: World, azurite: StorageAddresses, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.poll()
    world.advance(7 * 86_400)
    await add_pool(world.batch, nodes=0, spot=3)
    await add_job(world.batch, "alpha")
    async with LogWriter(world.emulator, azurite.connection_string, os.environ["RESOURCE_LOG_CONTAINER"]) as writer:
        await add_tasks(world.batch, 6, job="alpha", command="sleep 100000", prefix="long")
        world.advance(600)
        monkeypatch.setattr(world.emulator.settings, "preemptionSeconds", 300.0)
        world.advance(900)
        monkeypatch.undo()
        world.advance(1200)
        await world.poll()
        await writer.flush()
        await world.app.fire("tick")
    listed = "accounts/demo/events?job=alpha&kind={}&maxpagesize=100"
    starts, requeues = [
        (await world.get(listed.format(kind))).body["value"] for kind in ("TaskStartEvent", "TaskRequeueEvent")
    ]
    assert requeues
    for task in (await world.get("accounts/demo/jobs/alpha/tasks")).body["value"]:
        path = f"accounts/demo/jobs/alpha/tasks/{task['id']}/telemetry"
        shown = (await world.get(path)).body
        began = [each for each in starts if each["taskId"] == task["id"]]
        assert (shown["earlierRuns"], len(shown["runsBefore"])) == (len(began) - 1,) * 2
        left = [each["nodeId"] for each in requeues if each["taskId"] == task["id"]]
        assert [run["nodeId"] for run in shown["runsBefore"]] == left
        beyond = (await world.get(f"{path}?run={len(began)}")).body["error"]
        of = f"{len(left)} of its runs" if left else "none"
        assert beyond["message"] == f"The log has {of} before the latest one."


async def test_each_ended_attempt_shows_what_it_used_and_no_list_of_series_has_it(
    world: World, container: ContainerClient
) -> None:
    tasks = await staged(world, 12)
    first, second = (
        next(task for name, task in tasks.items() if name.startswith(part)) for part in ("first", "second")
    )
    end = datetime.fromisoformat(first["endTime"])
    sources = "cpu_time_from=exit_accounting,memory_peak_from=kernel"
    kernels = ended_attempt(first, end, "cpu_time_user=100.25,cpu_time_system=20.5,cpu_time_missed_max=0,read_bytes=7i",
                            tags=f",{sources}")  # fmt: skip
    others = ended_attempt(first | {"id": "another"}, end, "cpu_time_user=1,cpu_time_system=1")
    earlier = ended_attempt(first, end, "duration=3", start=-30) + ended_attempt(
        first, end, "duration=4", start=-86_400
    )
    live = (
        f"batchscope_task,job_id=alpha,task_id={first['id']},task_attempt={began(first)} memory_rss=5i {nanos(end)}\n"
    )
    await written(world, container, first, kernels + others + earlier + live, "attempts")
    path = f"accounts/demo/jobs/alpha/tasks/{first['id']}/telemetry"
    answer = (await world.get(path)).body
    latest, before = answer["endedAttempts"]
    assert (latest["cpuSeconds"], latest["cpuMissed"], latest["cpuSource"]) == (120.75, 0, "exit_accounting")
    assert (latest["memoryPeak"], latest["memorySource"], latest["readBytes"]) == (None, "kernel", 7)
    assert datetime.fromisoformat(latest["startTime"]) == datetime.fromtimestamp(began(first), UTC)
    assert datetime.fromisoformat(latest["endTime"]) == end.replace(microsecond=0)
    assert (before["duration"], before["cpuSeconds"], before["cpuSource"]) == (3, None, None)
    assert {series["name"] for series in answer["telemetry"]["value"]} == {"batchscope.task.memory.usage"}
    node = f"accounts/demo/pools/{first['poolId']}/nodes/{first['nodeId']}/telemetry?from={first['startTime']}"
    shown = {series["name"] for series in (await world.get(node)).body["value"]}
    assert shown == {"batchscope.task.memory.usage"}
    named = (await world.get(f"{path}?name=batchscope.task.attempt.cpu")).body["telemetry"]["value"]
    assert {series["name"] for series in named} == {
        f"batchscope.task.attempt.cpu.{part}" for part in ("time", "missed")
    }
    pool = f"accounts/demo/pools/{first['poolId']}/telemetry?from={first['startTime']}&name=batchscope.task"
    assert {series["name"] for series in (await world.get(pool)).body["value"]} == {"batchscope.task.memory.usage"}
    assert (await world.get(f"accounts/demo/jobs/beta/tasks/{second['id']}/telemetry")).body["endedAttempts"] == []


def began(task: dict[str, Any]) -> int:
    return int(datetime.fromisoformat(task["startTime"]).timestamp())


def nanos(at: datetime) -> int:
    return int(at.timestamp()) * 10**9


def ended_attempt(task: dict[str, Any], end: datetime, fields: str, *, start: int = 0, tags: str = "") -> str:
    """Returns the agent's line at the end of an attempt that began `start` seconds after the task's run."""
    named = f"job_id=alpha,task_id={task['id']},task_attempt={began(task) + start}{tags}"
    return f"batchscope_task_attempt,{named} {fields} {nanos(end)}\n"


async def test_where_nothing_is_shown_a_sentence_says_why(world: World) -> None:
    tasks = await staged(world, 3)
    first = next(task for name, task in tasks.items() if name.startswith("first"))
    waiting = next(task for name, task in tasks.items() if task["state"] == "active")
    answer = (await world.get(f"accounts/demo/jobs/alpha/tasks/{waiting['id']}/telemetry")).body
    assert (answer["reason"], answer["telemetry"], answer["nodeId"]) == ("The task hasn't begun to run.", None, None)
    query = f"accounts/demo/jobs/alpha/tasks/{first['id']}/telemetry"
    answer = (await world.get(query)).body
    assert (answer["reason"], answer["telemetry"]["value"]) == (
        "Nothing of that kind that came from the node in that time can be shown.", [],
    )  # fmt: skip
    answer = (await world.get(f"{query}?to=2020-01-01T00:00:00Z")).body
    assert (answer["reason"], answer["telemetry"]) == ("The task didn't run in the time that is asked for.", None)
    assert (await world.get(f"{query}?to=2020-01-01T00:00:00Z&format=csv")).body.count("\n") == 1
    for asked in ("name=system.mem", "step=PT1S", "from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z", "series=cpu"):
        assert (await world.get(f"{query}?{asked}")).status == 400, asked
    assert (await world.get("accounts/demo/jobs/alpha/tasks/none/telemetry")).status == 404
