"""The history of a job through the real worker: the counts of each poll as JSON and CSV, and refused requests."""

from collections import Counter
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote

import pytest

from local.batch_emulator.core.stamps import stamp
from tests.emulator.support.staging import add_job, add_pool, add_tasks
from tests.functions.conftest import World

pytestmark = pytest.mark.asyncio(loop_scope="session")
JOB = "history-1"  # no other test has it: histories outlive jobs
HISTORY = f"accounts/demo/jobs/{JOB.upper()}/history"


async def _polled(world: World, polls: int = 6) -> list[dict[str, Any]]:
    """Polls a changing job each minute; returns the job as reported each time."""
    await add_pool(world.batch, nodes=2)
    await add_job(world.batch, JOB)
    await add_tasks(world.batch, 20, job=JOB, command="sleep 90")
    jobs = []
    for _ in range(polls):
        world.advance(60)
        await world.poll()
        jobs.append((await world.get(f"accounts/demo/jobs/{JOB}")).body)
    return jobs


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)


async def test_a_history_has_the_counts_of_each_poll(world: World) -> None:
    jobs = await _polled(world)
    found = (await world.get(f"{HISTORY}?step=PT1M")).body
    assert (found["step"], len(found["value"])) == ("PT1M", 1440)
    assert _time(found["to"]) - _time(found["from"]) == timedelta(days=1)
    known = [point for point in found["value"] if point["taskCounts"]]
    assert [point["time"] for point in found["value"]] == sorted(point["time"] for point in found["value"])
    assert found["value"][0] == {"time": found["value"][0]["time"], "asOf": None, "exact": None, "taskCounts": None}
    counts = {point["asOf"]: point["taskCounts"] for point in known}
    assert len({str(one) for one in counts.values()}) > 2
    for job in jobs:
        if job["verdict"]["level"] == "exact" and job["verdict"]["asOf"] in counts:
            assert counts[job["verdict"]["asOf"]] == job["taskCounts"]
    assert set(counts) & {job["verdict"]["asOf"] for job in jobs[:-1]}
    coarse = (await world.get(HISTORY)).body
    assert (coarse["step"], len(coarse["value"])) == ("PT5M", 288)


async def test_a_point_equals_batchs_own_list_at_its_time(world: World) -> None:
    """Polls and points end at whole minutes, so each point has the counts of the list at the same moment."""
    await add_pool(world.batch, nodes=2)
    await add_job(world.batch, JOB)
    await add_tasks(world.batch, 12, job=JOB, command="sleep 90")
    await add_tasks(world.batch, 4, job=JOB, command="sleep 5; exit 3", prefix="wrong")
    listed = {}
    for _ in range(6):
        world.advance(60 - _time(stamp(world.emulator.clock.now)).timestamp() % 60)
        await world.poll()
        job = (await world.get(f"accounts/demo/jobs/{JOB}")).body
        listed[_time(job["verdict"]["asOf"])] = await _counted(world)
    end = quote(job["verdict"]["asOf"])
    points = (await world.get(f"{HISTORY}?to={end}&step=PT1M")).body["value"]
    found = {_time(point["time"]): point["taskCounts"] for point in points if _time(point["time"]) in listed}
    assert found == listed
    assert len({str(counts) for counts in found.values()}) > 3


async def _counted(world: World) -> dict[str, int]:
    tasks = [task.as_dict() async for task in world.batch.list_tasks(JOB)]
    seen = Counter(task["state"] for task in tasks)
    results = Counter(task.get("executionInfo", {}).get("result") for task in tasks)
    states = {state: seen[state] for state in ("active", "preparing", "running", "completed")}
    return {**states, "succeeded": results["success"], "failed": results["failure"], "total": len(tasks)}


async def test_a_history_is_a_table_where_that_is_asked_for(world: World) -> None:
    await _polled(world, 3)
    table = await world.get(f"{HISTORY}?step=PT1M&format=csv")
    assert table.headers["content-type"] == "text/csv; charset=utf-8"
    header, *lines = table.body.splitlines()
    assert header == "time,asOf,exact," + ",".join(
        f"taskCounts.{name}" for name in ("active", "preparing", "running", "completed", "succeeded", "failed", "total")
    )
    assert len(lines) == 1440
    assert lines[0].endswith(",,,,,,,,,")
    assert any(line.endswith(",20") for line in lines)


async def test_a_deleted_job_still_has_its_history(world: World) -> None:
    jobs = await _polled(world, 3)
    await world.batch._delete_job_internal(JOB)
    world.advance(120)
    await world.poll()
    end = quote((_time(jobs[-1]["verdict"]["checkedAt"]) + timedelta(minutes=1)).isoformat())  # the next whole minute
    assert (await world.get(f"accounts/demo/jobs/{JOB}")).body["deleted"]
    found = (await world.get(f"{HISTORY}?to={end}&step=PT1M")).body
    assert found["value"][-1]["taskCounts"] == jobs[-1]["taskCounts"]


@pytest.mark.parametrize(
    ("query", "target", "words"),
    [
        ("from=2026-11-21T08:00:00Z&to=2026-11-21T07:00:00Z", "from", "after it ends"),
        ("step=PT90S", "step", "a whole number of minutes"),
        ("step=PT0S", "step", "a whole number of minutes"),
        ("step=P1M", "step", "it is a duration like PT15M"),
        ("step=soon", "step", "can't be 'soon'; it is a duration like PT15M"),
        ("from=yesterday", "from", "a time with its zone, like 2026-01-31T12:00:00Z"),
        ("to=2026-11-21T08:00:00", "to", "a time with its zone"),
        ("from=2026", "from", "can't be '2026'; it is a time with its zone"),
        ("to=1.7e9", "to", "a time with its zone"),
        ("step=60", "step", "a duration like PT15M"),
        ("from=2020-01-01T00:00:00Z&step=PT5M", "step", "kept for 7 days"),
        ("from=2020-01-01T00:00:00Z&to=2021-01-01T00:00:00Z&step=PT15M", "step", "35,136 points"),
        ("format=xml", "format", "json"),
        ("start=2026-11-21T08:00:00Z", "start", "Known are: format, from, step, to."),
    ],
)
async def test_an_invalid_range_gets_a_specific_error(world: World, query: str, target: str, words: str) -> None:
    answer = await world.get(f"{HISTORY}?{query}")
    assert (answer.status, answer.body["error"]["target"]) == (400, target)
    assert words in answer.body["error"]["message"]


async def test_a_job_that_never_was_has_no_history(world: World) -> None:
    for name in ("nope", "n" * 3000):
        answer = await world.get(f"accounts/demo/jobs/{name}/history")
        assert (answer.status, answer.body["error"]["target"]) == (404, "job")
