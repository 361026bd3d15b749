"""The queue of a pool from stored facts: order, shares, causes and expected starts."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from shared.domain.dependencies.dependencies import BlockingTask, Dependencies
from shared.domain.explain.pool_nodes import PoolNodes
from shared.domain.explain.pool_queue import QueuedJob, QueueEvidence, WaitingJob, queue_of
from shared.domain.jobs.job_rules import JobRules
from shared.domain.pools.machine_settings import MachineSettings, SchedulingPolicy
from tests.domain.explain.made_evidence import BUSY, COMING, IDLE, MINUTE, NOW, OLDEST_FIRST, pool
from tests.domain.explain.made_queue import DEPENDS, SECOND, job, queue, shown


def test_by_default_jobs_of_equal_priority_share_a_rank() -> None:
    found = queue(job("young", age=1), job("high", 5), job("old", age=99), job("low", -5))
    assert shown(found) == [
        ("high", 1, 5, 1, "slotsBusy"),
        ("old", 2, 5, 0.5, "higherPriorityJobs"),
        ("young", 2, 5, 0.5, "higherPriorityJobs"),
        ("low", 3, 5, 1, "higherPriorityJobs"),
    ]


def test_by_creation_time_each_age_has_a_rank() -> None:
    found = queue(
        job("young", age=1), job("high", 5, age=0), job("old", age=99), job("twin", age=99), settings=OLDEST_FIRST
    )
    assert shown(found) == [
        ("high", 1, 5, 1, "slotsBusy"),
        ("old", 2, 5, 0.5, "higherPriorityJobs"),
        ("twin", 2, 5, 0.5, "higherPriorityJobs"),
        ("young", 3, 5, 1, "higherPriorityJobs"),
    ]
    assert shown(queue(job("b", age=1), job("a", age=2), settings=OLDEST_FIRST))[1] == ("b", 2, 5, 1, "olderJobs")


NEW_ORDER = MachineSettings(task_scheduling_policy=SchedulingPolicy(job_default_order="shortestFirst"))


@pytest.mark.parametrize("order", [{"settings": NEW_ORDER}, {"settings_left_out": ("taskSchedulingPolicy",)}])
def test_by_an_order_that_nobody_knows_jobs_of_equal_priority_have_no_share_and_no_start(order: Any) -> None:
    found = queue(job("high", 5), job("old", age=99), job("young", age=1), job("low", -5), **order)
    assert shown(found) == [
        ("high", 1, 5, 1, "slotsBusy"),
        ("old", 2, 5, None, "higherPriorityJobs"),
        ("young", 2, 5, None, "higherPriorityJobs"),
        ("low", 3, 5, 1, "higherPriorityJobs"),
    ]
    assert [one.expected_start is None for one in found] == [False, True, True, False]
    assert found[1].reason == "Which job of equal priority goes first isn't known."


@pytest.mark.parametrize(
    ("stuck", "cause"),
    [
        (job("stuck", 9, state="disabled"), "jobDisabled"),
        (job("stuck", 9, rules=JobRules(max_parallel_tasks=0)), "maxParallelTasks"),
        (job("stuck", 9, slots=3), "taskNeedsMoreSlots"),
    ],
)
def test_jobs_whose_tasks_cannot_start_come_last_without_a_rank(stuck: WaitingJob, cause: str) -> None:
    found = queue(stuck, job("other"))
    assert shown(found) == [("other", 1, 5, 1, "slotsBusy"), ("stuck", None, 0, None, cause)]
    assert found[1].cause
    assert (found[1].expected_start, found[1].reason) == (None, f"{found[1].cause.title}.")


def test_a_bound_on_parallel_tasks_leaves_fewer_ready() -> None:
    found = queue(job("bound", running=1, rules=JobRules(max_parallel_tasks=3)), job("other"))
    assert shown(found) == [("bound", 1, 2, 0.5, "slotsBusy"), ("other", 1, 5, 0.5, "slotsBusy")]


BOUND = JobRules(max_parallel_tasks=2)


def test_a_job_at_its_bound_keeps_its_place_and_the_slots_that_it_frees() -> None:
    bound = job("bound", 9, running=2, rules=BOUND, tasks=40, per_minute=6.0)
    others = (job("next", running=2), job("last", -1))
    found = queue(bound, *others, rate=10.0)
    assert shown(found) == [
        ("bound", 1, 0, 0, "maxParallelTasks"), ("next", 2, 5, 1, "slotsBusy"), ("last", 3, 5, 1, "higherPriorityJobs"),
    ]  # fmt: skip
    assert [one.expected_start for one in found] == [None, NOW + 60 / 4 * SECOND, NOW + 6 * 60 / 4 * SECOND]
    assert found[0].reason == (
        "Its next task starts when one of its own ends, as it runs as many as its maxParallelTasks allows."
    )
    beside = queue(replace(bound, job=replace(bound.job, priority=0)), *others, rate=10.0)
    assert shown(beside)[:2] == [("bound", 1, 0, 0, "maxParallelTasks"), ("next", 1, 5, 1, "slotsBusy")]
    assert beside[1].expected_start == NOW + 1.5 * 6 * SECOND


def test_slots_of_a_job_at_its_bound_come_free_once_its_tasks_have_all_started() -> None:
    bound = job("bound", 9, running=2, rules=BOUND, tasks=3, per_minute=6.0)
    (_, only) = queue(bound, job("next"), rate=6.0)
    assert only.expected_start == NOW + 40 * SECOND
    _, low = queue(bound, job("next", running=1, tasks=0), job("low", -1), rate=7.0)
    assert low.expected_start == NOW + round(60 * (0.5 + 0.5 / 7)) * SECOND


def test_of_a_job_at_its_bound_it_is_known_that_none_of_its_tasks_takes_another_slot() -> None:
    depends = replace(BOUND, uses_task_dependencies=True)
    found = queue(job("bound", running=2, rules=depends, per_minute=6.0), job("next"), job("last", -1))
    assert shown(found) == [
        ("bound", 1, 0, 0, "maxParallelTasks"), ("next", 1, 5, 1, "slotsBusy"), ("last", 2, 5, 1, "higherPriorityJobs"),
    ]  # fmt: skip
    assert found[2].reason == "Whether the waiting tasks of 'bound', which go first, can start isn't stored."


def test_where_all_slots_are_retaken_there_is_no_expected_start() -> None:
    bound = job("bound", 9, running=2, rules=BOUND, per_minute=0.0)
    _, found = queue(bound, job("next"), rate=10.0)
    assert (found.expected_start, found.reason) == (
        None,
        "Jobs that go first retake the slots that their tasks free, and as tasks ended lately, no others come free.",
    )


def test_only_the_first_jobs_are_returned_with_the_shares_among_all() -> None:
    found = queue(*(job(f"{number:04}") for number in range(4000)), top=3)
    assert shown(found) == [(name, 1, 5, 0.00025, "slotsBusy") for name in ("0000", "0001", "0002")]


def test_jobs_without_waiting_tasks_are_not_in_the_queue() -> None:
    assert shown(queue(job("runs", tasks=0, running=2), job("waits"))) == [("waits", 1, 5, 1, "slotsBusy")]


def test_the_expected_start_follows_from_the_tasks_before_and_the_rate() -> None:
    found = queue(job("b", 5, tasks=19), job("a"), job("c"), job("d"), rate=10.0)
    assert [one.expected_start for one in found] == [
        NOW + timedelta(seconds=6),
        *[NOW + timedelta(seconds=(19 + 1 + 1) * 6)] * 3,
    ]
    assert [one.reason for one in found] == [None] * 4
    (many, *_) = queue(*(job(f"{number}") for number in range(61)), rate=10.0)
    assert many.expected_start == NOW + timedelta(seconds=(1 + 60 / 2) * 6)


UNSTORED = "How many of its waiting tasks wait for other tasks isn't stored; the job's explanation asks Batch."
REASONS: dict[str, tuple[list[QueuedJob], str | None, str]] = {
    "no rate": (queue(job("a"), rate=None), "slotsBusy", "How fast tasks on the pool ended lately isn't known."),
    "nothing ended": (
        queue(job("a"), rate=0.0), "slotsBusy",
        "No task of the pool's jobs ended in the last hour, the current minute aside."
    ),
    "far off": (queue(job("a"), rate=1e-6), "slotsBusy", "As tasks ended lately, it would take more than a year."),
    "free slots": (
        queue(job("a", tasks=1), nodes=(IDLE,)),
        "slotsFree",
        "Slots are free for it: Batch mostly starts tasks within seconds.",
    ),
    "nodes on their way": (
        queue(job("a"), nodes=(COMING,)), "nodesStarting", "The pool's only node is still starting.",
    ),
    "tasks that give way": (
        queue(job("a"), job("low", -1, tasks=0, running=1, rules=JobRules(allows_preemption=True))), "slotsBusy",
        "Batch may requeue running tasks of lower jobs for it at any time, as those allow preemption.",
    ),
    "wide tasks": (
        queue(job("a", slots=2)), "slotsBusy",
        "Its next task needs 2 free slots on one node, which narrower ones may take.",
    ),
    "more running tasks than a changed bound allows": (
        queue(job("a", running=8, rules=JobRules(max_parallel_tasks=2))), "maxParallelTasks",
        "It runs more tasks than its maxParallelTasks as read last, which was changed: its next start isn't known.",
    ),
    "dependencies": (queue(job("a", rules=DEPENDS)), "slotsBusy", UNSTORED),
    "dependencies beside free slots": (queue(job("a", tasks=1, rules=DEPENDS), nodes=(IDLE,)), None, UNSTORED),
}  # fmt: skip


@pytest.mark.parametrize("name", REASONS)
def test_without_an_expected_start_there_is_a_reason(name: str) -> None:
    found, cause, reason = REASONS[name]
    assert (found[0].expected_start, found[0].reason) == (None, reason)
    assert (found[0].cause.rule if found[0].cause else None) == cause


def test_unknown_dependencies_make_the_ready_tasks_shares_and_starts_behind_them_unknown() -> None:
    found = queue(job("a", 5, rules=DEPENDS), job("b", 5), job("c"))
    assert shown(found) == [
        ("a", 1, None, None, "slotsBusy"), ("b", 1, 5, None, "slotsBusy"), ("c", 2, 5, 1, "higherPriorityJobs"),
    ]  # fmt: skip
    assert found[2].reason == "Whether the waiting tasks of 'a', which go first, can start isn't stored."


def test_known_dependencies_leave_the_tasks_that_they_hold_out() -> None:
    held = Dependencies(5, whole=True, held=3)
    found = queue(job("a", 5, rules=DEPENDS, dependencies=held), job("b"))
    assert shown(found)[0] == ("a", 1, 2, 1, "slotsBusy")
    assert found[1].expected_start == NOW + timedelta(seconds=(2 + 1) * 6)


@pytest.mark.parametrize("partly", [Dependencies(5, whole=False, held=3), Dependencies(5, whole=True, unsure=1)])
def test_dependencies_that_are_known_in_part_leave_the_ready_tasks_unknown(partly: Dependencies) -> None:
    assert shown(queue(job("a", rules=DEPENDS, dependencies=partly)))[0][:3] == ("a", 1, None)


def test_a_job_all_of_whose_tasks_wait_for_a_failed_one_comes_last_with_that_cause() -> None:
    lost = Dependencies(5, whole=True, held=5, lost=5, blockers=(BlockingTask("first", "failed", 5),))
    found = queue(job("a", 5, rules=DEPENDS, dependencies=lost), job("b"))
    assert shown(found) == [("b", 1, 5, 1, "slotsBusy"), ("a", None, 0, None, "dependenciesFailed")]


def test_the_date_of_an_expected_start_counts_from_the_stored_facts() -> None:
    (found,) = queue_of(QueueEvidence(_EARLIER, pool(BUSY), PoolNodes((BUSY,)), 1.0, (job("a"),)), 1)
    assert found.expected_start == _EARLIER + MINUTE


_EARLIER = datetime(2026, 11, 21, 11, 45, tzinfo=NOW.tzinfo)
