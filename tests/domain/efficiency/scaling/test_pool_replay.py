"""Replays of pools that scale: figures that follow from a few tasks by hand, and formulas on recorded samples."""

from collections.abc import Sequence

import pytest

from shared.domain.autoscale.evaluation import Targets
from shared.domain.autoscale.formula_errors import FormulaLimitError
from shared.domain.autoscale.parser import parsed
from shared.domain.autoscale.samples import SampleHistory
from shared.domain.efficiency.replay.draws import Draws
from shared.domain.efficiency.replay.estimates import Spread
from shared.domain.efficiency.scaling.agreement import Evaluator, reproduced
from shared.domain.efficiency.scaling.plans import plan_of, seen_pool
from shared.domain.efficiency.scaling.pool_replay import ScalingTimes, replayed_pool
from shared.domain.efficiency.scaling.recorded_pool import (
    NodePoint,
    PoolTask,
    RecordedPool,
    recorded_evaluations,
)
from shared.domain.efficiency.scaling.scaling_plans import ScalingPlan, WaitingTask

MINUTE = 60_000
BEGIN = 1_767_600_000_000  # 2026-01-05T08:00:00Z, a Monday
_EACH_5 = [BEGIN + at * 5 * MINUTE for at in range(12)]


def evaluator(text: str, max_steps: int = 1_000_000) -> Evaluator:
    return Evaluator(parsed(text), 1, max_steps=max_steps, seed="1")


def plan(tasks: Sequence[WaitingTask], *, nodes: int = 0, start_up: int = 0, slots: int = 1) -> ScalingPlan:
    return ScalingPlan(
        since=BEGIN,
        until=BEGIN + 60 * MINUTE,
        tasks=tasks,
        slots=slots,
        targets=Targets(nodes, 0),
        nodes=Targets(nodes, 0),
        evaluations=_EACH_5,
        history=SampleHistory(),
        start_ups=(start_up,),
    )


def times(text: str, given: ScalingPlan) -> ScalingTimes:
    return replayed_pool(given, evaluator(text), Draws(1))


def test_a_pool_grows_after_its_start_up_and_shrinks_when_nothing_waits() -> None:
    tasks = [WaitingTask(BEGIN + MINUTE, 4 * MINUTE)] * 2
    found = times("$TargetDedicatedNodes = $PendingTasks", plan(tasks, start_up=2 * MINUTE))
    assert found.targets == [
        (BEGIN, (0, 0)),
        (BEGIN + 5 * MINUTE, (2, 0)),
        (BEGIN + 15 * MINUTE, (0, 0)),
    ]
    assert (found.dedicated, found.spot) == (2 * 10 * MINUTE, 0)
    assert (found.waited, found.longest_wait) == (2 * 6 * MINUTE, 6 * MINUTE)
    assert (found.tasks, found.unfinished, found.lost) == (2, 0, 0)


@pytest.mark.parametrize(
    ("option", "minutes", "lost", "unfinished"),
    [("taskcompletion", 12, 0, 0), ("requeue", 5, 1, 1), ("terminate", 5, 1, 0)],
)
def test_a_node_that_is_removed_waits_for_its_run_or_loses_it(
    option: str, minutes: int, lost: int, unfinished: int
) -> None:
    text = f"$TargetDedicatedNodes = time().minute < 5 ? 1 : 0; $NodeDeallocationOption = {option}"
    found = times(text, plan([WaitingTask(BEGIN, 12 * MINUTE)], nodes=1))
    assert found.dedicated == minutes * MINUTE
    assert (found.lost, found.unfinished) == (lost, unfinished)


def test_tasks_that_never_run_wait_until_the_end() -> None:
    found = times("$TargetDedicatedNodes = 0", plan([WaitingTask(BEGIN + 10 * MINUTE, MINUTE)]))
    assert (found.waited, found.tasks, found.unfinished) == (50 * MINUTE, 1, 1)


def test_wide_tasks_wait_for_a_node_with_enough_slots() -> None:
    tasks = [WaitingTask(BEGIN, MINUTE), WaitingTask(BEGIN, MINUTE, 2), WaitingTask(BEGIN, MINUTE)]
    found = times("$TargetDedicatedNodes = 1", plan(tasks, nodes=1, slots=2))
    assert (found.waited, found.unfinished) == (MINUTE, 0)


def test_samples_of_a_replay_are_those_of_its_own_nodes_and_tasks() -> None:
    text = "$TargetDedicatedNodes = min($CurrentDedicatedNodes.GetSample(TimeInterval_Minute * 4)) + 1"
    found = times(text, plan([]))
    assert [targets.dedicated for _, targets in found.targets] == list(range(12))


def test_a_spread_that_is_wider_than_its_figure_ends_at_nothing() -> None:
    assert Spread(10.0, 9.0, 12.0).widened(27.5) == (10.0, 0.0, 285.0)
    assert Spread(10.0, 9.0, 12.0).widened(0.2) == (10.0, 8.0, 12.0)


def test_a_hostile_formula_is_stopped() -> None:
    with pytest.raises(FormulaLimitError):
        replayed_pool(plan([]), evaluator("x = len(vec(1, 2)) + 1;" * 40, 1000), Draws(1))
    evaluations = [BEGIN + at * 60 for at in range(1, 50_000)]
    given = ScalingPlan(BEGIN, BEGIN + 60 * MINUTE, [], 1, Targets(0, 0), Targets(0, 0), evaluations, SampleHistory())
    with pytest.raises(FormulaLimitError):
        replayed_pool(given, evaluator("$TargetDedicatedNodes = 2500 - $TargetDedicatedNodes"), Draws(1))


def _recorded(targets: Sequence[int]) -> list[NodePoint]:
    """Returns what polls saw a minute after each evaluation, and another four minutes later."""
    return [
        NodePoint(_EACH_5[at] + late * MINUTE, number, 0, 0, number, Targets(number, 0))
        for at, number in enumerate(targets)
        for late in (1, 4)
    ]


def test_a_formula_reproduces_targets_from_the_stamps_of_tasks() -> None:
    start, end = BEGIN + 30 * MINUTE - 500, BEGIN + 40 * MINUTE - 500
    tasks = [PoolTask(BEGIN + at * 5 * MINUTE - 1000, start, end) for at in range(6)]
    nodes = _recorded([1, 2, 3, 4, 5, 6, 6, 6, 0, 0])
    pool = RecordedPool(BEGIN - 60 * MINUTE, tasks, nodes)
    evaluations = recorded_evaluations(_EACH_5[:10], {}, nodes)
    found = reproduced(evaluator("$TargetDedicatedNodes = $PendingTasks"), pool, evaluations)
    assert (found.evaluations, found.equal, found.mean_difference) == (10, 10, 0)
    other = reproduced(evaluator("$TargetDedicatedNodes = $RunningTasks"), pool, evaluations)
    assert (other.evaluations, other.equal) == (10, 4)
    assert other.differences[0] == (_EACH_5[0], (1, 0), (0, 0))


def test_windows_of_samples_reach_back_before_the_first_evaluation() -> None:
    pool = RecordedPool(BEGIN - 60 * MINUTE, [PoolTask(BEGIN - 2 * MINUTE)], _recorded([0] * 3))
    evaluations = recorded_evaluations(_EACH_5[:3], {_EACH_5[0]: Targets(0, 0)}, pool.nodes)
    text = "$TargetDedicatedNodes = min($PendingTasks.GetSample(TimeInterval_Minute * 5))"
    found = reproduced(evaluator(text), pool, evaluations)
    assert [at for at, _, _ in found.differences] == _EACH_5[1:3]


def test_an_evaluation_that_no_poll_saw_is_not_compared() -> None:
    nodes = [NodePoint(_EACH_5[2] + MINUTE, 1, 0, 0, 1, Targets(1, 0))]
    found = recorded_evaluations(_EACH_5[:3], {}, nodes)
    assert [one.after for one in found] == [None, None, (1, 0)]


def test_a_pool_that_no_poll_saw_yet_has_no_nodes_and_no_evaluations() -> None:
    seen = seen_pool(RecordedPool(BEGIN, [], []), BEGIN, BEGIN + MINUTE)
    assert (seen.dedicated, seen.spot, seen.mean_wait) == (0, 0, None)
    assert recorded_evaluations([], {}, []) == []


def test_seen_tasks_wait_within_the_range_as_those_of_a_replay_do() -> None:
    until = BEGIN + 10 * MINUTE
    tasks = [
        PoolTask(BEGIN - 5 * MINUTE, BEGIN - MINUTE, BEGIN + MINUTE),  # ran at the begin
        PoolTask(BEGIN - 5 * MINUTE, BEGIN + 2 * MINUTE),
        PoolTask(BEGIN + 4 * MINUTE),  # still waits
        PoolTask(BEGIN + MINUTE, None, BEGIN + 9 * MINUTE),  # ended without a run
        PoolTask(until),
    ]
    pool = RecordedPool(BEGIN - 60 * MINUTE, tasks, _recorded([1]))
    assert seen_pool(pool, BEGIN, until).mean_wait == (0 + 2 + 6) / 3 * MINUTE
    replay = replayed_pool(plan_of(pool, BEGIN, until, (), ()), None, Draws("seen"))
    assert replay.tasks == 3


def test_failed_evaluations_change_nothing_and_are_counted() -> None:
    pool = RecordedPool(BEGIN - 60 * MINUTE, [], _recorded([3] * 4))
    evaluations = recorded_evaluations(_EACH_5[:4], {}, pool.nodes)
    found = reproduced(evaluator("$TargetDedicatedNodes = avg($NoSuch.GetSample(1))"), pool, evaluations[1:])
    assert (found.equal, found.failed) == (3, 3)
    assert found.error == "Line 1, column 29: there is no variable '$NoSuch'."
