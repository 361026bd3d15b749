"""The scheduler model: figures that follow from a few tasks by hand."""

from dataclasses import replace
from time import process_time

import pytest

from shared.domain.efficiency.replay.draws import Draws
from shared.domain.efficiency.replay.event_budget import EventBudget
from shared.domain.efficiency.replay.plans import Scenario, replay_once
from shared.domain.efficiency.replay.scheduler import NodeTimes
from shared.domain.efficiency.replay.workloads import InterruptionRate, ReplayTask, Workload

MINUTE = 60_000


def times(workload: Workload, scenario: Scenario, seed: int = 1) -> NodeTimes:
    found = replay_once(workload, scenario, Draws(seed), EventBudget(10**9), resampled=False)
    assert found
    return found


def of(*tasks: ReplayTask) -> Workload:
    return Workload(tasks, len(tasks), nodes=1, end=0, arrivals=(0,))


def test_tasks_take_turns_in_a_slot_and_share_more() -> None:
    work = of(*(ReplayTask(0, MINUTE) for _ in range(6)))
    assert times(work, Scenario(1, 1)).end == 6 * MINUTE
    assert times(work, Scenario(1, 2)).end == 3 * MINUTE
    assert times(work, Scenario(3, 1)).end == 2 * MINUTE
    assert times(work, Scenario(3, 1, stretch=1.5)).end == 3 * MINUTE


def test_the_time_of_nodes_is_divided_without_rest() -> None:
    work = replace(
        of(ReplayTask(0, MINUTE), ReplayTask(0, 3 * MINUTE, runs=2)), arrivals=(MINUTE,), start_up=MINUTE // 2
    )
    found = times(work, Scenario(2, 2))
    assert found.end == 7 * MINUTE  # a minute until nodes are ready, and twice three
    assert found.nodes == 2 * 6.5 * MINUTE
    assert (found.held, found.retried, found.interrupted) == (2 * MINUTE, 1.5 * MINUTE, 0)
    assert (found.idle_nodes, found.starting) == (5 * MINUTE, MINUTE)
    assert sum(found[2:]) == found.nodes


def test_a_wide_task_waits_for_a_node_with_enough_slots() -> None:
    work = of(ReplayTask(0, MINUTE), ReplayTask(0, MINUTE, slots=2), ReplayTask(0, MINUTE))
    assert times(work, Scenario(1, 2)).end == 2 * MINUTE
    spread = of(ReplayTask(0, MINUTE), ReplayTask(0, MINUTE), ReplayTask(0, MINUTE, slots=2))
    assert times(replace(spread, is_packed=True), Scenario(2, 2)).end == MINUTE
    assert times(spread, Scenario(2, 2)).end == 2 * MINUTE


def test_tasks_wait_for_their_release_and_for_the_stages_they_need() -> None:
    late = of(ReplayTask(0, MINUTE), ReplayTask(5 * MINUTE, MINUTE))
    assert times(late, Scenario(4, 1)).end == 6 * MINUTE
    needs = (frozenset[int](), frozenset((0,)))
    staged = of(ReplayTask(0, MINUTE), ReplayTask(0, 2 * MINUTE), ReplayTask(0, MINUTE, stage=1))
    assert times(replace(staged, needs=needs), Scenario(4, 1)).end == 3 * MINUTE


def test_a_slot_waits_between_two_runs() -> None:
    work = replace(of(ReplayTask(0, MINUTE), ReplayTask(0, MINUTE)), gaps=(2000,))
    found = times(work, Scenario(1, 1))
    assert (found.end, found.idle_slots) == (2 * MINUTE + 4000, 4000)


def test_interrupted_runs_begin_anew_after_their_node_is_back() -> None:
    work = replace(of(*(ReplayTask(0, 10 * MINUTE) for _ in range(200))), start_up=MINUTE)
    calm, rough = (times(work, Scenario(4, 1, interruptions=InterruptionRate(rate, 1, MINUTE))) for rate in (0, 1))
    assert calm.interrupted == 0
    assert rough.interrupted == pytest.approx(calm.held / 12, rel=0.4)  # five minutes an hour and node
    assert rough.held == calm.held
    assert rough.end > 1.08 * calm.end
    assert (
        replay_once(
            work,
            Scenario(4, 1, interruptions=InterruptionRate(600, 1, MINUTE)),
            Draws(1),
            EventBudget(10**9),
            resampled=False,
        )
        is None
    )


@pytest.mark.parametrize(("nodes", "slots"), [(20, 4), (200, 1), (3, 2), (2000, 4)])
def test_a_sample_ends_as_all_tasks_do(nodes: int, slots: int) -> None:
    draws = Draws(7)
    tasks = [ReplayTask(0, draws.randint(MINUTE, 5 * MINUTE)) for _ in range(20_000)]
    whole = Workload(tasks, len(tasks), 20, 0, (30_000,), (1000,))
    part = Workload(tasks[::10], len(tasks), 20, 0, (30_000,), (1000,))
    scenario = Scenario(nodes, slots, interruptions=InterruptionRate(0.2, 1, MINUTE))
    expected, found = times(whole, scenario), times(part, scenario)
    assert found.end == pytest.approx(expected.end, rel=0.1 if nodes == 2000 else 0.03)
    assert found.held == pytest.approx(expected.held, rel=0.02)
    assert sum(found[2:]) == pytest.approx(found.nodes, rel=0.01)


def test_a_node_that_is_away_at_the_end_is_paid_until_its_interruption() -> None:
    work = of(*(ReplayTask(0, 10 * MINUTE) for _ in range(8)))
    long_away = Scenario(4, 1, interruptions=InterruptionRate(0.5, 1, 480 * MINUTE))
    found = [times(replace(work, start_up=5 * MINUTE), long_away, seed) for seed in range(40)]
    interrupted = [one for one in found if one.interrupted]
    assert len(interrupted) > 10
    for one in found:
        assert sum(one[2:]) == pytest.approx(one.nodes)
        assert one.nodes >= 80 * MINUTE


def test_a_task_that_no_node_has_slots_for_ends_the_replay() -> None:
    work = of(ReplayTask(0, MINUTE, slots=2))
    rough = Scenario(1, 1, interruptions=InterruptionRate(1, 1, MINUTE))
    assert replay_once(work, rough, Draws(1), EventBudget(10**9), resampled=False) is None


def test_a_sample_on_very_many_slots_ends_as_all_tasks_do_at_little_expense() -> None:
    draws = Draws(7)
    durations = [draws.randint(MINUTE, 5 * MINUTE) for _ in range(200)]
    whole = Workload([ReplayTask(0, one) for one in durations] * 100, 20_000, 20, 0, (0,))
    part = Workload(whole.tasks[:1000], 1_000_000, 20, 0, (0,))
    expected, found = (times(each, Scenario(12, 200)) for each in (whole, replace(part, total=20_000)))
    assert found.end == pytest.approx(expected.end, rel=0.02)
    assert found.held == pytest.approx(expected.held, rel=0.02)
    before = process_time()
    times(part, Scenario(900, 256))
    assert process_time() - before < 0.5
