"""The queue of a pool: who goes first, by the API beforehand and by the emulator's dispatch afterwards."""

import csv
import io
from collections import defaultdict
from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any

import pytest
import pytest_asyncio
from azure.batch import models

from tests.emulator.support.staging import add_job, add_pool, add_tasks
from tests.functions.conftest import World
from tests.functions.explanation.waiting_jobs import emptied
from tests.functions.pools.foretold import true_held, violations, waiting_slots
from tests.functions.pools.queue_stages import STAGES, stage_all

pytestmark = pytest.mark.asyncio(loop_scope="session")
_NEXT = 20
type Starts = dict[str, list[tuple[str, dict[str, int], dict[str, int], set[str]]]]
"""The jobs of the first tasks that started, by pool.

Each has the numbers of running and held tasks before, and the jobs whose startable tasks are all wider than that task.
"""


async def queue_of(world: World, pool: str = "pool", query: str = "") -> dict[str, Any]:
    found = await world.get(f"accounts/demo/pools/{pool}/queue{query}")
    assert found.status == 200, found.body
    assert isinstance(found.body, dict)
    return found.body


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def staged(_running: World) -> AsyncIterator[tuple[dict[str, Any], dict[str, int], Starts]]:
    """Yields the queues of all stages by pool, the numbers of held tasks by job, and the tasks dispatched next."""
    world = await _running.staged_once(stage_all)
    await world.app.fire("tick")
    await world.app.fire("tick")  # which reads the dependencies of three jobs after each
    queues = {f"p{number}": await queue_of(world, f"p{number}") for number in range(len(STAGES))}
    account, held = world.emulator.simulations["demo"].account, dict[str, int]()
    for pool in queues:
        held |= true_held(account, pool)
    dispatched: Starts = defaultdict(list)
    tasks = world.emulator.simulations["demo"].tasks
    assign = tasks.assign

    def recorded(job: Any, task: Any, node: Any) -> None:
        starts, jobs = dispatched[job.pool_id], job.account.jobs.values()
        if len(starts) < _NEXT:
            running = {other.id: len(other.runs) for other in jobs if other.pool_id == job.pool_id}
            startable = waiting_slots(job.account, job.pool_id, held=False)
            passed = {name for name, slots in startable.items() if min(slots, default=0) > task.slots}
            starts.append((job.id, running, true_held(job.account, job.pool_id), passed))
        assign(job, task, node)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tasks, "assign", recorded)
        for _ in range(60):
            world.advance(10)
    yield queues, held, dispatched


@pytest.mark.parametrize("number", range(len(STAGES)), ids=list(STAGES))
async def test_the_next_tasks_that_are_dispatched_are_those_of_the_queue(
    staged: tuple[dict[str, Any], dict[str, int], Starts], number: int
) -> None:
    queue, starts = staged[0][f"p{number}"], staged[2][f"p{number}"]
    dispatched, running, held = [one[0] for one in starts], [one[1] for one in starts], [one[2] for one in starts]
    passed = [one[3] for one in starts]
    stage = list(STAGES.values())[number]
    assert {job["id"] for job in queue["value"]} == {f"p{number}-{job.name}" for job in stage.jobs}
    assert queue["jobDefaultOrder"] == ("creationtime" if stage.oldest_first else "none")
    assert [job["id"] for job in queue["value"] if job["readyTasks"] is None] == []
    ready = sum(job["readyTasks"] for job in queue["value"])
    assert len(dispatched) >= min(ready, _NEXT)
    assert {job["id"]: job["heldTasks"] for job in queue["value"]} == {
        job["id"]: staged[1][job["id"]] for job in queue["value"]
    }
    assert violations(queue, dispatched, running, held, passed) == []
    for job in stage.jobs:
        assert (f"p{number}-{job.name}" in dispatched) or not job.runs
    assert queue["unknown"] == []


@pytest_asyncio.fixture(loop_scope="session")
async def world(_running: World) -> World:
    return await emptied(_running)


async def test_the_queue_is_bounded_and_counts_the_jobs_beyond(world: World) -> None:
    await add_pool(world.batch, nodes=1)
    for number in range(5):
        await add_job(world.batch, f"job-{number}", priority=-number)
        await add_tasks(world.batch, 3, job=f"job-{number}", command="sleep 3000")
    world.advance(200)
    await world.poll()
    queue = await queue_of(world, query="?top=2")
    assert [job["id"] for job in queue["value"]] == ["job-0", "job-1"]
    assert [(job["waitingTasks"], job["runningTasks"], job["waitingSlots"]) for job in queue["value"]] == [
        (1, 2, 1), (3, 0, 3),
    ]  # fmt: skip
    assert (queue["count"], queue["moreJobs"], queue["waitingTasks"], queue["freeSlots"]) == (5, 3, 13, 0)
    assert (await world.get("accounts/demo/pools/pool/queue?top=101")).status == 400


async def test_the_queue_is_also_a_table_in_the_same_order(world: World) -> None:
    await add_pool(world.batch, nodes=1)
    for number in range(3):
        await add_job(world.batch, f"job-{number}", priority=-number)
        await add_tasks(world.batch, 3, job=f"job-{number}", command="sleep 3000")
    world.advance(200)
    await world.poll()
    table = await world.get("accounts/demo/pools/pool/queue?format=csv&top=2")
    rows = list(csv.DictReader(io.StringIO(table.body)))
    shown = [(row["id"], row["rank"], row["waitingTasks"], row["share"], row["cause"]) for row in rows]
    listed = (await queue_of(world, query="?top=2"))["value"]
    assert shown == [
        (job["id"], str(job["rank"]), str(job["waitingTasks"]), str(job["share"]), job["cause"]) for job in listed
    ]
    assert (len(rows), table.headers["batchscope-count"]) == (2, "3")


async def test_the_queue_shows_when_each_job_may_start_and_why_not_before(world: World) -> None:
    await add_pool(world.batch, nodes=2)
    await add_job(world.batch, "high", priority=5)
    await add_tasks(world.batch, 400, job="high", command="sleep 20")
    await add_job(world.batch, "low")
    await add_tasks(world.batch, 9, job="low", command="sleep 20")
    for _ in range(8):
        world.advance(60)
        await world.app.fire("tick")
    queue = await queue_of(world)
    high, low = queue["value"]
    assert (high["rank"], high["cause"], high["title"]) == (1, "slotsBusy", "All slots of the pool 'pool' are busy")
    assert (low["rank"], low["cause"]) == (2, "higherPriorityJobs")
    assert low["title"] == f"{high['readyTasks']} tasks of a job of higher priority go first"
    rate = queue["tasksEndedPerMinute"]
    assert 5 < rate < 15
    waits = [
        datetime.fromisoformat(job["expectedStart"]) - datetime.fromisoformat(queue["asOf"]) for job in (high, low)
    ]
    assert [wait.total_seconds() for wait in waits] == [
        pytest.approx(60 / rate, abs=1), pytest.approx((high["readyTasks"] + 1) * 60 / rate, abs=1),
    ]  # fmt: skip
    assert (high["reason"], low["reason"], queue["unknown"]) == (None, None, [])
    found = (await world.get("accounts/demo/jobs/low/explanation")).body["findings"][0]
    assert (found["code"], found["title"]) == (low["cause"], low["title"])


async def test_slots_that_a_job_retakes_do_not_count_for_those_behind_it(world: World) -> None:
    await add_pool(world.batch, nodes=2)
    await add_job(world.batch, "high", priority=5, most=3)
    await add_tasks(world.batch, 400, job="high", command="sleep 20")
    await add_job(world.batch, "low")
    await add_tasks(world.batch, 15, job="low", command="sleep 100")
    for _ in range(12):
        world.advance(60)
        await world.app.fire("tick")
    await add_job(world.batch, "last", priority=-5)
    await add_tasks(world.batch, 1, job="last", command="sleep 20")
    await world.poll()
    queue = await queue_of(world)
    high, _, last = queue["value"]
    assert [(job["id"], job["rank"], job["maxParallelTasks"]) for job in queue["value"]] == [
        ("high", 1, 3), ("low", 2, None), ("last", 3, None),
    ]  # fmt: skip
    assert (high["readyTasks"], high["runningTasks"], high["share"], high["cause"]) == (0, 3, 0, "maxParallelTasks")
    assert high["expectedStart"] is None
    assert high["reason"].startswith("Its next task starts when one of its own ends")
    explained = (await world.get("accounts/demo/jobs/last/explanation")).body["findings"][0]
    assert "Slots that running tasks of 'high' (3) free go to waiting tasks of the same job" in explained["detail"]
    assert explained["evidence"]["slotsRetaken"] == 3
    expected = datetime.fromisoformat(last["expectedStart"])
    assert explained["evidence"]["estimatedWait"] == pytest.approx(
        (expected - datetime.fromisoformat(queue["asOf"])).total_seconds(), abs=60
    )
    while (task := await world.batch.get_task("last", "task-00000")).state == "active":
        world.advance(10)
    began = task.state_transition_time
    assert began
    asked = datetime.fromisoformat(queue["asOf"])
    assert (began - asked) / (expected - asked) == pytest.approx(1, abs=0.25)


async def test_jobs_that_were_deleted_or_completed_are_not_in_the_queue(world: World) -> None:
    await add_pool(world.batch, nodes=1)
    for name in ("gone", "ended", "kept"):
        await add_job(world.batch, name)
        await add_tasks(world.batch, 4, job=name, command="sleep 3000")
    world.advance(200)
    await world.poll()
    assert (await queue_of(world))["count"] == 3
    await world.batch.begin_delete_job("gone")
    reason: Any = {"terminateReason": "enough"}
    await world.batch.begin_terminate_job("ended", reason)
    world.advance(30)
    for _ in range(3):
        await world.poll()
        world.advance(60)
    assert [job["id"] for job in (await queue_of(world))["value"]] == ["kept"]


async def test_an_empty_queue_has_no_jobs_and_an_unknown_pool_no_queue(world: World) -> None:
    await add_pool(world.batch, nodes=1)
    world.advance(200)
    await world.poll()
    queue = await queue_of(world)
    assert (queue["value"], queue["count"], queue["moreJobs"], queue["waitingTasks"]) == ([], 0, 0, 0)
    assert (await world.get("accounts/demo/pools/other/queue")).body["error"]["code"] == "PoolNotFound"


async def test_an_order_of_jobs_that_nobody_knows_is_said_to_be_unknown(world: World) -> None:
    await add_pool(world.batch, nodes=1)
    pool = world.emulator.simulations["demo"].account.pools["pool"]
    pool.spec["taskSchedulingPolicy"] = {"jobDefaultOrder": "shortestFirst"}
    for name in ("a", "b"):
        await add_job(world.batch, name)
        await add_tasks(world.batch, 9, job=name, command="sleep 3000")
    world.advance(200)
    await world.poll()
    queue = await queue_of(world)
    assert (queue["jobDefaultOrder"], [job["share"] for job in queue["value"]]) == (None, [None, None])
    (unknown,) = queue["unknown"]
    assert unknown.startswith("What the jobDefaultOrder of the pool 'pool' means isn't known")
    assert (await world.get("accounts/demo/jobs/a/explanation")).body["unknown"] == queue["unknown"]


async def test_however_few_jobs_are_listed_those_that_cannot_start_do_not_go_first(world: World) -> None:
    await add_pool(world.batch, nodes=1)
    await add_job(world.batch, "next", priority=-9)
    await add_tasks(world.batch, 5, job="next", command="sleep 3000")
    wide = [models.BatchTaskCreateOptions(id=f"t{each}", command_line="sleep 5", required_slots=4) for each in range(3)]
    waits = models.BatchTaskDependencies(task_ids=["none"])
    held = models.BatchTaskCreateOptions(id="held", command_line="sleep 5", depends_on=waits)
    for number in range(8):
        await add_job(world.batch, f"wide-{number}", priority=number)
        await world.batch.create_task_collection(f"wide-{number}", models.BatchTaskGroup(task_values=wide))
        await world.batch.create_job(
            models.BatchJobCreateOptions(
                id=f"held-{number}",
                pool_info=models.BatchPoolInfo(pool_id="pool"),
                priority=9,
                uses_task_dependencies=True,
            )
        )
        await world.batch.create_task(f"held-{number}", held)
    world.advance(200)
    await world.poll()
    for _ in range(4):
        await world.app.fire("tick")  # each reads the dependencies of three jobs
        world.advance(60)
    for top in (1, 2, 20):
        queue = await queue_of(world, query=f"?top={top}")
        first, *others = queue["value"]
        assert (first["id"], first["rank"], first["cause"]) == ("next", 1, "slotsBusy")
        assert [job["rank"] for job in others] == [None] * (min(top, 17) - 1)
        assert queue["unknown"] == []
    found = (await world.get("accounts/demo/jobs/next/explanation")).body["findings"]
    assert found[0]["code"] == "slotsBusy"


async def test_tasks_of_several_slots_are_shown_with_them(world: World) -> None:
    await add_pool(world.batch, nodes=1, slots=4)
    await add_job(world.batch)
    await world.batch.create_task_collection(
        "job",
        models.BatchTaskGroup(
            task_values=[
                models.BatchTaskCreateOptions(id=f"t{slots}", command_line="sleep 3000", required_slots=slots)
                for slots in (4, 3, 2, 8)
            ]
        ),
    )
    world.advance(200)
    await world.poll()
    (job,) = (await queue_of(world))["value"]
    assert (job["waitingTasks"], job["waitingSlots"], job["leastSlots"], job["mostSlots"]) == (3, 13, 2, 8)


async def test_the_queue_asks_batch_for_nothing(world: World) -> None:
    await add_pool(world.batch, nodes=1)
    await add_job(world.batch)
    await add_tasks(world.batch, 9, command="sleep 3000")
    world.advance(200)
    await world.poll()
    before = dict(world.emulator.counters)
    await queue_of(world)
    assert world.emulator.counters == before
