"""Why a job doesn't run: situations staged in the emulator, each answered with the right cause first."""

from datetime import datetime, timedelta
from typing import Any

import pytest
import pytest_asyncio
from azure.batch import models

from tests.emulator.support.staging import add_pool, add_tasks
from tests.functions.conftest import ROOT, World
from tests.functions.explanation.situations import SITUATIONS
from tests.functions.explanation.waiting_combinations import hold_urgent_tasks
from tests.functions.explanation.waiting_jobs import (
    EXPLANATION,
    add_dependent,
    add_job,
    busy,
    dependent,
    emptied,
    explained,
    start_fails,
    waiting,
)

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(loop_scope="session")
async def world(_running: World) -> World:
    return await emptied(_running)


@pytest.mark.parametrize("name", SITUATIONS)
async def test_a_situation_is_answered_with_its_cause_first(world: World, name: str) -> None:
    situation = SITUATIONS[name]
    await situation.stage(world)
    answer = await explained(world, job=situation.job)
    first, *others = answer["findings"]
    assert (first["code"], first["severity"]) == (situation.code, situation.severity), answer
    assert answer["running"] == situation.running
    assert all(other["severity"] != "blocking" for other in others)
    assert answer["unknown"] == []
    assert answer["summary"].lower().endswith(f": {first['title'].lower()}.")
    text = f"{first['title']} {first['detail']} {first['advice']}"
    assert [words for words in situation.words if words not in text] == [], text
    check_advice(world, answer)
    check_estimate((await world.jobs())[situation.job], answer)


def check_advice(world: World, answer: dict[str, Any]) -> None:
    """Asserts that no advice is to resize a pool with a formula, which Batch refuses."""
    pools = world.emulator.simulations["demo"].account.pools
    for finding in answer["findings"]:
        pool = pools.get(finding["evidence"].get("poolId", ""))
        if pool and pool.is_autoscaled:
            advice = finding["advice"].lower()
            assert "resize the pool" not in advice
            assert "make the pool larger" not in advice


def check_estimate(job: dict[str, Any], answer: dict[str, Any]) -> None:
    """Asserts that the job has no estimated end if nothing starts, and none before its next task starts."""
    estimate, first = (job["insight"] or {}).get("estimate") or {}, answer["findings"][0]
    end = estimate.get("completionTime")
    if first["severity"] == "blocking":
        assert end is None, estimate
    wait = first["evidence"].get("estimatedWait")
    if end and wait:
        as_of = datetime.fromisoformat(job["verdict"]["asOf"])
        assert datetime.fromisoformat(end) >= as_of + timedelta(seconds=wait)
    assert "nodes" not in (estimate.get("reason") or "")


async def test_an_endlessly_retried_task_is_reported_beside_the_cause_and_alone(world: World) -> None:
    await SITUATIONS["tasks that are tried again without end on all slots"].stage(world)
    hint = (await explained(world))["findings"][-1]
    assert (hint["code"], hint["severity"]) == ("tasksRetriedForEver", "info")
    assert hint["evidence"]["taskId"].startswith("bad-0000")
    assert (hint["evidence"]["retries"] > 5, hint["evidence"]["otherTasks"]) == (True, 1)
    for number in range(5):
        await world.batch.delete_task("job", f"task-{number:05}")
    world.advance(10)
    answer = await explained(world)
    assert [found["code"] for found in answer["findings"] if found["code"] != "slotsBusy"] == ["tasksRetriedForEver"]
    await world.batch.replace_task("job", "bad-00000", models.BatchTask(
        constraints=models.BatchTaskConstraints(max_task_retry_count=1000)
    ))  # fmt: skip
    await world.batch.terminate_task("job", "bad-00001")
    world.advance(10)
    assert "tasksRetriedForEver" not in [found["code"] for found in (await explained(world))["findings"]]


async def test_an_endlessly_retried_task_is_reported_though_another_has_more_retries(world: World) -> None:
    await add_pool(world.batch, nodes=2)
    await add_job(world)
    await add_tasks(world.batch, 1, command="/bin/sh -c 'sleep 1; exit 7'", prefix="bounded", retries=1000)
    await add_tasks(world.batch, 1, command="/bin/sh -c 'sleep 4; exit 7'", prefix="endless", retries=-1)
    world.advance(200)
    hint = (await explained(world))["findings"][-1]
    assert (hint["code"], hint["evidence"].get("taskId")) == ("tasksRetriedForEver", "endless-00000")
    assert hint["evidence"]["otherTasks"] == 1


@pytest.mark.parametrize("urgent", [True, False])
async def test_a_queue_of_tasks_is_the_cause_at_each_poll_though_slots_are_free_briefly(
    world: World, *, urgent: bool
) -> None:
    """Short tasks leave slots free for an instant, which may coincide with a poll."""
    name = "short tasks of higher priority in line" if urgent else "short tasks of the same priority in line"
    situation = SITUATIONS[name]
    await situation.stage(world)
    free = 0
    for _ in range(10):
        first = (await explained(world))["findings"][0]
        assert first["code"] == situation.code
        assert first["evidence"]["tasksAhead" if urgent else "tasksOfSamePriority"] > 100
        assert first["evidence"]["estimatedWait"] > 0
        free += first["evidence"]["freeSlots"] > 0
        world.advance(1.7)
    assert free


async def test_a_job_that_others_overtake_has_no_end_before_its_next_task_may_start(world: World) -> None:
    """Its own tasks ended fast until then, and some still run."""
    await add_pool(world.batch, nodes=10)
    await add_job(world)
    await add_tasks(world.batch, 600, command="sleep 6")
    world.advance(180)
    await add_job(world, "urgent", priority=100)
    await add_tasks(world.batch, 900, job="urgent", command="sleep 20")
    reasons: list[str] = []
    for _ in range(6):
        answer = await explained(world)
        job = (await world.jobs())["job"]
        check_estimate(job, answer)
        assert (await world.get("accounts/demo/jobs/job")).body["insight"]["estimate"] == job["insight"]["estimate"]
        reasons.append(job["insight"]["estimate"]["reason"])
        world.advance(20)
    assert answer["findings"][0]["code"] == "higherPriorityJobs"
    assert "jobs that go first" in reasons[0]


async def test_urgent_tasks_that_are_held_for_good_take_no_estimated_end_away(world: World) -> None:
    await hold_urgent_tasks(world, 90)
    await add_job(world)
    await add_tasks(world.batch, 60, command="sleep 6")
    world.advance(120)
    answer = await explained(world)
    assert [found["code"] for found in answer["findings"]] == ["slotsBusy"]
    estimate = (await world.jobs())["job"]["insight"]["estimate"]
    assert estimate["completionTime"], estimate
    assert estimate["remaining"] < 90
    assert (await world.get("accounts/demo/jobs/job")).body["insight"]["estimate"] == estimate


async def test_a_pool_resized_again_after_a_failure_shows_the_error(world: World) -> None:
    await SITUATIONS["no quota"].stage(world)
    assert (await explained(world))["findings"][0]["code"] == "resizeFailed"
    for attempts in (1, 2):
        await world.batch.begin_resize_pool("pool", models.BatchPoolResizeOptions(target_dedicated_nodes=3))
        world.advance(1)
        first = (await explained(world))["findings"][0]
        assert (first["code"], first["severity"]) == ("poolResizing", "blocking")
        assert (first["evidence"]["code"], first["evidence"]["attempts"]) == ("AccountCoreQuotaReached", attempts)
        assert "quota" in first["advice"]
        world.advance(120)
        await world.app.fire("tick")
    (error,) = (await world.get("accounts/demo/pools/pool")).body["resizeErrors"]
    assert (error["code"], error["current"], error["attempts"]) == ("AccountCoreQuotaReached", True, 3)
    assert error["firstSeen"] < error["time"]


async def test_a_job_that_runs_well_has_nothing_that_blocks_it(world: World) -> None:
    await waiting(world, nodes=3, tasks=5)
    world.advance(120)
    answer = await explained(world)
    assert (answer["running"], answer["findings"], answer["unknown"]) == (True, [], [])
    world.emulator.counters.clear()
    assert await explained(world, poll=False) == answer
    assert world.emulator.counters == {}
    assert answer["summary"] == "It runs: 5 tasks run, and none waits."
    await add_tasks(world.batch, 9, command="sleep 20", prefix="more")
    world.advance(10)
    answer = await explained(world)
    assert [(found["code"], found["severity"]) for found in answer["findings"]] == [("slotsBusy", "limiting")]
    assert answer["summary"].startswith("It runs 6 tasks, and 8 wait: ")


async def test_a_job_without_tasks_and_one_that_is_done_say_so(world: World) -> None:
    await add_pool(world.batch)
    await add_job(world)
    answer = await explained(world)
    assert [found["code"] for found in answer["findings"]] == ["noTasks"]
    await add_tasks(world.batch, 2, command="sleep 5")
    world.advance(120)
    answer = await explained(world)
    assert [(found["code"], found["severity"]) for found in answer["findings"]] == [("allTasksCompleted", "info")]


async def test_causes_are_listed_in_the_order_in_which_they_block(world: World) -> None:
    """Opening the later gate alone would not help."""
    await start_fails(world)
    await world.batch.begin_disable_job("job", models.BatchJobDisableOptions(disable_tasks="requeue"))
    world.emulator.settings.dedicatedNodeQuota = 2
    await world.batch.begin_resize_pool("pool", models.BatchPoolResizeOptions(target_dedicated_nodes=4))
    world.advance(60)
    answer = await explained(world)
    assert [found["code"] for found in answer["findings"]] == ["jobDisabled", "startTaskFailed", "resizeFailed"]
    await world.batch.begin_enable_job("job")
    world.advance(10)
    answer = await explained(world)
    assert [found["code"] for found in answer["findings"]] == ["startTaskFailed", "resizeFailed"]


async def test_tasks_that_wait_for_failed_ones_outrank_a_pool_without_nodes(world: World) -> None:
    await dependent(world)
    await world.batch.begin_resize_pool("pool", models.BatchPoolResizeOptions(target_dedicated_nodes=0))
    world.advance(120)
    answer = await explained(world)
    assert [found["code"] for found in answer["findings"]] == ["dependenciesFailed", "poolTargetZero"]
    assert answer["findings"][0]["evidence"] | {"blockers": []} == {
        "lookedAt": 4, "isAllWaiting": True, "held": 4, "heldByFailed": 3, "heldByMissing": 1, "heldByCycle": 0,
        "unsure": 0, "cycle": [], "blockers": [],
    }  # fmt: skip


async def test_tasks_that_could_run_make_their_pool_the_cause(world: World) -> None:
    """Tasks that depend on them can't be the cause."""
    await add_pool(world.batch, nodes=0)
    await add_job(world, uses_task_dependencies=True)
    await add_dependent(world, "first")
    await add_dependent(world, "second", "first")
    world.advance(60)
    answer = await explained(world)
    assert [(found["code"], found["severity"]) for found in answer["findings"]] == [
        ("poolTargetZero", "blocking"), ("dependenciesUnsatisfied", "limiting"),
    ]  # fmt: skip


async def test_a_failure_that_satisfies_dependencies_holds_nothing(world: World) -> None:
    await add_pool(world.batch, nodes=1)
    await add_job(world, "other")
    await add_job(world, uses_task_dependencies=True)
    satisfy = models.ExitOptions(dependency_action="satisfy")
    await add_dependent(world, "first", command="exit 3", exit_conditions=models.ExitConditions(default=satisfy))
    world.advance(120)
    await add_tasks(world.batch, 2, job="other", command="sleep 3000")
    world.advance(30)
    await add_dependent(world, "second", "first")
    answer = await explained(world)
    assert [found["code"] for found in answer["findings"]] == ["slotsBusy"]


async def add_large_tasks(world: World, count: int, *, slots: int = 2) -> None:
    """Adds tasks that require several slots."""
    for start in range(0, count, 100):
        tasks = [
            models.BatchTaskCreateOptions(id=f"t{number:04}", command_line="sleep 5", required_slots=slots)
            for number in range(start, min(count, start + 100))
        ]
        await world.batch.create_task_collection("job", models.BatchTaskGroup(task_values=tasks))


async def test_too_few_free_slots_for_any_task_are_the_cause_regardless_of_queue_length(world: World) -> None:
    await add_pool(world.batch, nodes=1)
    await add_job(world, "other")
    await add_tasks(world.batch, 1, job="other", command="sleep 3000")
    world.advance(120)
    await add_job(world)
    await add_large_tasks(world, 101)
    answer = await explained(world)
    assert [(found["code"], found["severity"]) for found in answer["findings"]] == [("slotsBusy", "blocking")]
    assert answer["findings"][0]["title"] == "No node of the pool 'pool' has room for one of its tasks"


async def test_tasks_that_fit_no_node_are_the_cause_regardless_of_queue_and_busy_slots(world: World) -> None:
    await add_pool(world.batch, nodes=1)
    await add_job(world, "other")
    await add_tasks(world.batch, 2, job="other", command="sleep 3000")
    world.advance(120)
    await add_job(world)
    await add_large_tasks(world, 101, slots=3)
    answer = await explained(world)
    assert (answer["findings"][0]["code"], answer["findings"][0]["severity"]) == ("taskNeedsMoreSlots", "blocking")


async def test_a_stale_resize_error_is_no_cause(world: World) -> None:
    world.emulator.settings.dedicatedNodeQuota = 1
    await waiting(world, nodes=2)
    world.advance(120)
    answer = await explained(world)
    assert [(found["code"], found["severity"]) for found in answer["findings"]] == [
        ("resizeFailed", "limiting"), ("slotsBusy", "limiting"),
    ]  # fmt: skip
    world.emulator.settings.dedicatedNodeQuota = 0
    await world.batch.begin_resize_pool("pool", models.BatchPoolResizeOptions(target_dedicated_nodes=2))
    world.advance(120)
    answer = await explained(world)
    assert [(found["code"], found["severity"]) for found in answer["findings"]] == [
        ("slotsBusy", "limiting"), ("resizeFailedBefore", "info"),
    ]  # fmt: skip


async def test_the_wait_in_the_queue_is_estimated_from_recent_throughput(world: World) -> None:
    await add_pool(world.batch, nodes=2)
    await add_job(world, "other", priority=5)
    await add_tasks(world.batch, 400, job="other", command="sleep 20")
    world.advance(400)
    await add_job(world)
    await add_tasks(world.batch, 3)
    answer = await explained(world)
    shown = answer["findings"][0]["evidence"]
    other = (await world.jobs())["other"]
    ahead = other["taskCounts"]["active"]
    assert (answer["findings"][0]["code"], shown["tasksAhead"]) == ("higherPriorityJobs", ahead)
    rate = other["insight"]["throughput"]["perMinute"]["last5Minutes"]
    assert shown["tasksEndedPerMinute"] == pytest.approx(rate, abs=0.001)
    assert shown["estimatedWait"] == round((ahead + 1) / shown["tasksEndedPerMinute"] * 60)


async def test_tasks_of_a_job_that_is_long_done_count_by_when_they_ended(world: World) -> None:
    await add_pool(world.batch, nodes=1)
    world.advance(120)
    await add_job(world, "done", all_tasks_complete_mode="terminatejob")
    await add_tasks(world.batch, 30, job="done", command="sleep 5")
    for _ in range(3):
        world.advance(60)
        await world.app.fire("tick")
    assert (await world.jobs())["done"]["state"] == "completed"
    world.advance(1800)
    await add_job(world, "other")
    await add_tasks(world.batch, 2, job="other", command="sleep 6000")
    world.advance(10)
    await add_job(world)
    await add_tasks(world.batch, 1)
    world.advance(120)
    shown = (await explained(world))["findings"][0]["evidence"]
    assert 30 / 40 < shown["tasksEndedPerMinute"] < 30 / 30  # over the minutes since that job was created
    world.advance(3600)
    shown = (await explained(world))["findings"][0]["evidence"]
    assert (shown["tasksEndedPerMinute"], shown["estimatedWait"]) == (0, None)


async def test_node_error_texts_are_plain_text_without_secrets(world: World) -> None:
    await waiting(world)
    world.advance(120)
    pool = world.emulator.simulations["demo"].account.pools["pool"]
    for node in pool.nodes.values():
        node.state, node.errors = "unusable", [{"code": "<b>x</b>", "message": "no access, sig=abcdefgh."}]
    answer = await explained(world)
    (cause,) = answer["findings"][0]["evidence"]["causes"]
    assert cause == "1 x The node is unusable: <b>x</b>: no access, sig=[redacted]."


async def test_a_job_that_nobody_knows_has_no_explanation(world: World) -> None:
    found = await world.get("accounts/demo/jobs/none/explanation")
    assert (found.status, found.body["error"]["code"]) == (404, "JobNotFound")
    assert (await world.get("accounts/none/jobs/job/explanation")).status == 404
    assert (await world.get(f"{EXPLANATION}?deep=1")).status == 400


async def test_a_deleted_or_recreated_job_is_reported_as_such(world: World) -> None:
    await busy(world)
    await world.app.fire("tick")
    await world.batch.begin_delete_job("job")
    world.advance(30)
    assert (await explained(world, poll=False))["findings"][0]["code"] == "jobDeleted"
    await add_job(world)
    answer = await explained(world, poll=False)
    assert answer["unknown"] == ["The job was created anew under its id, and what is stored is of the one before."]


async def test_the_page_on_explanations_lists_each_situation_and_its_cause() -> None:
    page = (ROOT / "docs" / "explanations.md").read_text()
    situations = page.partition("\n## ")[0]
    rows = [line for line in situations.splitlines() if line.startswith("| ") and "`" in line]
    assert rows == [
        f"| {name} | `{found.code}` | {found.severity} | {'yes' if found.running else 'no'} |"
        for name, found in SITUATIONS.items()
    ]
    assert len(rows) >= 70
