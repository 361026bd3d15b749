"""An explanation's requests to Batch: a few, none where it has no rights, and it states its missing evidence."""

import pytest
import pytest_asyncio
from azure.batch import models

from local.batch_emulator.core.injection import Fault
from tests.emulator.support.staging import add_pool, add_tasks
from tests.functions.conftest import World
from tests.functions.explanation.waiting_combinations import behind_several_urgent_jobs_held_for_good
from tests.functions.explanation.waiting_jobs import (
    add_dependent,
    add_job,
    add_many_dependent,
    bounded,
    dependent,
    emptied,
    explained,
    outranked,
    waiting,
)

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(loop_scope="session")
async def world(_running: World) -> World:
    return await emptied(_running)


async def test_facts_missing_from_batch_are_named_and_the_rest_is_from_storage(world: World) -> None:
    await dependent(world)
    await world.app.fire("tick")
    world.emulator.faults.all.append(Fault(path="/jobs/job", status=500))
    answer = await explained(world, poll=False)
    assert [found["code"] for found in answer["findings"]] == ["slotsFree"]
    (unknown,) = answer["unknown"]
    assert unknown.startswith("Batch wasn't asked, so how the job is now, what its waiting tasks depend on")
    world.emulator.faults.all.clear()
    world.emulator.faults.all.append(Fault(path="/jobs/job/tasks", status=403))
    answer = await explained(world, poll=False)
    (unknown,) = answer["unknown"]
    assert unknown.startswith("What its waiting tasks depend on isn't known: http")
    world.emulator.faults.all.clear()
    assert (await explained(world, poll=False))["findings"][0]["code"] == "dependenciesFailed"


async def test_nothing_is_asked_of_an_account_that_is_switched_off(world: World) -> None:
    await bounded(world)
    await world.app.fire("tick")
    await world.put("accounts/demo/monitoring", b'{"enabled": false}')
    world.emulator.counters.clear()
    answer = await explained(world, poll=False)
    await world.put("accounts/demo/monitoring", b'{"enabled": true}')
    assert world.emulator.counters == {}
    assert answer["findings"][0]["code"] == "maxParallelTasks"
    assert any("Monitoring of this account is switched off" in sentence for sentence in answer["unknown"])


async def test_an_explanation_asks_batch_a_few_times_at_most(world: World) -> None:
    await add_pool(world.batch)
    preparation = models.BatchJobPreparationTask(command_line="true")
    await add_job(world, uses_task_dependencies=True, job_preparation_task=preparation)
    for number in range(5):
        await add_dependent(world, f"failed-{number}", command="exit 3")
    await add_many_dependent(world, "held", *(f"failed-{number % 5}" for number in range(1000)))
    await add_dependent(world, "held-last", "failed-0")
    world.advance(200)
    await world.app.fire("tick")
    world.emulator.counters.clear()
    answer = await explained(world, poll=False)
    asked = {route: found["requests"] for route, found in world.emulator.counters.items()}
    assert asked == {
        "GET /jobs/{jobId}": 1,
        "GET /jobs/{jobId}/tasks": 1,
        "GET /jobs/{jobId}/tasks/{taskId}": 3,
        "GET /jobs/{jobId}/jobpreparationandreleasetaskstatus": 1,
    }
    shown = answer["findings"][0]["evidence"]
    assert (shown["lookedAt"], shown["isAllWaiting"], shown["heldByFailed"], shown["unsure"]) == (1000, False, 1000, 0)
    assert answer["findings"][0]["detail"].startswith("All of the first 1,000 waiting tasks depend on tasks that")
    (unknown,) = answer["unknown"]
    assert unknown.startswith("2 more tasks that others depend on failed, and 3 were asked whether exit conditions")


async def test_unchecked_failures_are_not_blamed_where_a_checked_one_is_lenient(
    world: World,
) -> None:
    await add_pool(world.batch)
    await add_job(world, uses_task_dependencies=True)
    satisfy = models.ExitConditions(default=models.ExitOptions(dependency_action=models.DependencyAction.SATISFY))
    for number in range(5):
        lenient = {"exit_conditions": satisfy} if number else {}
        await add_dependent(world, f"failed-{number}", command="exit 3", **lenient)
        on = (f"failed-{number}", "endless") if number else (f"failed-{number}",)
        await add_dependent(world, f"held-{number}", *on)
    world.advance(200)
    await world.app.fire("tick")
    answer = await explained(world, poll=False)
    shown = answer["findings"][0]["evidence"]
    assert (shown["lookedAt"], shown["held"], shown["heldByFailed"]) == (5, 5, 1)
    assert not any("more task" in sentence for sentence in answer["unknown"])


@pytest.mark.parametrize(("parents", "severity"), [(10, "blocking"), (1, "limiting")])
async def test_failed_dependencies_come_before_the_pool_that_was_scaled_to_none_for_them(
    world: World, parents: int, severity: str
) -> None:
    await add_pool(world.batch)
    await add_job(world, uses_task_dependencies=True)
    for number in range(parents):
        await add_dependent(world, f"failed-{number}", command="exit 3")
    held = 10 if parents > 1 else 1001
    await add_many_dependent(world, "held", *(f"failed-{number % parents}" for number in range(held)))
    world.advance(200)
    formula = models.BatchPoolEnableAutoScaleOptions(auto_scale_formula="$TargetDedicatedNodes = 0;")
    await world.batch.enable_pool_auto_scale("pool", formula)
    world.advance(60)
    answer = await explained(world)
    assert [(found["code"], found["severity"]) for found in answer["findings"]] == [
        ("dependenciesFailed", severity),
        ("poolTargetZero", "info" if severity == "blocking" else severity),
    ]


async def test_tasks_added_since_the_last_poll_are_not_taken_for_missing(world: World) -> None:
    await add_pool(world.batch)
    await add_job(world, uses_task_dependencies=True)
    for name, on in (("a", "late"), ("b", "done"), ("c", "nobody")):
        await add_dependent(world, name, on)
    await world.app.fire("tick")
    await add_dependent(world, "late", command="sleep 3000")
    await add_dependent(world, "done", command="sleep 1")
    world.advance(40)
    answer = await explained(world, poll=False)
    assert answer["findings"][0]["evidence"]["blockers"] == ["late (is running): 1", "nobody (isn't in the job): 1"]
    assert answer["unknown"] == []


async def test_three_unstored_tasks_are_requested_and_nothing_is_claimed_of_the_others(
    world: World,
) -> None:
    await add_pool(world.batch)
    await add_job(world, uses_task_dependencies=True)
    for number in range(5):
        await add_dependent(world, f"t{number}", f"nobody-{number}")
    world.advance(120)
    await world.app.fire("tick")
    world.emulator.counters.clear()
    answer = await explained(world, poll=False)
    assert world.emulator.counters["GET /jobs/{jobId}/tasks/{taskId}"]["requests"] == 3
    shown = answer["findings"][0]["evidence"]
    assert (shown["held"], shown["heldByMissing"], shown["unsure"]) == (3, 3, 2)
    (unknown,) = answer["unknown"]
    as_of = answer["asOf"][:19].replace("T", " ")
    assert unknown == (
        "Whether 2 tasks that others depend on are there isn't known: tasks are stored as of "
        f"{as_of} UTC, and of newer ones 3 were asked for."
    )


async def test_dependencies_equal_to_the_limit_are_reported_as_that_many_or_more(
    world: World,
) -> None:
    await add_pool(world.batch)
    await add_job(world, uses_task_dependencies=True)
    await add_dependent(world, "held", "0-a", "0-b", "0-c")  # the first by id, for which Batch is asked
    on = models.BatchTaskDependencies(task_id_ranges=[models.BatchTaskIdRange(start=1, end=997)])
    await world.batch.create_task("job", models.BatchTaskCreateOptions(id="merge", command_line="true", depends_on=on))
    world.advance(60)
    answer = await explained(world)
    cut, unread = answer["unknown"]
    assert cut == (
        "Waiting tasks depend on 1,000 tasks or more: whether all of these are there and let others go on isn't known."
    )
    assert unread.startswith("Whether 997 tasks that others depend on are there isn't known: ")


async def test_batch_that_throttles_an_explanation_is_asked_no_more(world: World) -> None:
    await add_pool(world.batch)
    preparation = models.BatchJobPreparationTask(command_line="true")
    await add_job(world, uses_task_dependencies=True, job_preparation_task=preparation)
    await add_dependent(world, "held", "nobody")
    await world.app.fire("tick")
    world.emulator.faults.all.append(Fault(path="/jobs/job/tasks", status=429, retryAfter=300))
    world.emulator.counters.clear()
    answer = await explained(world, poll=False)
    world.emulator.faults.all.clear()
    assert set(world.emulator.counters) == {"GET /jobs/{jobId}"}  # a fault isn't counted
    (unknown,) = answer["unknown"]
    assert unknown.startswith("Nothing more was asked of Batch, so the rest of what only Batch knows isn't known: http")
    world.emulator.counters.clear()
    world.advance(200)
    await explained(world)
    assert world.emulator.counters == {}


async def test_a_job_moved_to_an_unstored_pool_is_explained_for_that_pool(world: World) -> None:
    await waiting(world, nodes=0)
    await world.app.fire("tick")
    await world.batch.begin_disable_job("job", models.BatchJobDisableOptions(disable_tasks="requeue"))
    world.advance(10)
    await add_pool(world.batch, "fresh", nodes=0)
    options = models.BatchJobUpdateOptions(pool_info=models.BatchPoolInfo(pool_id="fresh"))
    await world.batch.update_job("job", options)
    answer = await explained(world, poll=False)
    assert answer["unknown"] == ["The pool 'fresh' is there, but its nodes weren't read yet."]
    world.emulator.faults.all.append(Fault(path="/pools/fresh", status=500))
    answer = await explained(world, poll=False)
    assert any(sentence == "Nothing is known of the pool 'fresh' yet." for sentence in answer["unknown"])
    assert not any("'pool'" in sentence for sentence in answer["unknown"])


async def test_an_explanation_is_no_newer_than_the_data_of_other_jobs(world: World) -> None:
    await outranked(world)
    await world.app.fire("tick")
    before = (await world.jobs())["urgent"]["verdict"]["asOf"]
    world.emulator.faults.all.append(Fault(path="/jobs/urgent*", status=500))
    world.advance(60)
    answer = await explained(world)
    world.emulator.faults.all.clear()
    assert answer["findings"][0]["code"] == "higherPriorityJobs"
    assert answer["asOf"] == before < (await world.jobs())["job"]["verdict"]["asOf"]
    unasked, unknown = answer["unknown"]
    assert unasked.startswith("Whether the waiting tasks of 'urgent' could start isn't known: ")
    assert unknown.startswith(
        "What is known of the job 'urgent' on the same pool isn't up to date. The last poll failed"
    )


async def test_few_pages_of_waiting_tasks_are_read_and_counted(world: World) -> None:
    await dependent(world)
    await world.app.fire("tick")
    world.emulator.settings.pageSize = 1
    answer = await explained(world, poll=False)
    world.emulator.settings.pageSize = 1000
    assert [(found["code"], found["severity"]) for found in answer["findings"]] == [("dependenciesFailed", "limiting")]
    shown = answer["findings"][0]["evidence"]
    assert (shown["lookedAt"], shown["isAllWaiting"], shown["held"]) == (3, False, 3)


async def test_nothing_is_asked_of_a_throttled_account(world: World) -> None:
    await dependent(world)
    await world.app.fire("tick")
    world.advance(5)
    world.emulator.faults.all.append(Fault(path="/jobs", status=429, retryAfter=300))
    await world.app.fire("tick")
    world.emulator.faults.all.clear()
    world.emulator.counters.clear()
    answer = await explained(world, poll=False)
    assert world.emulator.counters == {}
    assert any("is left alone for now" in sentence for sentence in answer["unknown"])
    assert any(sentence.startswith("The counts of its tasks aren't up to date.") for sentence in answer["unknown"])


async def test_a_pool_that_is_new_is_neither_missing_nor_a_cause(world: World) -> None:
    await add_job(world)
    await add_tasks(world.batch, 2)
    assert (await explained(world))["findings"][0]["code"] == "poolMissing"
    await add_pool(world.batch)
    answer = await explained(world, poll=False)
    assert answer["findings"] == []
    assert answer["unknown"] == ["The pool 'pool' is there, but its nodes weren't read yet."]
    assert answer["summary"] == "None of its tasks runs, and 2 wait; what for couldn't be found out."


async def test_a_pool_with_unread_nodes_is_reported_with_the_error(world: World) -> None:
    await add_job(world)
    await add_tasks(world.batch, 2)
    await world.app.fire("tick")
    await add_pool(world.batch, nodes=0)
    world.emulator.faults.all.append(Fault(path="/pools", status=403))
    world.advance(60)
    answer = await explained(world)
    assert answer["findings"] == []
    there, why = answer["unknown"]
    assert there == "The pool 'pool' is there, but its nodes weren't read yet."
    reason = (await world.get("accounts/demo")).body["poolsReason"]
    assert "403" in reason
    assert why == f"When pools were polled last, this went wrong: {reason}"


async def test_ten_jobs_in_line_are_checked_while_none_could_start_a_task(world: World) -> None:
    """It makes no claim about whether the others come first."""
    await behind_several_urgent_jobs_held_for_good(world, jobs=12)
    await world.app.fire("tick")
    world.emulator.counters.clear()
    answer = await explained(world, poll=False)
    assert world.emulator.counters["GET /jobs/{jobId}/tasks"]["requests"] == 10
    assert (answer["findings"][0]["code"], answer["findings"][0]["evidence"]["tasksAhead"]) == ("slotsBusy", None)
    assert answer["unknown"] == ["Whether the waiting tasks of 2 more jobs could start isn't known."]


async def test_three_jobs_in_line_are_checked_if_one_could_start_a_task(world: World) -> None:
    await behind_several_urgent_jobs_held_for_good(world)
    await world.batch.create_task("urgent-02", models.BatchTaskCreateOptions(id="free", command_line="sleep 9"))
    await world.app.fire("tick")
    world.emulator.counters.clear()
    answer = await explained(world, poll=False)
    assert world.emulator.counters["GET /jobs/{jobId}/tasks"]["requests"] == 3
    assert (answer["findings"][0]["code"], answer["unknown"]) == ("higherPriorityJobs", [])


async def test_a_failed_check_puts_no_job_ahead_while_all_others_are_held(world: World) -> None:
    await behind_several_urgent_jobs_held_for_good(world, jobs=12)
    await world.app.fire("tick")
    world.emulator.counters.clear()
    world.emulator.faults.all.append(Fault(path="/jobs/urgent-03*", status=500))
    answer = await explained(world, poll=False)
    world.emulator.faults.all.clear()
    assert world.emulator.counters["GET /jobs/{jobId}/tasks"]["requests"] == 9  # a fault isn't counted
    assert (answer["findings"][0]["code"], answer["findings"][0]["evidence"]["tasksAhead"]) == ("slotsBusy", None)
    failed, more = answer["unknown"]
    assert failed.startswith("Whether the waiting tasks of 'urgent-03' could start isn't known: http")
    assert more == "Whether the waiting tasks of 2 more jobs could start isn't known."


async def test_unchecked_jobs_are_not_put_ahead_if_checks_stop_after_held_ones(world: World) -> None:
    await behind_several_urgent_jobs_held_for_good(world, jobs=12)
    await world.app.fire("tick")
    world.emulator.faults.all.append(Fault(path="/jobs/urgent-05*", status=429, retryAfter=300))
    answer = await explained(world, poll=False)
    world.emulator.faults.all.clear()
    assert (answer["findings"][0]["code"], answer["findings"][0]["evidence"]["tasksAhead"]) == ("slotsBusy", None)
    broke_off, more = answer["unknown"]
    assert broke_off.startswith(
        "Nothing more was asked of Batch, so whether the waiting tasks of other jobs could start"
    )
    assert more == "Whether the waiting tasks of 7 more jobs could start isn't known."


async def test_after_three_failed_checks_batch_is_not_asked_about_more_jobs(world: World) -> None:
    """Jobs that come first by priority keep their place, as no answer speaks against it."""
    await behind_several_urgent_jobs_held_for_good(world, jobs=12)
    await world.app.fire("tick")
    world.emulator.faults.all.append(Fault(path="/jobs/urgent-*", status=403))
    answer = await explained(world, poll=False)
    world.emulator.faults.all.clear()
    assert (answer["findings"][0]["code"], answer["findings"][0]["evidence"]["tasksAhead"]) == (
        "higherPriorityJobs",
        12,
    )
    *failed, ended = answer["unknown"]
    assert [sentence.split(" could start")[0] for sentence in failed] == [
        f"Whether the waiting tasks of 'urgent-{number:02}'" for number in range(3)
    ]
    assert ended == (
        "No more jobs were looked at after 3 failures, so whether the waiting tasks of other jobs could start "
        "isn't known."
    )
