"""Statistics and failures of real tasks: each number equals a plain count over Batch's own list."""

import csv
import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from math import ceil
from typing import Any

import pytest
from azure.batch import models

from tests.emulator.support.staging import add_job, add_pool, add_tasks
from tests.functions.conftest import World
from tests.functions.support.seen_metrics import families

pytestmark = pytest.mark.asyncio(loop_scope="session")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


async def _at_work(world: World) -> None:
    """Stages a job half through: tasks that succeed, fail for several causes, run again, run, and wait."""
    await add_pool(world.batch, nodes=5)
    await add_job(world.batch, "mixed")
    await add_tasks(world.batch, 15, job="mixed", command="sleep 20", prefix="a-good")
    await add_tasks(world.batch, 9, job="mixed", command="sleep 3; exit 137", prefix="b-killed", retries=1)
    await add_tasks(world.batch, 4, job="mixed", command="sleep 1; exit 42", prefix="c-own")
    missing = models.ResourceFile(http_url="https://x.blob.core.windows.net/c/missing", file_path="x")
    lost = models.BatchTaskCreateOptions(id="d-lost", command_line="sleep 1", resource_files=[missing])
    await world.batch.create_task("mixed", lost)
    for number in range(25):
        task = models.BatchTaskCreateOptions(id=f"e-{number:02}", command_line="sleep 400", required_slots=2)
        await world.batch.create_task("mixed", task)
    world.advance(900)
    await world.poll()


def _milliseconds(moment: datetime) -> int:
    return (moment - EPOCH) // timedelta(milliseconds=1)


def _waits(done: list[Any]) -> list[float]:
    """Returns the seconds from creation to start of tasks that ran once."""
    once = [task for task in done if not task.execution_info.retry_count and not task.execution_info.requeue_count]
    assert len(once) < len(done)
    return [(_milliseconds(task.execution_info.start_time) - _milliseconds(task.creation_time)) / 1000 for task in once]


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)


async def _listed(world: World) -> list[Any]:
    """Returns the tasks as listed by the official client."""
    return [task async for task in world.batch.list_tasks("mixed")]


def _assert_statistics(durations: dict[str, Any], seconds: list[float]) -> None:
    """Asserts that the answer has the statistics of these seconds; quantiles by the nearest rank."""
    assert durations["tasks"] == len(seconds)
    assert durations["mean"] == pytest.approx(sum(seconds) / len(seconds), rel=1e-12)
    for percent in (50, 90, 99):
        true = sorted(seconds)[ceil(len(seconds) * percent / 100) - 1]
        assert abs(durations[f"p{percent}"] - true) <= durations["relativeError"] * true
    assert durations["relativeError"] == 0.0625


async def test_every_number_of_an_insight_is_that_of_batchs_own_list(world: World) -> None:
    await _at_work(world)
    insight = (await world.get("accounts/demo/jobs/mixed")).body["insight"]
    tasks = await _listed(world)
    done = [task for task in tasks if task.state == "completed" and task.execution_info.start_time]
    assert 20 < len(done) < len(tasks)
    spans = [(task.creation_time, task.execution_info.start_time, task.execution_info.end_time) for task in done]
    stamps = [tuple(map(_milliseconds, span)) for span in spans]
    _assert_statistics(insight["queueWait"], _waits(done))
    _assert_statistics(insight["runTime"], [(end - start) / 1000 for _, start, end in stamps])
    end = _time(insight["throughput"]["asOf"]).replace(second=0, microsecond=0)
    created = _time((await world.get("accounts/demo/jobs/mixed")).body["creationTime"]).replace(second=0, microsecond=0)
    whole = max(1, (end - created) // timedelta(minutes=1))
    for name, minutes in (("last5Minutes", 5), ("last15Minutes", 15), ("lastHour", 60)):
        ends = [task.execution_info.end_time for task in tasks if task.state == "completed"]
        number = sum(end - timedelta(minutes=minutes) <= moment < end for moment in ends)
        assert insight["throughput"]["perMinute"][name] == number / min(minutes, whole)
    assert insight["throughput"]["perMinute"]["lastHour"] > 0
    retries = [task.execution_info.retry_count or 0 for task in tasks if task.execution_info]
    assert (insight["retries"], insight["retriedTasks"]) == (sum(retries), sum(map(bool, retries)))
    assert insight["retries"] == 9
    requeues = [task.execution_info.requeue_count or 0 for task in tasks if task.execution_info]
    assert (insight["requeues"], insight["requeuedTasks"]) == (sum(requeues), sum(map(bool, requeues)))
    slots = Counter[str]()
    for task in tasks:
        slots[str(getattr(task.state, "value", task.state))] += task.required_slots or 1
    assert insight["slots"] == {state: slots[state] for state in ("running", "preparing", "active")}
    assert insight["slots"]["running"]
    assert insight["slots"]["active"]
    assert insight["estimate"]["remaining"] == sum(task.state != "completed" for task in tasks)
    job = (await world.get("accounts/demo/jobs/mixed")).body
    lived = (end - _time(job["creationTime"]).replace(second=0, microsecond=0)) / timedelta(minutes=1)
    numbers = [(span, sum(end - timedelta(minutes=span) <= moment < end for moment in ends)) for span in (5, 15, 60)]
    span, number = next((found for found in numbers if found[1] >= 20), numbers[-1])
    rate = number / min(span, lived)
    takes = _time(insight["estimate"]["completionTime"]) - _time(insight["throughput"]["asOf"])
    assert takes.total_seconds() == ceil(round(insight["estimate"]["remaining"] / rate * 60, 6))


async def test_metrics_count_waits_and_runs_as_in_batchs_own_list(world: World) -> None:
    await _at_work(world)
    scraped = families((await world.get("metrics")).body)
    done = [task for task in await _listed(world) if task.state == "completed" and task.execution_info.start_time]
    spans = [(task.creation_time, task.execution_info.start_time, task.execution_info.end_time) for task in done]
    stamps = [tuple(map(_milliseconds, span)) for span in spans]
    runs = [(end - start) / 1000 for _, start, end in stamps]
    for name, seconds in (("azbatch_task_queue_wait_seconds", _waits(done)), ("azbatch_task_run_seconds", runs)):
        samples = {sample.labels.get("le", sample.name): sample.value for sample in scraped[name].samples}
        assert samples.pop(f"{name}_count") == len(seconds)
        assert samples.pop(f"{name}_sum") == pytest.approx(sum(seconds), rel=1e-12)
        assert len(samples) == 11
        assert len(set(samples.values())) > 1
        assert samples == {bound: sum(value <= float(bound) for value in seconds) for bound in samples}
    insight = (await world.get("accounts/demo/jobs/mixed")).body["insight"]
    (estimate,) = scraped["azbatch_job_estimated_completion_timestamp_seconds"].samples
    assert estimate.value == _time(insight["estimate"]["completionTime"]).timestamp()
    (retries,) = scraped["azbatch_job_task_retries"].samples
    slots = {sample.labels["state"]: sample.value for sample in scraped["azbatch_job_slots"].samples}
    assert (retries.value, slots) == (9, insight["slots"])


async def test_failures_are_grouped_as_in_batchs_own_list(world: World) -> None:
    await _at_work(world)
    answer = (await world.get("accounts/demo/jobs/MIXED/failures")).body
    causes = defaultdict[tuple[Any, ...], list[Any]](list)
    for task in await _listed(world):
        info = task.execution_info
        if info and info.failure_info:
            causes[info.failure_info.category, info.failure_info.code, info.exit_code].append(task)
    assert len(causes) == 3
    assert (answer["failed"], answer["ungrouped"]) == (14, 0)
    assert [group["count"] for group in answer["groups"]] == [9, 4, 1]
    for group in answer["groups"]:
        failed = next(tasks for cause, tasks in causes.items() if _is_of(group, cause))
        ends = [task.execution_info.end_time for task in failed]
        nodes = Counter(task.node_info.node_id for task in failed if task.node_info)
        assert group["count"] == len(failed)
        assert _milliseconds(_time(group["firstTime"])) == _milliseconds(min(ends))
        assert _milliseconds(_time(group["lastTime"])) == _milliseconds(max(ends))
        assert {node["nodeId"]: node["count"] for node in group["nodes"]} == nodes
        assert group["otherNodes"] == len(failed) - nodes.total()
        assert group["tasks"] == sorted(task.id for task in failed)[:5]
    advice = {group["exitCode"]: group["advice"] for group in answer["groups"]}
    assert "out of memory" in advice[137]
    assert advice[42] is None
    assert "resource file" in advice[None]
    assert len({group["id"] for group in answer["groups"]}) == 3


def _is_of(group: dict[str, Any], cause: Iterable[Any]) -> bool:
    category, code, exit_code = cause
    shown = (group["category"].lower(), group["code"], group["exitCode"])
    return shown == (str(getattr(category, "value", category)).lower(), code, exit_code)


async def test_insight_and_failures_come_from_storage(world: World) -> None:
    await _at_work(world)
    before = {name: counter["requests"] for name, counter in world.emulator.counters.items()}
    await world.get("accounts/demo/jobs/mixed/failures")
    await world.get("accounts/demo/jobs/mixed")
    asked = {name for name, counter in world.emulator.counters.items() if counter["requests"] != before.get(name)}
    assert not [name for name in asked if "jobs" in name]


async def test_a_job_without_failures_has_no_groups_and_one_without_tasks_nothing_to_estimate(world: World) -> None:
    await add_job(world.batch, "empty")
    await world.poll()
    failures = (await world.get("accounts/demo/jobs/empty/failures")).body
    assert (failures["failed"], failures["groups"], failures["ungrouped"]) == (0, [], 0)
    job = (await world.get("accounts/demo/jobs/empty")).body
    assert failures["asOf"] == job["verdict"]["asOf"] == job["insight"]["throughput"]["asOf"]
    assert (job["insight"]["queueWait"], job["insight"]["runTime"]) == (None, None)
    assert job["insight"]["estimate"] == {
        "completionTime": None, "basis": None, "remaining": 0, "reason": "The job has no tasks."
    }  # fmt: skip


async def test_insight_is_in_the_table_of_jobs(world: World) -> None:
    await _at_work(world)
    (cells,) = csv.DictReader((await world.get("accounts/demo/jobs?format=csv")).body.splitlines())
    insight = (await world.get("accounts/demo/jobs/mixed")).body["insight"]
    assert float(cells["insight.throughput.perMinute.lastHour"]) == insight["throughput"]["perMinute"]["lastHour"]
    assert float(cells["insight.queueWait.mean"]) == insight["queueWait"]["mean"]
    assert int(cells["insight.slots.active"]) == insight["slots"]["active"]
    assert json.loads(cells["failedTasks"]) == {"userCode": 4, "outOfMemory": 9, "dataAccess": 1}


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [("nope/failures", 404, "nope"), ("mixed/failures?state=active", 400, "takes none")],
)
async def test_a_bad_request_for_failures_gets_a_specific_error(
    world: World, path: str, status: int, words: str
) -> None:
    answer = await world.get(f"accounts/demo/jobs/{path}")
    assert answer.status == status
    assert words in answer.body["error"]["message"]
