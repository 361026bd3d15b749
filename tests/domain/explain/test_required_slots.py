"""Jobs with tasks of several widths: those that fit on no node are held, the others go on in the queue of the pool."""

from dataclasses import replace
from typing import Any

import pytest

from shared.domain.dependencies.dependencies import Dependencies
from shared.domain.explain.competing_jobs import CompetingJob
from shared.domain.explain.explanation import explain
from shared.domain.jobs.job_rules import JobRules
from shared.domain.jobs.observations import NONE_OVERSIZED, OversizedTasks, RequiredSlots
from shared.domain.nodes.nodes import Node
from shared.domain.pools.machine_settings import MachineSettings, SchedulingPolicy
from shared.domain.tasks.tasks import TaskCounts
from tests.domain.explain.made_evidence import BUSY, IDLE, NOW, URGENT, evidence, required
from tests.domain.explain.made_queue import DEPENDS, SECOND, job, mixed, queue, shown

OVERSIZED = "Some of its waiting tasks fit on no node; how many of the others can start isn't known."


@pytest.mark.parametrize(
    ("found", "waiting", "oversized"),
    [
        ({1: 5}, 5, NONE_OVERSIZED),
        ({1: 3, 2: 2}, 900, NONE_OVERSIZED),
        ({1: 1, 4: 500}, 501, OversizedTasks(500, 2000)),
        ({3: 2, 4: 3}, 5, OversizedTasks(5, 18)),
        ({1: 1, 3: 4}, 9, OversizedTasks(4, 12, unread=4)),
        ({1: 1, 3: 4}, 3, OversizedTasks(4, 12)),
    ],
)
def test_oversized_tasks_are_counted_one_by_one(found: dict[int, int], waiting: int, oversized: OversizedTasks) -> None:
    assert RequiredSlots.of(found).oversized(2, waiting) == oversized


@pytest.mark.parametrize(
    ("found", "waiting", "slots", "differ"),
    [
        (required(100, 2), 500, 1000, False),
        (required(100, 2), 500, 1001, True),
        (required(100, 2, 1), 500, 1000, True),
        (required(100, 2), 500, None, True),
    ],
)
def test_tasks_are_alike_where_the_first_are_and_all_need_as_many_slots(
    found: RequiredSlots, waiting: int, slots: int | None, *, differ: bool
) -> None:
    assert found.may_differ(waiting, slots) == differ


def test_of_a_job_with_oversized_tasks_only_the_others_go_first() -> None:
    high, low = queue(mixed(job("high", 5), {4: 500, 1: 1}), job("low"))
    assert shown([high, low]) == [("high", 1, 1, 1, "slotsBusy"), ("low", 2, 5, 1, "higherPriorityJobs")]
    assert high.waiting.job.held == 500
    assert low.cause
    assert low.cause.title == "1 task of a job of higher priority goes first"
    assert low.expected_start == NOW + 12 * SECOND


def test_a_job_all_of_whose_tasks_are_oversized_comes_last_with_all_held() -> None:
    (low, wide) = queue(mixed(job("wide", 5), {3: 2, 4: 3}), job("low"))
    assert shown([low, wide]) == [("low", 1, 5, 1, "slotsBusy"), ("wide", None, 0, None, "taskNeedsMoreSlots")]
    assert (wide.waiting.job.held, wide.waiting.is_unsure) == (5, False)


@pytest.mark.parametrize("widths", [{4: 10_000}, {1: 1, 4: 9999}])
def test_where_more_tasks_wait_than_were_read_their_number_is_unknown_and_so_are_starts_behind(
    widths: dict[int, int],
) -> None:
    high, low = queue(mixed(job("high", 5), widths, unread=50), job("low"))
    assert shown([high, low])[0][:3] == ("high", 1, None)
    assert (high.waiting.is_unsure, high.expected_start, high.reason) == (True, None, OVERSIZED)
    assert (low.rank, low.ready, low.expected_start) == (2, 5, None)
    assert low.reason == "Whether the waiting tasks of 'high', which go first, can start isn't stored."


def test_beside_a_job_with_an_unknown_number_of_ready_tasks_shares_are_unknown() -> None:
    unread = mixed(job("a"), {4: 10_000}, unread=50)
    assert [one.share for one in queue(unread, job("b"))] == [None, None]
    assert [one.share for one in queue(unread)] == [1]


def test_a_disabled_job_or_one_at_its_bound_has_no_ready_tasks_however_many_were_read() -> None:
    bound = job("bound", running=2, rules=JobRules(max_parallel_tasks=2))
    for each in (job("off", state="disabled"), bound):
        (found,) = queue(mixed(each, {1: 1, 4: 9}, unread=5))
        assert (found.ready, found.waiting.is_unsure) == (0, True)


@pytest.mark.parametrize(
    ("widths", "held", "ready", "exact"),
    [
        ({1: 5}, 3, 2, True),
        ({1: 2, 4: 3}, 0, 2, True),
        ({1: 3, 4: 2}, 2, None, False),
        ({1: 2, 4: 3}, 3, None, False),
        ({1: 2, 4: 3}, 5, 0, True),
        ({4: 5}, 2, 0, True),
    ],
)
def test_oversized_tasks_may_be_those_that_wait_for_others(
    widths: dict[int, int], held: int, ready: int | None, *, exact: bool
) -> None:
    waits = Dependencies(5, whole=True, held=held)
    (found,) = queue(mixed(job("a", rules=DEPENDS, dependencies=waits), widths))
    assert (found.ready, found.waiting.is_unsure) == (ready, not exact)
    assert (found.reason == OVERSIZED) != exact


def with_widths(widths: dict[int, int], *, unread: int = 0) -> CompetingJob:
    return mixed(job("other", 5), widths, unread=unread).job


def test_an_explanation_counts_only_tasks_of_others_that_fit_on_a_node() -> None:
    found = explain(evidence(BUSY, competing_jobs=(with_widths({4: 500, 1: 2}),), per_minute=10.0)).findings[0]
    assert (found.rule, found.title) == ("higherPriorityJobs", "2 tasks of a job of higher priority go first")
    assert (found.evidence["tasksAhead"], found.evidence["slotsAhead"]) == (2, 2)
    assert found.evidence["estimatedWait"] == 18 * SECOND


def test_an_explanation_does_not_estimate_where_it_is_unknown_how_many_tasks_of_others_fit() -> None:
    found = explain(evidence(BUSY, competing_jobs=(with_widths({4: 9998, 1: 2}, unread=9),), per_minute=10.0)).findings[
        0
    ]
    assert (found.evidence["tasksAhead"], found.evidence["estimatedWait"]) == (None, None)
    assert "At least 2 tasks of other jobs come before its own. Whether those of some jobs" in found.sentence


HALF = Node("half", "running", slots=1, tasks=1)
SPREAD_OUT = "The pool spreads tasks over its nodes (nodeFillType), so free slots are on several of them"
PACK = MachineSettings(task_scheduling_policy=SchedulingPolicy(node_fill_type="Pack"))
SPREAD = MachineSettings(task_scheduling_policy=SchedulingPolicy(node_fill_type="spread"))
NEW_FILL = MachineSettings(task_scheduling_policy=SchedulingPolicy(node_fill_type="scatter"))


@pytest.mark.parametrize(
    ("nodes", "changes", "is_said"),
    [
        (2, {"settings": SPREAD}, True),
        (2, {"settings": MachineSettings()}, True),
        (2, {"settings": PACK}, False),
        (2, {"settings": NEW_FILL}, False),
        (2, {"settings": SPREAD, "settings_left_out": ("taskSchedulingPolicy.nodeFillType",)}, False),
        (2, {"settings": None}, False),
        (1, {"settings": SPREAD}, False),
    ],
)
def test_where_tasks_are_spread_an_explanation_says_why_no_node_has_room_for_a_wide_one(
    nodes: int, changes: dict[str, Any], *, is_said: bool
) -> None:
    halves = [HALF._replace(id=f"half-{number}") for number in range(nodes)]
    found = explain(evidence(*halves, waiting=required(10, 2), pool_changes=changes)).findings[0]
    assert (found.rule, (SPREAD_OUT in found.sentence)) == ("slotsBusy", is_said)


def test_own_tasks_that_fit_on_no_node_do_not_compete_for_free_slots() -> None:
    own = evidence(IDLE, counts=TaskCounts(active=10), waiting=RequiredSlots.of({1: 2, 4: 8}), waiting_slots=34)
    assert (own.own_slots, own.is_contested) == (2, False)
    beside = replace(own, competing_jobs=(replace(URGENT, priority=0, counts=TaskCounts(active=1), waiting_slots=1),))
    assert beside.is_contested
    last = explain(replace(beside, per_minute=10.0)).findings[0].evidence["estimatedWaitOfLast"]
    assert last == 18 * SECOND
