"""A node's milestones as lists show them: what is known, and why the rest is not, also where lists lack something."""

from collections.abc import Sequence

from shared.domain.nodes.nodes import Node, StartRun
from shared.domain.nodes.start_ups import (
    MAX_UNSEEN,
    PHASES,
    REASONS,
    Interval,
    StartTaskKind,
    StartUp,
    first_start_up,
    followed_start_up,
    sighting_of,
    sightings,
    start_up_phase,
)

S = 1000
A = 1_700_000_000_000
"""When the node was allocated."""
NEW = Node("tvm-1", "creating", transition=A, allocated=A, vm_size="d4")
OLD = NEW._replace(allocated=A - 3_600_000)
BOOTED = NEW._replace(state="starting", booted=A + 60 * S, transition=A + 60 * S)
IDLE = BOOTED._replace(state="idle", transition=A + 90 * S)
STARTING = BOOTED._replace(state="waitingforstarttask", start=StartRun("running", start=A + 80 * S))
STARTED = BOOTED._replace(
    state="idle", transition=A + 121 * S, start=StartRun("completed", "success", 0, A + 80 * S, A + 120 * S)
)


def running(node: Node, at: int, tasks: int = 1, run: int = 0) -> Node:
    return node._replace(state="running", transition=A + at * S, tasks=tasks, slots=tasks, tasks_run=run)


def seen(
    *lists: tuple[int, Node], kind: StartTaskKind = "none", wished: int = A - 30 * S, before: Node | None = None
) -> StartUp:
    """Returns the start-up after lists, each so many seconds after the allocation, with the node as it was then."""
    found, known = None, A
    for at, node in lists:
        sighting = sighting_of(before, node)
        found = found or first_start_up(sighting, image="image", start_task=kind)
        assert found is not None
        found = followed_start_up(found, sighting, Interval(known, A + at * S), wished=wished)
        before, known = node, A + at * S
    assert found is not None
    return found


def phases(found: StartUp) -> dict[str, float | str]:
    spans = {phase: start_up_phase(found, phase) for phase in PHASES}
    return {phase: span / S if isinstance(span, int) else span for phase, span in spans.items()}


def test_each_phase_of_a_node_with_a_start_task_and_a_preparation_is_known() -> None:
    preparing = running(STARTED, 150, tasks=0)
    lists = [(10, NEW), (70, BOOTED), (85, STARTING), (130, STARTED), (160, preparing), (180, running(STARTED, 150))]
    assert phases(seen(*lists, kind="awaited")) == {
        "allocation": 30.0, "boot": 60.0, "setup": 20.0, "startTask": 40.0, "wait": 30.0, "preparation": 20.0,
        "overhead": 170.0, "total": 200.0,
    }  # fmt: skip


def test_without_a_start_task_setup_lasts_until_a_poll_sees_the_node_idle() -> None:
    found = phases(seen((10, NEW), (95, IDLE), (130, running(IDLE, 120))))
    assert (found["setup"], found["wait"], found["startTask"]) == (30.0, 30.0, "noStartTask")
    assert (found["preparation"], found["total"], found["overhead"]) == ("preparationNotSeen", 150.0, 120.0)


def test_a_node_that_works_before_a_poll_sees_it_idle_has_setup_and_wait_only_in_its_total() -> None:
    found = phases(seen((10, NEW), (70, BOOTED), (100, running(IDLE, 92))))
    assert (found["setup"], found["wait"]) == ("idleNotSeen", "idleNotSeen")
    assert found["total"] == found["overhead"] == 122.0


def test_the_end_of_a_start_task_is_known_though_no_poll_saw_the_node_idle() -> None:
    found = phases(seen((10, NEW), (85, STARTING), (130, running(STARTED, 125)), kind="awaited"))
    assert (found["startTask"], found["wait"], found["total"]) == (40.0, 5.0, 155.0)


def test_a_node_without_a_task_has_everything_up_to_its_wait() -> None:
    found = phases(seen((10, NEW), (85, STARTING), (130, STARTED), kind="awaited"))
    assert (found["boot"], found["setup"], found["startTask"]) == (60.0, 20.0, 40.0)
    assert {found[phase] for phase in ("wait", "preparation", "overhead", "total")} == {"noTaskSoFar"}


def test_a_node_that_is_being_created_has_only_its_allocation() -> None:
    found = phases(seen((10, NEW), kind="awaited"))
    assert found["allocation"] == 30.0
    assert {found[phase] for phase in ("boot", "setup", "startTask")} == {"notSoFar"}


def test_without_a_resize_there_is_neither_an_allocation_nor_a_total() -> None:
    found = phases(seen((10, NEW), (95, IDLE), (130, running(IDLE, 120)), wished=0))
    assert {found[phase] for phase in ("allocation", "overhead", "total")} == {"resizeNotSeen"}
    assert found["wait"] == 30.0


def test_the_wish_is_taken_over_where_only_a_later_list_of_pools_shows_the_resize() -> None:
    first = seen((10, NEW), wished=0)
    later = followed_start_up(first, sighting_of(NEW, BOOTED), Interval(A, A + 70 * S), wished=A - 5 * S)
    assert phases(later)["allocation"] == 5.0


def test_a_retried_start_task_isnt_apart_from_setup_but_the_wait_begins_at_its_end() -> None:
    retried = STARTED._replace(start=StartRun("completed", "success", 0, A + 200 * S, A + 240 * S, retries=2))
    lists = [(10, NEW), (85, STARTING), (250, retried), (300, running(retried, 280))]
    found = phases(seen(*lists, kind="awaited"))
    assert (found["setup"], found["startTask"], found["wait"]) == ("startTaskRetried", "startTaskRetried", 40.0)


def test_a_failed_start_task_ends_the_start_up() -> None:
    failed = BOOTED._replace(state="starttaskfailed", start=StartRun("completed", "failure", 1, A + 80 * S, A + 90 * S))
    found = seen((10, NEW), (95, failed), kind="awaited")
    assert found.is_over
    assert phases(found)["startTask"] == phases(found)["total"] == "startTaskFailed"
    assert phases(found)["boot"] == 60.0


def test_a_start_task_that_tasks_dont_wait_for_takes_no_part() -> None:
    beside = STARTED._replace(transition=A + 81 * S)
    found = phases(seen((10, NEW), (95, beside), (130, running(beside, 120)), kind="beside"))
    assert (found["setup"], found["startTask"], found["wait"]) == (20.0, "startTaskNotAwaited", 39.0)


def test_a_restart_before_the_first_task_ends_the_start_up_and_one_after_it_doesnt() -> None:
    again = BOOTED._replace(booted=A + 300 * S)
    found = seen((10, NEW), (95, IDLE), (310, again))
    assert (found.is_over, phases(found)["total"]) == (True, "restarted")
    worked = seen((10, NEW), (95, IDLE), (130, running(IDLE, 120)), (310, again))
    assert phases(worked)["total"] == 150.0


def test_tasks_that_came_and_went_between_two_lists_began_within_these() -> None:
    idle_again = IDLE._replace(transition=A + 118 * S, tasks_run=3)
    assert phases(seen((10, NEW), (95, IDLE), (120, idle_again)))["wait"] == 28.0
    old_stamp = IDLE._replace(transition=A + 80 * S, tasks_run=3)
    assert phases(seen((10, NEW), (95, IDLE), (120, old_stamp)))["wait"] == 5.0


def test_a_node_that_worked_while_polls_were_missing_has_no_wait() -> None:
    late = 100 + round(MAX_UNSEEN.total_seconds())
    found = phases(seen((10, NEW), (95, IDLE), (late, running(IDLE, late - 5, run=7))))
    assert found["wait"] == found["total"] == "pollsMissed"
    assert found["setup"] == 30.0


def test_stamps_of_a_clock_that_is_behind_give_no_negative_time() -> None:
    behind = BOOTED._replace(booted=A - 2 * S)
    assert phases(seen((10, NEW), (20, behind)))["boot"] == 0.0


def test_the_same_list_once_more_changes_nothing() -> None:
    lists: Sequence[tuple[int, Node]] = [(10, NEW), (95, IDLE), (120, running(IDLE, 100, tasks=0))]
    once = seen(*lists)
    repeated = followed_start_up(
        once, sighting_of(IDLE, lists[2][1]), Interval(A + 95 * S, A + 120 * S), wished=A - 30 * S
    )
    assert repeated == once


def test_only_nodes_that_have_run_no_task_are_followed() -> None:
    changed = {"a": IDLE, "b": running(IDLE, 95), "new": NEW, "same": BOOTED, "old": OLD}
    before = {"a": BOOTED, "b": running(IDLE, 91), "same": BOOTED}
    assert sightings(before, changed, A + 100 * S) == (sighting_of(BOOTED, IDLE), sighting_of(None, NEW))
    assert sightings({}, {"a": NEW._replace(allocated=0)}, A) == ()


def test_a_known_node_begins_no_start_up() -> None:
    assert first_start_up(sighting_of(NEW, BOOTED), image="", start_task="none") is None


def test_each_reason_is_a_sentence() -> None:
    assert all(sentence[0].isupper() and sentence.endswith(".") for sentence in REASONS.values())
