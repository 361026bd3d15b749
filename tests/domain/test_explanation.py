"""Rules over evidence: each at its bounds, and the order in which several are told."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.dependencies import Blocker, Dependencies
from shared.domain.evidence import Evidence, Finding, Preparation, Rival, Waiting
from shared.domain.explanation import AT_REST, OF_JOB, ON_THE_WAY, explain
from shared.domain.job_rules import JobRules
from shared.domain.jobs import JobFacts
from shared.domain.nodes import Node, NodeError, StartRun, summary_of
from shared.domain.pool_settings import AutoScale, Problem
from shared.domain.pools import NodesPicture, Pool, PoolFacts, Size, first_seen
from shared.domain.resize_advice import resize_words
from shared.domain.tasks import TaskCounts
from tests.domain.profiles import load_profile

load_profile()
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
JOB = JobFacts("job", NOW - 60 * MINUTE, "active", NOW - 60 * MINUTE, pool_id="pool", priority=0)
WAITS = TaskCounts(active=10)
FACTS = PoolFacts(
    "pool", NOW - 60 * MINUTE, "active", NOW - 60 * MINUTE, "standard_d2s_v5", allocation_state="steady",
    allocation_state_transition_time=NOW, dedicated=Size(2, 2), spot=Size(0, 0), slots_per_node=2,
)  # fmt: skip
FULL = tuple(Node(f"full-{number}", "running", slots=2, tasks=2) for number in range(3))
IDLE, BUSY = Node("idle", "idle"), Node("busy", "running", slots=2, tasks=2)
FAILED = Node("failed", "starttaskfailed", start=StartRun("completed", "failure", 7))
LOST = Node("lost", "unusable", errors=(NodeError("DiskFull", "no space"),))
GONE = Node("gone", "preempted", dedicated=False)
SHUT = Node("shut", "idle", scheduling="disabled")
COMING = Node("coming", "waitingforstarttask")
RETRIED = Node("retried", "waitingforstarttask", start=StartRun("running", "failure", retries=57))
LEAVING = Node("leaving", "leavingpool")
QUOTA = Problem("AccountCoreQuotaReached", "No cores.")
SCALE_ERROR = AutoScale("x", error=Problem("InsufficientSampleData", "No samples."))
RIVAL = Rival("other", 5, "active", JobRules(), TaskCounts(active=7, running=4), 4, 7)
HELD = Dependencies(10, whole=True, held=10, lost=10, blockers=(Blocker("first", "failed", 10),))
MOSTLY_HELD = replace(HELD, held=3, lost=3, unsure=7)


def pool(*nodes: Node, **changes: Any) -> Pool:
    facts = replace(FACTS, **changes)
    picture = NodesPicture(NOW, NOW, "firstRead", summary_of(nodes, facts.slots_per_node), "digest")
    return first_seen(facts, NOW).listed(picture)


def evidence(
    *nodes: Node, counts: TaskCounts = WAITS, pool_changes: dict[str, Any] | None = None, **more: Any
) -> Evidence:
    found = Evidence(NOW, JOB, counts=counts, pool=pool(*nodes, **(pool_changes or {})), nodes=nodes)
    return replace(found, **more)


def unseen(**pool_changes: Any) -> Evidence:
    """A pool whose nodes couldn't be read."""
    return evidence(pool=first_seen(replace(FACTS, **pool_changes), NOW))


def told(found: Evidence) -> list[tuple[str, str]]:
    return [(finding.code, finding.severity) for finding in explain(found).findings]


CASES: dict[str, tuple[Evidence, list[tuple[str, str]]]] = {
    "free slots": (evidence(IDLE), [("slotsFree", "info")]),
    "all busy": (evidence(BUSY), [("slotsBusy", "blocking")]),
    "busy and running": (evidence(BUSY, counts=TaskCounts(active=1, running=2)), [("slotsBusy", "limiting")]),
    "a higher priority": (
        evidence(BUSY, rivals=(RIVAL,)), [("higherPriorityJobs", "blocking"), ("slotsBusy", "blocking")]
    ),
    "the same priority": (evidence(BUSY, rivals=(replace(RIVAL, priority=0),)), [("slotsBusy", "blocking")]),
    "a higher priority that is disabled": (
        evidence(BUSY, rivals=(replace(RIVAL, state="disabled"),)), [("slotsBusy", "blocking")]
    ),
    "a higher priority at its own bound": (
        evidence(BUSY, rivals=(replace(RIVAL, rules=JobRules(max_parallel_tasks=4)),)), [("slotsBusy", "blocking")]
    ),
    "a higher priority beside free slots": (evidence(IDLE, rivals=(RIVAL,)), [("slotsFree", "info")]),
    "no node with room for a task": (
        evidence(Node("half", "running", slots=1, tasks=1), waiting=Waiting(10, 2, 2)), [("slotsBusy", "blocking")]
    ),
    "room for some tasks": (
        evidence(Node("half", "running", slots=1, tasks=1), waiting=Waiting(10, 1, 2)), [("slotsFree", "info")]
    ),
    "room that tasks not looked at might use": (
        evidence(Node("half", "running", slots=1, tasks=1), waiting=Waiting(9, 2, 2)), [("slotsBusy", "limiting")]
    ),
    "room for a task among more than were looked at": (
        evidence(IDLE, waiting=Waiting(9, 2, 2)), [("slotsFree", "info")]
    ),
    "nodes that could not be looked at": (replace(evidence(IDLE, waiting=Waiting(9, 2, 2)), nodes=()), []),
    "a quota, and free slots that no task fits": (
        evidence(
            Node("half", "running", slots=1, tasks=1), waiting=Waiting(10, 2, 2),
            pool_changes={"dedicated": Size(1, 4), "resize_errors": (QUOTA,)},
        ),
        [("resizeFailed", "blocking"), ("slotsBusy", "blocking")],
    ),
    "a quota, and free slots that no task fits as far as anybody looked": (
        evidence(
            Node("half", "running", slots=1, tasks=1), waiting=Waiting(9, 2, 2), rivals=(RIVAL,),
            pool_changes={"dedicated": Size(1, 4), "resize_errors": (QUOTA,)},
        ),
        [("resizeFailed", "limiting"), ("higherPriorityJobs", "limiting"), ("slotsBusy", "limiting")],
    ),
    "nobody wants nodes that nobody has read": (unseen(dedicated=Size(2, 0)), []),
    "resizing, with nodes that nobody has read": (unseen(dedicated=Size(2, 2), allocation_state="resizing"), []),
    "a quota, and nodes that nobody has read": (
        unseen(dedicated=Size(2, 4), resize_errors=(QUOTA,)), [("resizeFailed", "limiting")]
    ),
    "tasks too large": (evidence(IDLE, waiting=Waiting(10, 3, 3)), [("taskNeedsMoreSlots", "blocking")]),
    "some tasks too large, and full nodes": (
        evidence(BUSY, waiting=Waiting(10, 1, 3)), [("slotsBusy", "blocking"), ("taskNeedsMoreSlots", "limiting")]
    ),
    "some tasks too large of a job that runs on full nodes": (
        evidence(BUSY, counts=TaskCounts(active=10, running=2), waiting=Waiting(10, 1, 3)),
        [("slotsBusy", "limiting"), ("taskNeedsMoreSlots", "limiting")],
    ),
    "all tasks too large of a job that runs on full nodes": (
        evidence(BUSY, counts=TaskCounts(active=10, running=2), waiting=Waiting(10, 3, 3)),
        [("taskNeedsMoreSlots", "limiting"), ("slotsBusy", "limiting")],
    ),
    "some tasks too large": (evidence(IDLE, waiting=Waiting(10, 1, 3)), [("taskNeedsMoreSlots", "limiting")]),
    "start task failed": (evidence(FAILED), [("startTaskFailed", "blocking")]),
    "the most frequent trouble": (
        evidence(FAILED, LOST, LOST),
        [("nodesUnusable", "blocking"), ("startTaskFailed", "limiting")],
    ),
    "a bad node beside free ones": (evidence(IDLE, LOST), [("slotsFree", "info"), ("nodesUnusable", "info")]),
    "a bad node among full ones": (
        evidence(BUSY, BUSY, LOST), [("slotsBusy", "blocking"), ("nodesUnusable", "info")]
    ),
    "as many bad nodes as full ones": (
        evidence(BUSY, LOST), [("slotsBusy", "blocking"), ("nodesUnusable", "limiting")]
    ),
    "a start task that failed and is tried again": (evidence(RETRIED), [("startTaskFailed", "blocking")]),
    "start tasks that fail, and one that just runs": (
        evidence(RETRIED, FAILED, COMING), [("startTaskFailed", "blocking"), ("nodesStarting", "limiting")]
    ),
    "a quota, and start tasks that are tried again": (
        evidence(RETRIED, pool_changes={"dedicated": Size(1, 4), "resize_errors": (QUOTA,)}),
        [("startTaskFailed", "blocking"), ("resizeFailed", "blocking")],
    ),
    "preempted": (evidence(GONE), [("nodesPreempted", "blocking")]),
    "switched off": (evidence(SHUT), [("nodesOffline", "blocking")]),
    "starting": (evidence(COMING), [("nodesStarting", "blocking")]),
    "a failing start task before a quota": (
        evidence(FAILED, pool_changes={"dedicated": Size(1, 4), "resize_errors": (QUOTA,)}),
        [("startTaskFailed", "blocking"), ("resizeFailed", "blocking")],
    ),
    "a quota before spot nodes that were taken": (
        evidence(GONE, pool_changes={"dedicated": Size(0, 4), "resize_errors": (QUOTA,)}),
        [("resizeFailed", "blocking"), ("nodesPreempted", "blocking")],
    ),
    "a quota, and some nodes on their way": (
        evidence(COMING, pool_changes={"dedicated": Size(1, 4), "resize_errors": (QUOTA,)}),
        [("nodesStarting", "blocking"), ("resizeFailed", "limiting")],
    ),
    "a quota, and slots that are free": (
        evidence(IDLE, pool_changes={"dedicated": Size(1, 4), "resize_errors": (QUOTA,)}),
        [("slotsFree", "info"), ("resizeFailed", "info")],
    ),
    "an error of a pool that has all of its nodes": (
        evidence(BUSY, pool_changes={"dedicated": Size(1, 1), "resize_errors": (QUOTA,)}), [("slotsBusy", "blocking")]
    ),
    "a formula that fails": (
        evidence(pool_changes={"dedicated": Size(0, 0), "auto_scale": SCALE_ERROR}), [("autoScaleFailed", "blocking")]
    ),
    "nobody wants nodes": (evidence(pool_changes={"dedicated": Size(0, 0)}), [("poolTargetZero", "blocking")]),
    "a pool whose targets aren't told": (
        evidence(pool_changes={"dedicated": Size(0), "spot": Size(0)}), []
    ),
    "no nodes without a reason": (evidence(pool_changes={"dedicated": Size(0, 2)}), [("poolEmpty", "blocking")]),
    "resizing": (
        evidence(pool_changes={"dedicated": Size(0, 2), "allocation_state": "resizing"}), [("poolResizing", "blocking")]
    ),
    "growing beside full nodes": (
        evidence(BUSY, pool_changes={"dedicated": Size(1, 2), "allocation_state": "resizing"}),
        [("poolResizing", "blocking"), ("slotsBusy", "blocking")],
    ),
    "shrinking with free slots": (
        evidence(IDLE, pool_changes={"dedicated": Size(2, 1), "allocation_state": "resizing"}), [("slotsFree", "info")]
    ),
    "a pool being deleted": (evidence(IDLE, pool_changes={"state": "deleting"}), [("poolDeleting", "blocking")]),
    "no pool": (replace(evidence(), pool=None, pool_gone=True), [("poolMissing", "blocking")]),
    "a pool of which nothing is known": (replace(evidence(), pool=None), []),
    "all held by a failure": (
        evidence(pool_changes={"dedicated": Size(0, 0)}, dependencies=HELD),
        [("dependenciesFailed", "blocking"), ("poolTargetZero", "blocking")],
    ),
    "held as far as anybody looked": (
        evidence(BUSY, dependencies=replace(HELD, whole=False)),
        [("dependenciesFailed", "limiting"), ("slotsBusy", "limiting")],
    ),
    "held as far as anybody looked, and a pool that was scaled to none for it": (
        evidence(pool_changes={"dedicated": Size(0, 0), "auto_scale": AutoScale("x")}, dependencies=MOSTLY_HELD),
        [("dependenciesFailed", "limiting"), ("poolTargetZero", "limiting")],
    ),
    "held as far as anybody looked, and a pool that others use": (
        evidence(BUSY, rivals=(RIVAL,), dependencies=MOSTLY_HELD),
        [("dependenciesFailed", "limiting"), ("higherPriorityJobs", "limiting"), ("slotsBusy", "limiting")],
    ),
    "held as far as anybody looked, and nodes that don't come up": (
        evidence(FAILED, dependencies=MOSTLY_HELD),
        [("dependenciesFailed", "limiting"), ("startTaskFailed", "limiting")],
    ),
    "some held, some not, and a pool that is scaled to none": (
        evidence(pool_changes={"dedicated": Size(0, 0)}, dependencies=replace(HELD, held=6, lost=6, unsure=3)),
        [("poolTargetZero", "blocking"), ("dependenciesFailed", "limiting")],
    ),
    "no pool, and held as far as anybody looked": (
        replace(evidence(dependencies=MOSTLY_HELD), pool=None, pool_gone=True),
        [("dependenciesFailed", "limiting"), ("poolMissing", "limiting")],
    ),
    "some held of a job that runs on full nodes": (
        evidence(BUSY, counts=TaskCounts(active=10, running=2), dependencies=replace(HELD, held=9, lost=0)),
        [("slotsBusy", "limiting"), ("dependenciesUnsatisfied", "limiting")],
    ),
    "all held of a job that runs on full nodes": (
        evidence(BUSY, counts=TaskCounts(active=10, running=2), dependencies=replace(HELD, lost=0)),
        [("dependenciesUnsatisfied", "limiting"), ("slotsBusy", "limiting")],
    ),
    "some held": (
        evidence(IDLE, dependencies=replace(HELD, held=9, lost=0)), [("dependenciesUnsatisfied", "limiting")]
    ),
    "none held": (evidence(IDLE, dependencies=Dependencies(10, whole=True)), [("slotsFree", "info")]),
    "its own bound": (
        evidence(IDLE, counts=TaskCounts(active=3, running=1, preparing=1), rules=JobRules(max_parallel_tasks=2)),
        [("maxParallelTasks", "limiting")],
    ),
    "below its own bound": (
        evidence(IDLE, counts=TaskCounts(active=3, running=1), rules=JobRules(max_parallel_tasks=2)),
        [("slotsFree", "info")],
    ),
    "preparation failed everywhere": (
        evidence(IDLE, preparation=Preparation(1, 0, frozenset({"idle"}))), [("preparationFailed", "blocking")]
    ),
    "preparation failed somewhere": (
        evidence(IDLE, Node("b", "idle"), preparation=Preparation(2, 1, frozenset({"b"}))),
        [("preparationFailed", "limiting")],
    ),
    "preparation failed on a few of many nodes": (
        evidence(
            *FULL, IDLE, counts=TaskCounts(active=500, running=6), preparation=Preparation(4, 3, frozenset({"idle"}))
        ),
        [("slotsBusy", "limiting"), ("preparationFailed", "info")],
    ),
    "preparation failed on a few, and room on others": (
        evidence(IDLE, *FULL, LOST, preparation=Preparation(4, 3, frozenset({"lost"}))),
        [("slotsFree", "info"), ("nodesUnusable", "info"), ("preparationFailed", "info")],
    ),
    "preparation failed on as many nodes as are full": (
        evidence(BUSY, IDLE, preparation=Preparation(2, 1, frozenset({"idle"}))),
        [("slotsBusy", "blocking"), ("preparationFailed", "limiting")],
    ),
    "preparation failed everywhere, and a quota": (
        evidence(
            IDLE, preparation=Preparation(1, 0, frozenset({"idle"})),
            pool_changes={"dedicated": Size(1, 4), "resize_errors": (QUOTA,)},
        ),
        [("preparationFailed", "blocking"), ("resizeFailed", "info")],
    ),
    "preparation failed on a node that has left": (
        evidence(IDLE, preparation=Preparation(2, 1, frozenset({"left"}))), [("slotsFree", "info")]
    ),
    "disabled": (
        evidence(FAILED, job=replace(JOB, state="disabled")),
        [("jobDisabled", "blocking"), ("startTaskFailed", "blocking")],
    ),
    "disabled with nothing to do": (
        evidence(FAILED, job=replace(JOB, state="disabled"), counts=TaskCounts(completed=1, succeeded=1)),
        [("jobDisabled", "info"), ("allTasksCompleted", "info")],
    ),
    "nothing waits": (evidence(BUSY, LOST, counts=TaskCounts(running=2)), []),
    "no tasks": (evidence(LOST, counts=TaskCounts()), [("noTasks", "info")]),
    "completed": (evidence(LOST, job=replace(JOB, state="completed")), [("jobCompleted", "blocking")]),
    "terminating": (evidence(LOST, job=replace(JOB, state="terminating")), [("jobTerminating", "blocking")]),
    "deleting": (evidence(LOST, job=replace(JOB, state="deleting")), [("jobDeleting", "blocking")]),
    "deleted": (evidence(LOST, deleted=True), [("jobDeleted", "blocking")]),
    "out of time": (
        evidence(job=replace(JOB, state="completed", terminate_reason="MaxWallClockTimeExpiry")),
        [("jobExpired", "blocking")],
    ),
    "time that is up this moment": (
        evidence(IDLE, rules=JobRules(max_wall_clock_time=60 * MINUTE)), [("jobExpired", "blocking")]
    ),
    "time that is left": (
        evidence(IDLE, rules=JobRules(max_wall_clock_time=61 * MINUTE)), [("slotsFree", "info")]
    ),
    "tasks that nobody has read": (replace(evidence(LOST), counts=None), [("nodesUnusable", "info")]),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_evidence_is_answered_with_its_causes_in_order(case: str) -> None:
    found, expected = CASES[case]
    assert told(found) == expected


@pytest.mark.parametrize("case", CASES)
def test_every_sentence_ends_and_every_finding_says_what_to_do(case: str) -> None:
    found = explain(CASES[case][0])
    assert found.summary.endswith(".")
    for finding in found.findings:
        assert finding.detail.endswith((".", "'")), finding
        assert finding.advice.endswith(".") or "az batch" in finding.advice
        assert not finding.title.endswith(".")
        assert ".." not in f"{finding.title} {finding.detail} {finding.advice} {found.summary}"
        assert "None" not in f"{finding.title} {finding.detail}".replace("None is left", "")


def test_a_stale_error_is_told_last_and_as_past() -> None:
    seen = pool(BUSY, dedicated=Size(1, 2), resize_errors=(QUOTA,))
    again = replace(seen.facts, resize_errors=(), dedicated=Size(2, 2), allocation_state_transition_time=NOW + MINUTE)
    found = replace(evidence(BUSY), pool=seen.seen(again, NOW + 2 * MINUTE))
    assert told(found) == [("slotsBusy", "blocking"), ("resizeFailedBefore", "info")]
    failed = replace(seen.facts, allocation_state_transition_time=NOW + MINUTE)
    both = replace(found, pool=seen.seen(failed, NOW + 2 * MINUTE))
    assert both.pool
    assert [(error.attempts, error.first_seen) for error in both.pool.errors] == [(2, NOW)]
    assert told(both) == [("resizeFailed", "blocking"), ("slotsBusy", "blocking")]


def retried(attempts: int, **changes: Any) -> Pool:
    """A pool whose resize goes on after so many that timed out."""
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
def test_a_resize_that_follows_failed_ones_tells_their_error_and_not_just_to_wait(
    attempts: int, words: str, which: str
) -> None:
    (finding,) = explain(evidence(pool=retried(attempts))).findings
    assert (finding.code, finding.severity, finding.since) == ("poolResizing", "blocking", NOW)
    assert finding.title == f"The pool 'pool' is being resized after {words} that failed"
    assert finding.detail == f"It has 0 of 2 dedicated nodes; {which} ended with AllocationTimedout: Too slow."
    assert finding.advice == f"It may fail again. {resize_words('AllocationTimedout')[1]}"
    assert (finding.evidence["code"], finding.evidence["attempts"]) == ("AllocationTimedout", attempts)


def test_an_error_of_a_resize_that_was_made_good_is_none_of_the_one_that_goes_on() -> None:
    well = retried(1)
    grown = well.seen(replace(well.facts, allocation_state="steady", dedicated=Size(2, 2)), NOW + 5 * MINUTE)
    facts = replace(grown.facts, allocation_state="resizing", dedicated=Size(2, 4))
    more = grown.seen(replace(facts, allocation_state_transition_time=NOW + 9 * MINUTE), NOW + 9 * MINUTE)
    full = replace(more, picture=pool(BUSY, BUSY).picture)
    assert told(evidence(pool=full)) == [
        ("poolResizing", "blocking"), ("slotsBusy", "blocking"), ("resizeFailedBefore", "info"),
    ]  # fmt: skip
    assert explain(evidence(pool=full)).findings[0].advice.startswith("Wait: ")
    shrinking = retried(1, dedicated=Size(2, 0))
    assert told(evidence(pool=shrinking))[-1] == ("resizeFailedBefore", "info")


def test_a_place_in_the_queue_is_a_range_and_a_wait_only_where_tasks_ended() -> None:
    equal = replace(RIVAL, id="equal", priority=0, counts=TaskCounts(active=20), waiting_slots=40)
    found = evidence(BUSY, rivals=(RIVAL, equal), waiting_slots=10, per_minute=2.0)
    shown = explain(found).findings[0].evidence
    assert (shown["tasksAhead"], shown["slotsAhead"]) == (7, 7)
    assert (shown["tasksOfSamePriority"], shown["slotsOfSamePriority"]) == (20, 40)
    assert shown["estimatedWait"] == 4 * MINUTE
    assert "its next may start in about 4 minutes." in explain(found).findings[0].detail
    assert shown["estimatedWaitOfLast"] == timedelta(seconds=60 * (7 + 20 + 10) / 2)
    words = {
        None: "How fast tasks ended lately isn't known, so when it is its turn can't be told.",
        0.0: "No task ended lately, so when it is its turn can't be told.",
        0.000_01: "as tasks ended lately, it would take more than a year until its next may start.",
    }
    for rate, word in words.items():
        without = explain(replace(found, per_minute=rate)).findings[0]
        assert without.evidence["estimatedWait"] is None
        assert without.detail.endswith(word)


@pytest.mark.parametrize(("priority", "ahead", "equal"), [(5, 7, 0), (0, 0, 7), (-1, 0, 0)])
def test_free_slots_that_others_wait_for_are_told_with_these(priority: int, ahead: int, equal: int) -> None:
    (found,) = explain(evidence(IDLE, rivals=(replace(RIVAL, priority=priority),))).findings
    assert (found.evidence["tasksAhead"], found.evidence["tasksOfSamePriority"]) == (ahead, equal)
    assert ("7 tasks of other jobs" in found.detail) == bool(ahead + equal)


def test_what_was_not_looked_at_is_said_where_the_first_tasks_find_no_room() -> None:
    half = Node("half", "running", slots=1, tasks=1)
    (finding,) = explain(evidence(half, waiting=Waiting(9, 2, 2))).findings
    assert finding.title == "No node of the pool 'pool' has room for the first 9 of its tasks"
    assert "1 slot is free, but on no node the 2 that a task requires. Whether one that wasn't" in finding.detail
    (finding,) = explain(evidence(half, waiting=Waiting(10, 2, 2))).findings
    assert finding.title == "No node of the pool 'pool' has room for one of its tasks"
    assert "looked at" not in finding.detail


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (Problem("", ""), " with an error that has no name. "),
        (Problem("Quota", ""), " with Quota. "),
        (Problem("", "No cores."), " with an error: No cores. "),
        (Problem("Quota", "No cores."), " with Quota: No cores. "),
    ],
)
def test_an_error_is_told_as_far_as_the_service_named_it(problem: Problem, words: str) -> None:
    resize = evidence(pool_changes={"dedicated": Size(0, 2), "resize_errors": (problem,)})
    assert f"'pool' ended{words}" in explain(resize).findings[0].detail
    scale = evidence(pool_changes={"dedicated": Size(0, 0), "auto_scale": AutoScale("x", error=problem)})
    assert f"evaluation failed{words}" in explain(scale).findings[0].detail


@pytest.mark.parametrize(
    ("found", "title", "who", "blocker"),
    [
        (
            Dependencies(1, whole=True, held=1, astray=1, blockers=(Blocker("gone", "missing", 1),)),
            "Its waiting task depends on others that are not done",
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
            Dependencies(100, whole=False, held=1, blockers=(Blocker("first", "running", 1),)),
            "Some of its waiting tasks depend on others that are not done",
            "Of the first 100 waiting tasks 1 depends",
            "'first' is running and holds 1 task",
        ),
    ],
)
def test_dependencies_are_told_in_whole_sentences(found: Dependencies, title: str, who: str, blocker: str) -> None:
    told = explain(evidence(BUSY, dependencies=found, counts=TaskCounts(active=found.looked))).findings
    held = next(finding for finding in told if finding.code.startswith("dependencies"))
    assert held.title == title
    assert held.detail == f"{who} on tasks that haven't completed as they must: {blocker}."


@pytest.mark.parametrize(
    ("nodes", "title"),
    [
        ((LOST, BUSY, BUSY), "1 of the pool's 3 nodes is unusable"),
        ((LOST, LOST._replace(id="lost-too"), BUSY), "2 of the pool's 3 nodes are unusable"),
        ((LOST, LOST._replace(id="lost-too")), "The pool's nodes are unusable"),
        ((LOST,), "The pool's only node is unusable"),
        ((FAILED, BUSY), "The start task fails on 1 of the pool's 2 nodes"),
        ((GONE, BUSY), "1 of the pool's 2 nodes was preempted"),
    ],
)
def test_a_few_nodes_are_not_told_as_all_of_the_pool(nodes: tuple[Node, ...], title: str) -> None:
    assert title in {finding.title for finding in explain(evidence(*nodes)).findings}


def test_nodes_that_leave_are_no_evidence_of_scheduling_that_is_switched_off() -> None:
    (finding,) = (f for f in explain(evidence(SHUT, LEAVING)).findings if f.code == "nodesOffline")
    assert (finding.evidence["affectedNodes"], finding.evidence["examples"]) == (1, ("shut",))


def test_a_start_task_that_is_tried_again_is_told_with_its_retries() -> None:
    (finding,) = explain(evidence(RETRIED)).findings
    assert finding.title == "The start task fails on the pool's only node"
    assert "It is being tried again (57 retries so far)." in finding.detail
    assert "Wait" not in finding.advice


def test_tasks_of_one_job_that_waits_alone_are_told_in_the_singular() -> None:
    assert explain(evidence(FAILED, counts=TaskCounts(active=1))).summary == (
        "Its waiting task doesn't start: the start task fails on the pool's only node."
    )
    assert explain(evidence(BUSY, counts=TaskCounts(active=1, running=1))).summary == (
        "It runs 1 task, and 1 waits: all slots of the pool 'pool' are busy."
    )


@pytest.mark.parametrize("code", ["accountCOREquotareached", "AllocationTimedout", "Something", ""])
def test_resize_errors_have_words_whatever_their_case(code: str) -> None:
    means, advice = resize_words(code)
    assert means.endswith(".")
    assert advice.endswith(".")
    assert (means == resize_words("Something")[0]) == (code in {"Something", ""})


EVIDENCE = st.builds(
    evidence,
    *[st.sampled_from([IDLE, BUSY, FAILED, LOST, GONE, SHUT, COMING])] * 2,
    counts=st.builds(TaskCounts, active=st.integers(0, 2), running=st.integers(0, 2), completed=st.integers(0, 1)),
    job=st.sampled_from([JOB, replace(JOB, state="disabled"), replace(JOB, state="completed")]),
    rules=st.builds(JobRules, st.sampled_from([None, 1, 2])),
    rivals=st.sampled_from([(), (RIVAL,)]),
    dependencies=st.sampled_from([None, HELD, replace(HELD, whole=False)]),
    pool_changes=st.fixed_dictionaries({
        "dedicated": st.builds(Size, st.integers(0, 2), st.sampled_from([None, 0, 2])),
        "resize_errors": st.sampled_from([(), (QUOTA,)]),
        "auto_scale": st.sampled_from([None, SCALE_ERROR]),
        "allocation_state": st.sampled_from(["steady", "resizing"]),
        "state": st.sampled_from(["active", "deleting"]),
    }),
)  # fmt: skip


@given(EVIDENCE)
def test_whatever_is_so_severities_keep_their_meaning(found: Evidence) -> None:
    answer = explain(found)
    ranks = [("blocking", "limiting", "info").index(finding.severity) for finding in answer.findings]
    assert ranks == sorted(ranks)
    if found.runs or not found.waits:
        assert 0 not in ranks
    if not found.waits:
        assert set(ranks) <= {2}
    codes = [finding.code for finding in answer.findings]
    assert len(set(codes)) == len(codes)
    assert answer.running == (found.runs > 0)
    if found.waits and found.pool and found.pool.facts.state == "active":
        assert answer.findings
    assert explain(found) == answer


def test_every_rule_is_silent_about_a_job_that_runs_and_has_nothing_waiting() -> None:
    found = evidence(BUSY, LOST, GONE, counts=TaskCounts(running=3))
    assert [rule(found) for rule in (*OF_JOB, *AT_REST)] == [None] * (len(OF_JOB) + len(AT_REST))
    assert all(rule(found) is None or _is_info(rule(found)) for rule in ON_THE_WAY)


def _is_info(finding: Finding | None) -> bool:
    return finding is not None and finding.severity == "info"


def test_a_job_that_names_no_pool_is_not_told_to_create_one_under_its_id() -> None:
    nowhere = evidence(job=replace(JOB, pool_id=None), pool=None, pool_gone=True)
    (finding,) = explain(nowhere).findings
    assert finding.title == "The job has no pool"
    assert "this id" not in finding.advice


def test_a_name_at_the_beginning_of_a_title_keeps_its_letters_in_the_summary() -> None:
    failed = evidence(pool_changes={"dedicated": Size(0, 2), "resize_errors": (Problem("AllocationFailed", "No."),)})
    assert explain(failed).summary.endswith(": Azure couldn't allocate the nodes.")
