"""Texts of findings: titles, details and advice in whole sentences, including those of past errors."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from shared.domain.dependencies.dependencies import BlockingTask, Dependencies
from shared.domain.explain.explanation import explain
from shared.domain.jobs.observations import Preparation
from shared.domain.nodes.nodes import Node
from shared.domain.pools.pool_facts import Size
from shared.domain.pools.pool_settings import AutoScale, Problem
from shared.domain.pools.pools import Pool
from shared.domain.pools.resize_advice import resize_words
from shared.domain.tasks.tasks import TaskCounts
from tests.domain.explain.made_evidence import (
    BUSY,
    COMING,
    FAILED,
    GONE,
    HELD,
    IDLE,
    JOB,
    LEAVING,
    LOST,
    MINUTE,
    NOW,
    QUOTA,
    RETRIED,
    SCALE_ERROR,
    SHUT,
    URGENT,
    codes_of,
    evidence,
    pool,
    required,
    roomy,
)


def test_a_stale_error_comes_last_and_as_past() -> None:
    seen = pool(BUSY, dedicated=Size(1, 2), resize_errors=(QUOTA,))
    again = replace(seen.facts, resize_errors=(), dedicated=Size(2, 2), allocation_state_transition_time=NOW + MINUTE)
    found = replace(evidence(BUSY), pool=seen.seen(again, NOW + 2 * MINUTE))
    assert codes_of(found) == [("slotsBusy", "blocking"), ("resizeFailedBefore", "info")]
    failed = replace(seen.facts, allocation_state_transition_time=NOW + MINUTE)
    both = replace(found, pool=seen.seen(failed, NOW + 2 * MINUTE))
    assert both.pool
    assert [(error.attempts, error.first_seen) for error in both.pool.errors] == [(2, NOW)]
    assert codes_of(both) == [("resizeFailed", "blocking"), ("slotsBusy", "info")]


def retried(attempts: int, **changes: Any) -> Pool:
    """Returns a pool whose resize continues after `attempts` that timed out."""
    failed = Problem("AllocationTimedout", "Too slow.")
    seen = pool(dedicated=Size(0, 2), resize_errors=(failed,))
    for number in range(1, attempts):
        at = NOW + number * MINUTE
        seen = seen.seen(replace(seen.facts, allocation_state_transition_time=at), at)
    again = replace(seen.facts, resize_errors=(), allocation_state="resizing", **changes)
    began = NOW + attempts * MINUTE
    return seen.seen(replace(again, allocation_state_transition_time=began), began)


@pytest.mark.parametrize(
    ("attempts", "words", "which"),
    [(1, "an attempt", "the attempt before"), (3, "3 attempts", "each of the 3 attempts before")],
)
def test_a_resize_after_failed_ones_shows_their_error_and_not_just_to_wait(
    attempts: int, words: str, which: str
) -> None:
    (finding,) = explain(evidence(pool=retried(attempts))).findings
    assert (finding.rule, finding.severity, finding.since) == ("poolResizing", "blocking", NOW)
    assert finding.title == f"The pool 'pool' is being resized after {words} that failed"
    assert finding.sentence == f"It has 0 of 2 dedicated nodes; {which} ended with AllocationTimedout: Too slow."
    assert finding.advice == f"It may fail again. {resize_words('AllocationTimedout')[1]}"
    assert (finding.evidence["code"], finding.evidence["attempts"]) == ("AllocationTimedout", attempts)


def test_an_error_of_a_resize_that_was_made_good_is_none_of_the_one_that_goes_on() -> None:
    well = retried(1)
    grown = well.seen(replace(well.facts, allocation_state="steady", dedicated=Size(2, 2)), NOW + 5 * MINUTE)
    facts = replace(grown.facts, allocation_state="resizing", dedicated=Size(2, 4))
    more = grown.seen(replace(facts, allocation_state_transition_time=NOW + 9 * MINUTE), NOW + 9 * MINUTE)
    full = replace(more, snapshot=pool(BUSY, BUSY).snapshot)
    assert codes_of(evidence(pool=full)) == [
        ("poolResizing", "blocking"), ("slotsBusy", "info"), ("resizeFailedBefore", "info"),
    ]  # fmt: skip
    assert explain(evidence(pool=full)).findings[0].advice.startswith("Wait: ")
    shrinking = retried(1, dedicated=Size(2, 0))
    assert codes_of(evidence(pool=shrinking))[-1] == ("resizeFailedBefore", "info")


def test_a_place_in_the_queue_is_a_range_and_a_wait_only_where_tasks_ended() -> None:
    equal = replace(URGENT, id="equal", priority=0, counts=TaskCounts(active=20), waiting_slots=40)
    found = evidence(BUSY, competing_jobs=(URGENT, equal), waiting_slots=10, per_minute=2.0)
    shown = explain(found).findings[0].evidence
    assert (shown["tasksAhead"], shown["slotsAhead"]) == (7, 7)
    assert (shown["tasksOfSamePriority"], shown["slotsOfSamePriority"]) == (20, 40)
    assert shown["estimatedWait"] == 4 * MINUTE
    assert "its next may start in about 4 minutes." in explain(found).findings[0].sentence
    assert shown["estimatedWaitOfLast"] == timedelta(seconds=60 * (7 + 20 + 10) / 2)
    words = {
        None: "How fast tasks ended lately isn't known, so its turn can't be estimated.",
        0.0: "No task ended lately, so its turn can't be estimated.",
        0.000_01: "as tasks ended lately, it would take more than a year until its next may start.",
    }
    for rate, word in words.items():
        without = explain(replace(found, per_minute=rate)).findings[0]
        assert without.evidence["estimatedWait"] is None
        assert without.sentence.endswith(word)


@pytest.mark.parametrize(("priority", "ahead", "equal"), [(5, 7, 0), (0, 0, 7), (-1, 0, 0)])
def test_free_slots_that_others_wait_for_are_shown_with_them(priority: int, ahead: int, equal: int) -> None:
    nodes = [IDLE._replace(id=f"idle-{number}") for number in range(4)]
    (found,) = explain(roomy(*nodes, competing_jobs=(replace(URGENT, priority=priority),))).findings
    assert (found.evidence["tasksAhead"], found.evidence["tasksOfSamePriority"]) == (ahead, equal)
    assert ("7 tasks of other jobs" in found.sentence) == bool(ahead + equal)


def test_busy_slots_are_those_of_nodes_that_take_tasks() -> None:
    failed = [FAILED._replace(id=f"failed-{number}") for number in range(9)]
    finding = explain(evidence(BUSY, *failed, competing_jobs=(URGENT,))).findings[-1]
    assert finding.title == "All slots that the job can use in the pool 'pool' are busy"
    assert finding.sentence.startswith(
        "2 of 2 slots of nodes that take its tasks are in use, 2 of them by other jobs. "
    )
    assert (finding.evidence["slots"], finding.evidence["usedSlots"]) == (2, 2)
    finding = explain(evidence(BUSY, BUSY._replace(id="too"))).findings[0]
    assert finding.title == "All slots of the pool 'pool' are busy"
    assert finding.sentence.startswith("4 of 4 slots are in use, 0 of them by other jobs. ")


def test_unchecked_tasks_are_mentioned_where_the_first_tasks_find_no_room() -> None:
    half = Node("half", "running", slots=1, tasks=1)
    (finding,) = explain(evidence(half, waiting=required(9, 2, 2))).findings
    assert finding.title == "No node of the pool 'pool' has room for the first 9 of its tasks"
    assert "1 slot is free, but on no node the 2 that a task requires. Whether one that wasn't" in finding.sentence
    (finding,) = explain(evidence(half, waiting=required(10, 2, 2))).findings
    assert finding.title == "No node of the pool 'pool' has room for one of its tasks"
    assert "looked at" not in finding.sentence


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (Problem("", ""), " with an error that has no name. "),
        (Problem("Quota", ""), " with Quota. "),
        (Problem("", "No cores."), " with an error: No cores. "),
        (Problem("Quota", "No cores."), " with Quota: No cores. "),
    ],
)
def test_an_error_shows_as_much_as_the_service_named(problem: Problem, words: str) -> None:
    resize = evidence(pool_changes={"dedicated": Size(0, 2), "resize_errors": (problem,)})
    assert f"'pool' ended{words}" in explain(resize).findings[0].sentence
    scale = evidence(pool_changes={"dedicated": Size(0, 0), "auto_scale": AutoScale("x", error=problem)})
    assert f"evaluation failed{words}" in explain(scale).findings[0].sentence


@pytest.mark.parametrize(
    ("size", "words"), [(Size(0, 10), " of 10 nodes."), (Size(3, 1), " of 1 node."), (Size(3), ".")]
)
def test_a_formula_that_fails_leaves_the_target_of_a_pool_as_it_is(size: Size, words: str) -> None:
    scaled = evidence(pool_changes={"dedicated": size, "spot": Size(), "auto_scale": SCALE_ERROR})
    (finding,) = (found for found in explain(scaled).findings if found.rule == "autoScaleFailed")
    assert finding.sentence.endswith(f". So the pool 'pool' keeps its target{words}")


@pytest.mark.parametrize(
    ("found", "title", "who", "blocker"),
    [
        (
            Dependencies(1, whole=True, held=1, astray=1, blockers=(BlockingTask("gone", "missing", 1),)),
            "Its waiting task depends on tasks that are not there",
            "The one waiting task depends",
            "'gone' isn't in the job and holds 1 task",
        ),
        (
            HELD,
            "Its waiting tasks depend on tasks that failed",
            "All 10 waiting tasks depend",
            "'first' failed and holds 10 tasks",
        ),
        (
            replace(HELD, whole=False),
            "The first 10 of its waiting tasks depend on tasks that failed",
            "All of the first 10 waiting tasks depend",
            "'first' failed and holds 10 tasks",
        ),
        (
            Dependencies(100, whole=False, held=1, blockers=(BlockingTask("first", "running", 1),)),
            "Some of its waiting tasks depend on others that are not done",
            "Of the first 100 waiting tasks 1 depends",
            "'first' is running and holds 1 task",
        ),
    ],
)
def test_dependencies_have_whole_sentences(found: Dependencies, title: str, who: str, blocker: str) -> None:
    findings = explain(evidence(BUSY, dependencies=found, counts=TaskCounts(active=found.looked))).findings
    held = next(finding for finding in findings if finding.rule.startswith("dependencies"))
    assert held.title == title
    assert held.sentence == f"{who} on tasks that haven't completed as they must: {blocker}."


@pytest.mark.parametrize(
    ("nodes", "title"),
    [
        ((LOST, BUSY, BUSY), "1 of the pool's 3 nodes is unusable: the disk is full"),
        ((LOST, LOST._replace(id="lost-too"), BUSY), "2 of the pool's 3 nodes are unusable: the disk is full"),
        ((LOST, LOST._replace(id="lost-too")), "The pool's nodes are unusable: the disk is full"),
        ((LOST,), "The pool's only node is unusable: the disk is full"),
        ((FAILED, BUSY), "The start task fails on 1 of the pool's 2 nodes"),
        ((GONE, BUSY), "1 of the pool's 2 nodes was preempted"),
    ],
)
def test_a_few_nodes_are_not_called_all_of_the_pool(nodes: tuple[Node, ...], title: str) -> None:
    assert title in {finding.title for finding in explain(evidence(*nodes)).findings}


@pytest.mark.parametrize(
    ("node", "words"),
    [
        (FAILED, "1 of 1 node of the pool 'pool' failed its start task and gets no tasks."),
        (LOST, "1 of 1 node of the pool 'pool' can't be used or reached by Batch, and gets no tasks."),
        (GONE, "1 of 1 node of the pool 'pool' was taken back by Azure; what ran there waits to run again."),
        (
            SHUT,
            "1 of 1 node of the pool 'pool' gets no tasks: somebody disabled scheduling on it.",
        ),
        (COMING, "1 of 1 node of the pool 'pool' gets tasks once it has started and its start task has succeeded."),
    ],
)
def test_one_node_is_in_the_singular(node: Node, words: str) -> None:
    assert explain(evidence(node)).findings[0].sentence.startswith(words)


def test_several_nodes_are_in_the_plural() -> None:
    failed, coming = explain(evidence(FAILED, FAILED, COMING, COMING)).findings
    assert failed.sentence.startswith("2 of 4 nodes of the pool 'pool' failed their start task and get no tasks.")
    assert coming.sentence.startswith(
        "2 of 4 nodes of the pool 'pool' get tasks once they have started and their start task has succeeded."
    )


def test_preparation_that_failed_on_one_node_of_two_is_in_the_singular() -> None:
    one = evidence(BUSY, IDLE, preparation=Preparation(2, 1, frozenset({"idle"})))
    assert explain(one).findings[-1].sentence == (
        "It failed on 1 node of the pool, which takes no tasks of this job. 1 node is left for it."
    )


def test_a_shrinking_pool_has_no_advice_to_wait_for_nodes() -> None:
    shrinks = evidence(*[LEAVING] * 4, pool_changes={"dedicated": Size(4, 2), "allocation_state": "resizing"})
    (finding,) = explain(shrinks).findings
    assert (finding.rule, finding.severity) == ("poolResizing", "blocking")
    assert finding.sentence == "It has 4 nodes and is to have 2; none of them takes tasks."
    to_none = evidence(LEAVING, pool_changes={"dedicated": Size(1, 0), "allocation_state": "resizing"})
    assert codes_of(to_none) == [("poolTargetZero", "blocking")]
    grows = evidence(pool_changes={"dedicated": Size(0, 1), "allocation_state": "resizing"})
    assert explain(grows).findings[0].sentence.startswith("It has 0 of 1 dedicated node; tasks start when")


def test_nodes_that_leave_are_no_evidence_of_scheduling_that_is_switched_off() -> None:
    (finding,) = (f for f in explain(evidence(SHUT, LEAVING)).findings if f.rule == "nodesOffline")
    assert (finding.evidence["affectedNodes"], finding.evidence["examples"]) == (1, ("shut",))


def test_a_retried_start_task_is_shown_with_its_retries() -> None:
    (finding,) = explain(evidence(RETRIED)).findings
    assert finding.title == "The start task fails on the pool's only node"
    assert "It is being tried again (57 retries so far)." in finding.sentence
    assert "Wait" not in finding.advice


def test_a_task_that_waits_alone_is_shown_in_the_singular() -> None:
    assert explain(evidence(FAILED, counts=TaskCounts(active=1))).summary == (
        "Its waiting task doesn't start: the start task fails on the pool's only node."
    )
    assert explain(evidence(BUSY, counts=TaskCounts(active=1, running=1))).summary == (
        "It runs 1 task, and 1 waits: all slots of the pool 'pool' are busy."
    )


@pytest.mark.parametrize("code", ["accountCOREquotareached", "AllocationTimedout", "Something", ""])
def test_resize_errors_have_words_in_any_case(code: str) -> None:
    means, advice = resize_words(code)
    assert means.endswith(".")
    assert advice.endswith(".")
    assert (means == resize_words("Something")[0]) == (code in {"Something", ""})


def test_a_job_without_a_pool_has_no_advice_to_create_one_under_its_id() -> None:
    nowhere = evidence(job=replace(JOB, pool_id=None), pool=None, pool_gone=True)
    (finding,) = explain(nowhere).findings
    assert finding.title == "The job has no pool"
    assert "this id" not in finding.advice


def test_a_name_at_the_beginning_of_a_title_keeps_its_letters_in_the_summary() -> None:
    failed = evidence(pool_changes={"dedicated": Size(0, 2), "resize_errors": (Problem("AllocationFailed", "No."),)})
    assert explain(failed).summary.endswith(": Azure couldn't allocate the nodes.")
