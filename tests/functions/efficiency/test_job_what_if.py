"""What-if answers through the app: replays of a job that the emulator ran, with prices."""

from datetime import datetime, timedelta

import pytest
from azure.batch import models

from tests.emulator.support.staging import add_job, add_pool, add_tasks
from tests.functions.conftest import World
from tests.functions.support.priced_pools import add_priced_pool

pytestmark = pytest.mark.asyncio(loop_scope="session")
TASKS = 24


async def staged(world: World, job: str, day: int, *, seconds: int = 7200) -> str:
    """Runs a job's tasks on four nodes of four vCPUs, on a day of its own; returns the path of its what-if."""
    await world.poll()
    world.advance(day * 86_400)
    await add_pool(world.batch, nodes=4, size="standard_d4s_v5", slots=1)
    await add_job(world.batch, job)
    world.advance(600)
    await add_tasks(world.batch, TASKS, job=job, command="sleep 600", prefix="frame")
    world.advance(seconds)
    await world.poll()
    return f"accounts/demo/jobs/{job}/whatif"


async def test_a_replay_ends_as_the_job_did_and_one_with_more_slots_sooner(world: World) -> None:
    path = await staged(world, "asked", 1)
    answer = (await world.get(f"{path}?slots=2")).body
    assert (answer["tasks"], answer["replayedTasks"], answer["measuredRuns"]) == (TASKS, TASKS, 0)
    was, asked = answer["asItWas"], answer["asked"]
    assert (was["nodes"], was["slotsPerNode"], was["vmSize"], was["spot"]) == (4, 1, "standard_d4s_v5", False)
    assert (asked["nodes"], asked["slotsPerNode"]) == (4, 2)
    assert was["seconds"]["expected"] == pytest.approx(answer["seconds"], rel=0.01)
    assert asked["seconds"]["expected"] == pytest.approx(answer["seconds"] / 2, rel=0.02)
    assert asked["seconds"]["low"] < asked["seconds"]["expected"] < asked["seconds"]["high"]
    parts = sum(part["nodeSeconds"] for part in asked["uses"])
    assert parts == pytest.approx(asked["nodeSeconds"]["expected"], rel=0.01)
    assert any("CPUs wasn't measured" in text for text in answer["assumptions"])
    unchanged = (await world.get(path)).body
    assert unchanged["asked"] == unchanged["asItWas"] | {"seconds": unchanged["asked"]["seconds"]}

    table = (await world.get(f"{path}?nodes=8&format=csv")).body.splitlines()
    assert table[0] == "scenario,figure,unit,expected,low,high"
    assert any(line.startswith("asked,seconds,s,18") for line in table), table


async def test_what_cannot_be_replayed_is_refused_with_a_sentence(world: World) -> None:
    path = await staged(world, "refused", 2)
    unknown = await world.get(f"{path}?vmSize=standard_z9")
    assert (unknown.status, unknown.body["error"]["target"]) == (400, "vmSize")
    assert unknown.body["error"]["message"] == (
        "The vCPUs and memory of 'standard_z9' aren't known here, so nothing is said of it."
    )
    many = await world.get(f"{path}?slots=17")
    assert (many.status, many.body["error"]["target"]) == (400, "slots")
    assert many.body["error"]["message"] == (
        "Batch allows at most 16 slots on a node of standard_d4s_v5, as it has 4 vCPUs."
    )
    assert (await world.get(f"{path}?slots=16")).status == 200
    assert (await world.get(f"{path}?slots=0")).status == 400
    assert (await world.get("accounts/demo/jobs/none/whatif")).status == 404


async def test_a_job_without_ended_tasks_says_so(world: World) -> None:
    path = await staged(world, "waiting", 3, seconds=60)
    answer = (await world.get(path)).body
    assert (answer["tasks"], answer["asItWas"], answer["asked"]) == (0, None, None)
    assert answer["reason"] == "No task of the job has ended with a run so far, so there is nothing to replay."


async def test_costs_follow_the_price_of_the_priority(world: World) -> None:
    await add_priced_pool(world, "priced", nodes=3)
    await add_job(world.batch, "priced", pool="priced")
    await add_tasks(world.batch, 12, job="priced", command="sleep 600", prefix="frame")
    world.advance(7200)
    await world.poll()
    await world.app.fire("housekeeping")
    answer = (await world.get("accounts/demo/jobs/priced/whatif?spot=true")).body
    was, asked = answer["asItWas"], answer["asked"]
    assert (was["spot"], asked["spot"], was["noPrice"], asked["noPrice"]) == (False, True, None, None)
    (price,) = (await world.get("accounts/demo/prices")).body["value"]
    hourly, spot = (one["cost"]["expected"] / one["nodeSeconds"]["expected"] * 3600 for one in (was, asked))
    assert hourly == pytest.approx(price["hourly"], rel=0.001)
    assert 0 < spot < hourly
    for scenario in (was, asked):
        assert sum(part["cost"] for part in scenario["uses"][1:]) == pytest.approx(scenario["waste"], abs=0.0001)
    larger = (await world.get("accounts/demo/jobs/priced/whatif?vmSize=Standard_D8s_v5")).body["asked"]
    assert (larger["vmSize"], larger["cost"]) == ("standard_d8s_v5", None)
    assert larger["noPrice"] == "The retail prices of this size and region haven't been read yet."


async def test_that_single_dependencies_are_not_replayed_is_said(world: World) -> None:
    await world.poll()
    await add_pool(world.batch, "chain", nodes=1, size="standard_d4s_v5", slots=1)
    await world.batch.create_job(
        models.BatchJobCreateOptions(
            id="chain", pool_info=models.BatchPoolInfo(pool_id="chain"), uses_task_dependencies=True
        )
    )
    for number in range(5):
        needs = models.BatchTaskDependencies(task_ids=[f"s-{number - 1}"]) if number else None
        task = models.BatchTaskCreateOptions(id=f"s-{number}", command_line="sleep 60", depends_on=needs)
        await world.batch.create_task("chain", task)
    world.advance(3600)
    await world.poll()
    answer = (await world.get("accounts/demo/jobs/chain/whatif?nodes=5")).body
    assert answer["asked"]["seconds"]["expected"] < answer["seconds"] / 2
    (text,) = [text for text in answer["assumptions"] if "ependencies" in text]
    assert text == (
        "Groups of tasks that began after others had ended wait for these. Dependencies of single tasks aren't"
        " replayed: where each waits for one before it, the job takes longer than this says."
    )


async def add_wide_task(world: World, job: str, name: str) -> None:
    """Adds a task that requires two slots."""
    await world.batch.create_task(
        job, models.BatchTaskCreateOptions(id=name, command_line="sleep 600", required_slots=2)
    )


async def test_a_replay_begins_with_the_first_task_that_ran(world: World) -> None:
    await world.poll()
    world.advance(4 * 86_400)
    await add_pool(world.batch, nodes=4, size="standard_d4s_v5", slots=1)
    await add_job(world.batch, "later")
    world.advance(600)
    await add_wide_task(world, "later", "early")
    world.advance(60)
    await world.batch.terminate_task("later", "early")
    world.advance(3600)
    await add_tasks(world.batch, TASKS, job="later", command="sleep 600", prefix="frame")
    world.advance(7200)
    await world.poll()
    tasks = (await world.get("accounts/demo/jobs/later/tasks?maxpagesize=100")).body["value"]
    ran = [task for task in tasks if task["startTime"]]
    assert (len(tasks), len(ran)) == (TASKS + 1, TASKS)
    answer = (await world.get("accounts/demo/jobs/later/whatif?nodes=8")).body
    assert answer["begin"] == min(task["creationTime"] for task in ran)
    end = datetime.fromisoformat(max(task["endTime"] for task in ran))
    assert abs(datetime.fromisoformat(answer["end"]) - end) < timedelta(seconds=2)
    assert answer["tasks"] == TASKS


async def test_a_job_whose_pool_has_fewer_slots_by_now_is_not_replayed(world: World) -> None:
    await world.poll()
    world.advance(5 * 86_400)
    await add_pool(world.batch, "narrowed", nodes=2, size="standard_d4s_v5", slots=4)
    await add_job(world.batch, "wide", pool="narrowed")
    for number in range(4):
        await add_wide_task(world, "wide", f"frame-{number}")
    world.advance(7200)
    await world.poll()
    await world.batch.begin_delete_pool("narrowed")
    world.advance(3600)
    await add_pool(world.batch, "narrowed", nodes=2, size="standard_d4s_v5", slots=1)
    world.advance(600)
    await world.poll()
    for query in ("", "?slots=4"):
        answer = await world.get(f"accounts/demo/jobs/wide/whatif{query}")
        assert answer.status == 200, answer.body
        assert (answer.body["asItWas"], answer.body["asked"]) == (None, None)
        assert answer.body["reason"] == (
            "Tasks of the job required more slots than a node of its pool has now: it was changed since, so how the"
            " job ran isn't known."
        )
