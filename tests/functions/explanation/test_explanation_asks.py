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


async def test_what_batch_does_not_tell_is_said_and_the_rest_comes_from_storage(world: World) -> None:
    await dependent(world)
    await world.app.fire("tick")
    world.emulator.faults.all.append(Fault(path="/jobs/job", status=500))
    told = await explained(world, poll=False)
    assert [found["code"] for found in told["findings"]] == ["slotsFree"]
    (unknown,) = told["unknown"]
    assert unknown.startswith("Batch wasn't asked, so how the job is now, what its waiting tasks depend on")
    world.emulator.faults.all.clear()
    world.emulator.faults.all.append(Fault(path="/jobs/job/tasks", status=403))
    told = await explained(world, poll=False)
    (unknown,) = told["unknown"]
    assert unknown.startswith("What its waiting tasks depend on isn't known: http")
    world.emulator.faults.all.clear()
    assert (await explained(world, poll=False))["findings"][0]["code"] == "dependenciesFailed"


async def test_nothing_is_asked_of_an_account_that_is_switched_off(world: World) -> None:
    await bounded(world)
    await world.app.fire("tick")
    await world.put("accounts/demo/monitoring", b'{"enabled": false}')
    world.emulator.counters.clear()
    told = await explained(world, poll=False)
    await world.put("accounts/demo/monitoring", b'{"enabled": true}')
    assert world.emulator.counters == {}
    assert told["findings"][0]["code"] == "maxParallelTasks"
    assert any("Monitoring of this account is switched off" in sentence for sentence in told["unknown"])


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
    told = await explained(world, poll=False)
    asked = {route: found["requests"] for route, found in world.emulator.counters.items()}
    assert asked == {
        "GET /jobs/{jobId}": 1,
        "GET /jobs/{jobId}/tasks": 1,
        "GET /jobs/{jobId}/tasks/{taskId}": 3,
        "GET /jobs/{jobId}/jobpreparationandreleasetaskstatus": 1,
    }
    shown = told["findings"][0]["evidence"]
    assert (shown["lookedAt"], shown["isAllWaiting"], shown["heldByFailed"], shown["unsure"]) == (1000, False, 1000, 0)
    assert told["findings"][0]["detail"].startswith("All of the first 1,000 waiting tasks depend on tasks that")
    (unknown,) = told["unknown"]
    assert unknown.startswith("2 more tasks that others depend on failed, and 3 were asked whether exit conditions")


async def test_failures_that_nobody_asked_about_hold_nothing_for_sure_where_one_of_those_asked_does_not(
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
    told = await explained(world, poll=False)
    shown = told["findings"][0]["evidence"]
    assert (shown["lookedAt"], shown["held"], shown["heldByFailed"]) == (5, 5, 1)
    assert not any("more task" in sentence for sentence in told["unknown"])


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
    told = await explained(world)
    assert [(found["code"], found["severity"]) for found in told["findings"]] == [
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
    told = await explained(world, poll=False)
    assert told["findings"][0]["evidence"]["blockers"] == ["late (is running): 1", "nobody (isn't in the job): 1"]
    assert told["unknown"] == []


async def test_of_tasks_that_are_not_stored_three_are_asked_for_and_of_the_others_nothing_is_claimed(
    world: World,
) -> None:
    await add_pool(world.batch)
    await add_job(world, uses_task_dependencies=True)
    for number in range(5):
        await add_dependent(world, f"t{number}", f"nobody-{number}")
    world.advance(120)
    await world.app.fire("tick")
    world.emulator.counters.clear()
    told = await explained(world, poll=False)
    assert world.emulator.counters["GET /jobs/{jobId}/tasks/{taskId}"]["requests"] == 3
    shown = told["findings"][0]["evidence"]
    assert (shown["held"], shown["heldByMissing"], shown["unsure"]) == (3, 3, 2)
    (unknown,) = told["unknown"]
    as_of = told["asOf"][:19].replace("T", " ")
    assert unknown == (
        "Whether 2 tasks that others depend on are there isn't known: tasks are stored as of "
        f"{as_of} UTC, and of newer ones 3 were asked for."
    )


async def test_tasks_that_depend_on_exactly_as_many_others_as_are_looked_at_are_not_said_to_depend_on_more(
    world: World,
) -> None:
    await add_pool(world.batch)
    await add_job(world, uses_task_dependencies=True)
    await add_dependent(world, "held", "0-a", "0-b", "0-c")  # the first by id, for which Batch is asked
    on = models.BatchTaskDependencies(task_id_ranges=[models.BatchTaskIdRange(start=1, end=997)])
    await world.batch.create_task("job", models.BatchTaskCreateOptions(id="merge", command_line="true", depends_on=on))
    world.advance(60)
    told = await explained(world)
    cut, unread = told["unknown"]
    assert cut == (
        "Waiting tasks depend on 1,000 tasks or more: whether all of these are there and let others go on isn't known."
    )
    assert unread.startswith("Whether 997 tasks that others depend on are there isn't known: ")


async def test_batch_that_asks_to_be_left_alone_amid_an_explanation_is(world: World) -> None:
    await add_pool(world.batch)
    preparation = models.BatchJobPreparationTask(command_line="true")
    await add_job(world, uses_task_dependencies=True, job_preparation_task=preparation)
    await add_dependent(world, "held", "nobody")
    await world.app.fire("tick")
    world.emulator.faults.all.append(Fault(path="/jobs/job/tasks", status=429, retryAfter=300))
    world.emulator.counters.clear()
    told = await explained(world, poll=False)
    world.emulator.faults.all.clear()
    assert set(world.emulator.counters) == {"GET /jobs/{jobId}"}  # a fault isn't counted
    (unknown,) = told["unknown"]
    assert unknown.startswith("Nothing more was asked of Batch, so the rest of what only Batch knows isn't known: http")
    world.emulator.counters.clear()
    world.advance(200)
    await explained(world)
    assert world.emulator.counters == {}


async def test_a_job_that_moved_to_a_pool_which_is_not_stored_yet_is_told_of_that_pool(world: World) -> None:
    await waiting(world, nodes=0)
    await world.app.fire("tick")
    await world.batch.begin_disable_job("job", models.BatchJobDisableOptions(disable_tasks="requeue"))
    world.advance(10)
    await add_pool(world.batch, "fresh", nodes=0)
    options = models.BatchJobUpdateOptions(pool_info=models.BatchPoolInfo(pool_id="fresh"))
    await world.batch.update_job("job", options)
    told = await explained(world, poll=False)
    assert told["unknown"] == ["The pool 'fresh' is there, but its nodes weren't read yet."]
    world.emulator.faults.all.append(Fault(path="/pools/fresh", status=500))
    told = await explained(world, poll=False)
    assert any(sentence == "Nothing is known of the pool 'fresh' yet." for sentence in told["unknown"])
    assert not any("'pool'" in sentence for sentence in told["unknown"])


async def test_an_explanation_is_no_newer_than_what_is_known_of_other_jobs(world: World) -> None:
    await outranked(world)
    await world.app.fire("tick")
    before = (await world.jobs())["urgent"]["verdict"]["asOf"]
    world.emulator.faults.all.append(Fault(path="/jobs/urgent*", status=500))
    world.advance(60)
    told = await explained(world)
    world.emulator.faults.all.clear()
    assert told["findings"][0]["code"] == "higherPriorityJobs"
    assert told["asOf"] == before < (await world.jobs())["job"]["verdict"]["asOf"]
    unasked, unknown = told["unknown"]
    assert unasked.startswith("Whether the waiting tasks of 'urgent' could start isn't known: ")
    assert unknown.startswith(
        "What is known of the job 'urgent' on the same pool isn't up to date. The last poll failed"
    )


async def test_pages_of_waiting_tasks_are_few_and_what_was_looked_at_is_said(world: World) -> None:
    await dependent(world)
    await world.app.fire("tick")
    world.emulator.knobs.pageSize = 1
    told = await explained(world, poll=False)
    world.emulator.knobs.pageSize = 1000
    assert [(found["code"], found["severity"]) for found in told["findings"]] == [("dependenciesFailed", "limiting")]
    shown = told["findings"][0]["evidence"]
    assert (shown["lookedAt"], shown["isAllWaiting"], shown["held"]) == (3, False, 3)


async def test_nothing_is_asked_of_an_account_that_wants_to_be_left_alone(world: World) -> None:
    await dependent(world)
    await world.app.fire("tick")
    world.advance(5)
    world.emulator.faults.all.append(Fault(path="/jobs", status=429, retryAfter=300))
    await world.app.fire("tick")
    world.emulator.faults.all.clear()
    world.emulator.counters.clear()
    told = await explained(world, poll=False)
    assert world.emulator.counters == {}
    assert any("is left alone for now" in sentence for sentence in told["unknown"])
    assert any(sentence.startswith("The counts of its tasks aren't up to date.") for sentence in told["unknown"])


async def test_a_pool_that_is_new_is_neither_missing_nor_a_cause(world: World) -> None:
    await add_job(world)
    await add_tasks(world.batch, 2)
    assert (await explained(world))["findings"][0]["code"] == "poolMissing"
    await add_pool(world.batch)
    told = await explained(world, poll=False)
    assert told["findings"] == []
    assert told["unknown"] == ["The pool 'pool' is there, but its nodes weren't read yet."]
    assert told["summary"] == "None of its tasks runs, and 2 wait; what for couldn't be found out."


async def test_a_pool_whose_nodes_could_not_be_read_is_told_with_what_went_wrong(world: World) -> None:
    await add_job(world)
    await add_tasks(world.batch, 2)
    await world.app.fire("tick")
    await add_pool(world.batch, nodes=0)
    world.emulator.faults.all.append(Fault(path="/pools", status=403))
    world.advance(60)
    told = await explained(world)
    assert told["findings"] == []
    there, why = told["unknown"]
    assert there == "The pool 'pool' is there, but its nodes weren't read yet."
    reason = (await world.get("accounts/demo")).body["poolsReason"]
    assert "403" in reason
    assert why == f"When pools were polled last, this went wrong: {reason}"


async def test_of_many_jobs_in_line_ten_are_looked_at_while_none_could_start_a_task(world: World) -> None:
    """It makes no claim about whether the others come first."""
    await behind_several_urgent_jobs_held_for_good(world, jobs=12)
    await world.app.fire("tick")
    world.emulator.counters.clear()
    told = await explained(world, poll=False)
    assert world.emulator.counters["GET /jobs/{jobId}/tasks"]["requests"] == 10
    assert (told["findings"][0]["code"], told["findings"][0]["evidence"]["tasksAhead"]) == ("slotsBusy", None)
    assert told["unknown"] == ["Whether the waiting tasks of 2 more jobs could start isn't known."]


async def test_of_many_jobs_in_line_three_are_looked_at_where_one_of_them_could_start_a_task(world: World) -> None:
    await behind_several_urgent_jobs_held_for_good(world)
    await world.batch.create_task("urgent-02", models.BatchTaskCreateOptions(id="free", command_line="sleep 9"))
    await world.app.fire("tick")
    world.emulator.counters.clear()
    told = await explained(world, poll=False)
    assert world.emulator.counters["GET /jobs/{jobId}/tasks"]["requests"] == 3
    assert (told["findings"][0]["code"], told["unknown"]) == ("higherPriorityJobs", [])


async def test_a_look_that_fails_makes_no_job_come_first_while_all_others_are_held(world: World) -> None:
    await behind_several_urgent_jobs_held_for_good(world, jobs=12)
    await world.app.fire("tick")
    world.emulator.counters.clear()
    world.emulator.faults.all.append(Fault(path="/jobs/urgent-03*", status=500))
    told = await explained(world, poll=False)
    world.emulator.faults.all.clear()
    assert world.emulator.counters["GET /jobs/{jobId}/tasks"]["requests"] == 9  # a fault isn't counted
    assert (told["findings"][0]["code"], told["findings"][0]["evidence"]["tasksAhead"]) == ("slotsBusy", None)
    failed, more = told["unknown"]
    assert failed.startswith("Whether the waiting tasks of 'urgent-03' could start isn't known: http")
    assert more == "Whether the waiting tasks of 2 more jobs could start isn't known."


async def test_jobs_that_nobody_looked_at_do_not_come_first_where_looks_break_off_after_held_ones(world: World) -> None:
    await behind_several_urgent_jobs_held_for_good(world, jobs=12)
    await world.app.fire("tick")
    world.emulator.faults.all.append(Fault(path="/jobs/urgent-05*", status=429, retryAfter=300))
    told = await explained(world, poll=False)
    world.emulator.faults.all.clear()
    assert (told["findings"][0]["code"], told["findings"][0]["evidence"]["tasksAhead"]) == ("slotsBusy", None)
    broke_off, more = told["unknown"]
    assert broke_off.startswith(
        "Nothing more was asked of Batch, so whether the waiting tasks of other jobs could start"
    )
    assert more == "Whether the waiting tasks of 7 more jobs could start isn't known."


async def test_after_three_looks_that_failed_batch_is_not_asked_about_more_jobs(world: World) -> None:
    """Jobs that come first by priority keep their place, as no answer speaks against it."""
    await behind_several_urgent_jobs_held_for_good(world, jobs=12)
    await world.app.fire("tick")
    world.emulator.faults.all.append(Fault(path="/jobs/urgent-*", status=403))
    told = await explained(world, poll=False)
    world.emulator.faults.all.clear()
    assert (told["findings"][0]["code"], told["findings"][0]["evidence"]["tasksAhead"]) == ("higherPriorityJobs", 12)
    *failed, ended = told["unknown"]
    assert [sentence.split(" could start")[0] for sentence in failed] == [
        f"Whether the waiting tasks of 'urgent-{number:02}'" for number in range(3)
    ]
    assert ended == (
        "No more jobs were looked at after 3 failures, so whether the waiting tasks of other jobs could start "
        "isn't known."
    )
