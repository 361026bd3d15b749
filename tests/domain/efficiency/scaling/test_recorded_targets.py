"""Replays that follow recorded targets: what resizes do to runs, how requeued ones wait, and how far replays miss."""

from collections.abc import Sequence
from datetime import datetime

import pytest

from shared.domain.autoscale.evaluation import Targets
from shared.domain.autoscale.samples import SampleHistory
from shared.domain.core.stamps import from_milliseconds
from shared.domain.efficiency.replay.draws import Draws
from shared.domain.efficiency.replay.estimates import Spread
from shared.domain.efficiency.scaling.estimates import Misfit, scaling_estimate
from shared.domain.efficiency.scaling.plans import SeenPool, as_recorded, plan_of
from shared.domain.efficiency.scaling.pool_replay import replayed_pool
from shared.domain.efficiency.scaling.recorded_pool import NodePoint, PoolTask, RecordedPool
from shared.domain.efficiency.scaling.resize_options import resize_options
from shared.domain.efficiency.scaling.scaling_plans import ScalingPlan, ScalingStep, WaitingTask
from shared.domain.events.batch_events import BatchEvent
from shared.domain.pools.pool_settings import Evaluation

MINUTE = 60_000
BEGIN = 1_767_600_000_000


def plan(tasks: Sequence[WaitingTask], *steps: ScalingStep) -> ScalingPlan:
    one, until = Targets(1, 0), BEGIN + 60 * MINUTE
    return ScalingPlan(BEGIN, until, tasks, 1, one, one, (), SampleHistory(), steps)


def step(minute: int, nodes: int, option: str | None = None) -> ScalingStep:
    return ScalingStep(BEGIN + minute * MINUTE, Targets(nodes, 0), option)


@pytest.mark.parametrize(
    ("option", "minutes", "lost", "waited"),
    [("taskcompletion", 50, 0, 0), ("requeue", 5, 1, 55), ("terminate", 5, 1, 0), (None, 5, 1, 55)],
)
def test_recorded_targets_are_followed_with_the_recorded_option_or_the_default(
    option: str | None, minutes: int, lost: int, waited: int
) -> None:
    found = replayed_pool(plan([WaitingTask(BEGIN, 50 * MINUTE)], step(5, 0, option)), None, Draws(1))
    assert (found.dedicated, found.lost, found.waited) == (minutes * MINUTE, lost, waited * MINUTE)


def test_a_requeued_run_waits_again() -> None:
    tasks = [WaitingTask(BEGIN - 10 * MINUTE, 20 * MINUTE), WaitingTask(BEGIN + 2 * MINUTE, MINUTE)]
    found = replayed_pool(plan(tasks, step(5, 0), step(30, 1)), None, Draws(1))
    assert (found.waited, found.longest_wait) == ((25 + 48) * MINUTE, 48 * MINUTE)
    assert (found.lost, found.unfinished) == (1, 0)


def test_options_of_resizes_are_those_that_evaluations_and_events_state() -> None:
    def event(minute: int, **properties: str) -> BatchEvent:
        return BatchEvent(at(minute), "PoolResizeStartEvent", None, None, "pool", None, properties, b"")

    def at(minute: int) -> datetime:
        return from_milliseconds(BEGIN + minute * MINUTE)

    evaluations = [
        Evaluation(at(9), "$TargetDedicatedNodes=1;$TargetLowPriorityNodes=0;$NodeDeallocationOption=taskcompletion"),
        Evaluation(at(8)),
    ]
    events = [
        event(4, nodeDeallocationOption="Terminate"),
        event(3, nodeDeallocationOption="Invalid"),
        event(2, results="$TargetDedicatedNodes=1;$NodeDeallocationOption=requeue;n=3"),
        event(1),
    ]
    assert resize_options(evaluations, events) == [
        (BEGIN + 2 * MINUTE, "requeue"),
        (BEGIN + 4 * MINUTE, "terminate"),
        (BEGIN + 9 * MINUTE, "taskcompletion"),
    ]


def test_steps_have_the_option_that_is_recorded_between_two_polls() -> None:
    numbers = (2, 2, 1, 1, 0, 3)
    nodes = [NodePoint(BEGIN + at * MINUTE, n, 0, 0, n, Targets(n, 0)) for at, n in enumerate(numbers)]
    options = [(BEGIN + MINUTE + 500, "taskcompletion"), (BEGIN + 2 * MINUTE + 800, "terminate")]
    pool = RecordedPool(BEGIN, [PoolTask(BEGIN)], nodes, options=options)
    found = as_recorded(plan_of(pool, BEGIN, BEGIN + 10 * MINUTE, (), ()), pool)
    assert found.steps == [step(2, 1, "terminate"), step(4, 0), step(5, 3)]
    assert [one.option for one in found.falls] == ["terminate", None]


def test_the_spread_of_waits_includes_how_far_the_replay_as_it_was_misses_them() -> None:
    given = plan([WaitingTask(BEGIN, 4 * MINUTE)] * 2)
    found = scaling_estimate(given, None, [], seed="1")
    wait = found.mean_wait.expected
    assert wait == 2 * MINUTE
    assert found.mean_wait == pytest.approx(Spread(wait, 0.99 * wait, 1.01 * wait))
    misfit = found.misses(SeenPool(40 * MINUTE, 0.0, 5.0 * MINUTE))
    assert misfit == pytest.approx(Misfit(0.5, 3.0 * MINUTE))
    wide = found.widened(misfit)
    assert wide.mean_wait == (wait, 0.0, 5.0 * MINUTE)
    assert wide.nodes == (60.0 * MINUTE, 30.0 * MINUTE, 90.0 * MINUTE)
    assert found.misses(SeenPool(0.0, 0.0, None)) == (0.0, 0.0)
