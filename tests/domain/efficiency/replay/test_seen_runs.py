"""Workloads made from cached tasks: what their starts and ends show."""

import pytest

from shared.domain.efficiency.replay.estimates import estimate_of
from shared.domain.efficiency.replay.plans import Scenario
from shared.domain.efficiency.replay.seen_runs import MAX_TASKS, workload_of
from shared.domain.efficiency.replay.workloads import InterruptionRate, ReplayTask, Workload
from shared.domain.tasks.tasks import ACTIVE, COMPLETED, SUCCESS, Task

BEGIN = 1_700_000_000_000
SECOND = 1000


def task(name: str, start: float, end: float, node: str = "a", *, created: float = 0, slots: int = 1) -> Task:
    start, end, creation = (BEGIN + round(at * SECOND) for at in (start, end, created))
    return Task(name, COMPLETED, SUCCESS, end, creation, start, end, 0, slots=slots, node=("pool", node))


def test_waits_between_runs_are_those_in_which_a_task_waited() -> None:
    runs = [task("1", 31, 91), task("2", 93, 153), task("3", 400, 460, created=399), task("4", 33, 93, "b")]
    found = workload_of(runs, total=4, slots=1)
    assert found
    assert list(found.gaps) == [2 * SECOND]
    assert found.arrivals == (29 * SECOND, 31 * SECOND)
    assert (found.nodes, found.end) == (2, 460 * SECOND)
    assert [one.release for one in found.tasks] == [0, 0, 0, 399 * SECOND]


def test_a_node_whose_first_task_started_at_once_was_ready_before() -> None:
    runs = [task("1", 1, 61), task("2", 301, 361, "b", created=300), task("3", 90, 100, "c")]
    found = workload_of(runs, total=3, slots=1)
    assert found
    assert found.arrivals == (0, 0, 89 * SECOND)


def test_nodes_that_come_one_after_the_other_count_once() -> None:
    found = workload_of([task("1", 0, 60), task("2", 70, 130, "b"), task("3", 75, 90, "c")], total=3, slots=1)
    assert found
    assert found.nodes == 2


def test_groups_that_began_after_others_are_stages_of_jobs_with_dependencies() -> None:
    runs = [task("prep-1", 0, 60), task("prep-2", 0, 90, "b"), task("draw-1", 92, 152), task("log-1", 10, 20, "c")]
    found = workload_of(runs, total=4, slots=1, uses_dependencies=True)
    assert found
    assert [(one.duration // SECOND, found.needs[one.stage]) for one in found.tasks] == [
        (60, frozenset()), (90, frozenset()), (10, frozenset()), (60, frozenset({0, 1})),
    ]  # fmt: skip
    free = workload_of(runs, total=4, slots=1)
    assert free
    assert {one.stage for one in free.tasks} == {0}


def test_tasks_that_have_not_ended_are_left_out() -> None:
    waiting = Task("2", ACTIVE, transition=BEGIN, creation=BEGIN)
    assert workload_of([waiting], total=1, slots=1) is None
    found = workload_of([waiting, task("1", 5, 8)], total=1, slots=1)
    assert found
    assert [one.duration for one in found.tasks] == [3 * SECOND]


def test_a_sample_of_many_tasks_has_their_mean_duration() -> None:
    runs = [task(f"{number:06}", number, number + 60, f"n{number % 50}") for number in range(3 * MAX_TASKS)]
    found = workload_of(runs, total=9 * MAX_TASKS, slots=100, run_mean=90 * SECOND)
    assert found
    assert (len(found.tasks), found.total, found.is_sampled) == (MAX_TASKS, 9 * MAX_TASKS, True)
    assert {one.duration for one in found.tasks} == {90 * SECOND}


def test_an_estimate_is_the_same_for_the_same_seed_and_holds_what_was_seen() -> None:
    runs = [
        task(f"{wave}-{node}", 30 + wave * 62 + node / 10, 90 + wave * 62 + node / 10, f"n{node}")
        for node in range(8)
        for wave in range(10)
    ]
    found = workload_of(runs, total=80, slots=1)
    assert found
    one, other = (estimate_of(found, Scenario(8, 1), seed="a") for _ in range(2))
    assert one
    assert one == other
    assert one.end.low < found.end < one.end.high
    assert abs(one.end.expected / found.end - 1) < 0.02


def test_a_wide_task_waits_from_when_the_last_of_its_slots_became_free() -> None:
    runs = [task("1", 0, 60), task("2", 0, 90), task("3", 91, 151, slots=2), task("4", 153, 163), task("5", 154, 164)]
    found = workload_of(runs, total=5, slots=2)
    assert found
    assert sorted(found.gaps) == [1 * SECOND, 2 * SECOND, 3 * SECOND]


def test_tasks_are_in_the_order_of_ids_where_starts_follow_these() -> None:
    late = task("9", 62, 122)._replace(retries=1)
    runs = [task("10", 20, 80), late, task("8", 0.5, 60), task("11", 19, 70), task("12", 30, 95)]
    found = workload_of(runs, total=5, slots=1)
    assert found
    assert [one.duration // SECOND for one in found.tasks] == [59, 60, 60, 51, 65]
    against = [task(f"{9 - number}", 10 * number, 10 * number + 60 + number) for number in range(8)]
    found = workload_of(against, total=8, slots=1)
    assert found
    assert [one.duration // SECOND for one in found.tasks] == [60 + number for number in range(8)]


def test_wide_tasks_that_started_later_keep_their_place() -> None:
    runs = [task(f"{at}", 70 * at if at % 2 else 900 + at, 2000 + at, slots=1 + (at + 1) % 2) for at in range(10)]
    found = workload_of(runs, total=10, slots=4)
    assert found
    assert [one.slots for one in found.tasks] == [2, 1] * 5


def test_many_interruptions_of_idle_nodes_take_fewer_replays_or_none() -> None:
    week = 7 * 24 * 3600 * SECOND
    tasks = [ReplayTask(at * week // 20, 60 * SECOND) for at in range(20)]
    work = Workload(tasks, len(tasks), 4, week, (0,))
    replays = {}
    for nodes in (4, 100, 1000, 5000):
        found = estimate_of(work, Scenario(nodes, 1, interruptions=InterruptionRate(0.05, 1, 1000)), seed="1")
        replays[nodes] = found and found.replays
    assert replays == {4: 50, 100: 20, 1000: 2, 5000: None}


@pytest.mark.parametrize(("start", "end", "misfit"), [(0, 0, 0.0), (-0.5, -0.5, 0.0), (-2, -1, 1.0)])
def test_a_job_does_not_end_before_its_begin_where_a_nodes_clock_says_so(
    start: float, end: float, misfit: float
) -> None:
    found = workload_of([task("1", start, end)], total=1, slots=1)
    assert found
    estimate = estimate_of(found, Scenario(1, 1), seed="1")
    assert estimate
    assert (found.end, estimate.misfit(found.end)) == (0, misfit)


def test_the_misfit_is_a_share_of_the_expected_end() -> None:
    found = workload_of([task("1", 5, 65)], total=1, slots=1)
    assert found
    estimate = estimate_of(found, Scenario(1, 1), seed="1")
    assert estimate
    assert (estimate.misfit(found.end), estimate.misfit(2 * found.end)) == (0.0, 1.0)


def test_the_spread_has_the_ends_under_all_stretches_that_are_possible() -> None:
    found = workload_of([task(f"{at}", 5 + 60 * at, 65 + 60 * at) for at in range(10)], total=10, slots=1)
    assert found
    plain, known = Scenario(1, 1), Scenario(1, 1, bounds=(0.25, 2.0))
    usual, wide = (estimate_of(found, scenario, seed="1") for scenario in (plain, known))
    assert usual
    assert wide
    assert wide.end.expected == usual.end.expected
    assert wide.end.low < 0.3 * usual.end.expected < 1.9 * usual.end.expected < wide.end.high
    assert wide.nodes.low < 0.3 * usual.nodes.expected < 1.9 * usual.nodes.expected < wide.nodes.high
    assert (usual.replays, wide.replays) == (50, 74)
