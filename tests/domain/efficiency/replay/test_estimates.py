"""Estimates where replays have very many events, or some of them don't end."""

from collections.abc import Sequence
from typing import Any

import pytest

from shared.domain.efficiency.replay import estimates, plans
from shared.domain.efficiency.replay.estimates import estimate_of
from shared.domain.efficiency.replay.event_budget import EventBudget
from shared.domain.efficiency.replay.plans import Scenario
from shared.domain.efficiency.replay.workloads import InterruptionRate, ReplayTask, Workload
from shared.services.efficiency.replay_notes import replay_notes
from tests.profiles import share_of

HOUR = 3_600_000
_EVENTS = 100_000  # of all replays of an estimate, some microseconds each; an answer has two estimates


def work(tasks: int, hours: int, nodes: int) -> Workload:
    return Workload([ReplayTask(0, hours * HOUR)] * tasks, tasks, nodes, hours * HOUR, [0] * nodes, (1000,))


_SIZES = ((5000, 1, 1), (1000, 4, 5))
_BOUNDS: Sequence[tuple[float, ...]] = ((), (1.0,), (0.1, 1.0))


@pytest.mark.parametrize(
    ("nodes", "slots", "most", "bounds"), share_of([(*size, bounds) for size in _SIZES for bounds in _BOUNDS], 5)
)
def test_interruptions_of_many_nodes_take_fewer_replays_and_no_more_events(
    nodes: int, slots: int, most: int, bounds: tuple[float, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = Scenario(nodes, slots, 0.25, InterruptionRate(0.4), bounds)
    events, replay_once = list[int](), plans.replay_once

    def counted(*given: Any, **named: Any) -> Any:
        budget = next(one for one in given if isinstance(one, EventBudget))
        before = budget.left
        try:
            return replay_once(*given, **named)
        finally:
            events.append(before - budget.left)

    monkeypatch.setattr(estimates, "replay_once", counted)
    found = estimate_of(work(3000, 8, nodes), scenario, seed="a")
    assert 0 < sum(events) <= _EVENTS
    assert min(events) > nodes
    assert found
    assert 1 <= found.replays <= most
    assert found.end.low <= found.end.expected <= found.end.high
    assert set(found.unended) <= set(bounds)
    few = "Replays have so many events that only "
    assert replay_notes(found)[-1].startswith(few)


def test_a_bound_that_does_not_end_is_named_and_leaves_the_answer() -> None:
    rate = InterruptionRate(50, 100)
    usual, with_bound = (
        estimate_of(work(50, 8, 50), Scenario(50, 1, 0.25, rate, bounds), seed="a") for bounds in ((), (1.0,))
    )
    assert usual
    assert with_bound
    assert with_bound.end == usual.end
    assert (usual.unended, with_bound.unended) == ((), (1.0,))
    assert replay_notes(usual) == []
    (note,) = replay_notes(with_bound)
    assert note == (
        "Replays in which runs take 1.00 times as long don't all end, or only after too many events: the spread leaves"
        " out those that don't."
    )
    assert estimate_of(work(50, 8, 50), Scenario(50, 1, 1.0, rate, (0.25,)), seed="a") is None
