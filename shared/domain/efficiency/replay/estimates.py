"""Estimates of many replays: the median with its spread. The same workload and scenario have the same estimate.

The spread is that of replays in which waits differ, and of others in which durations do, too: as those seen differ, and
as far as it isn't known how they stretch. It is widened by how far a replay under the settings of then misses what was
seen.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from statistics import median
from typing import NamedTuple

from shared.domain.efficiency.replay.draws import Draws
from shared.domain.efficiency.replay.event_budget import EventBudget
from shared.domain.efficiency.replay.plans import Scenario, replay_once
from shared.domain.efficiency.replay.scheduler import NodeTimes
from shared.domain.efficiency.replay.workloads import Workload

MAX_INTERRUPTIONS = 20_000
"""The most interruptions of spot nodes, as far as they can be expected, of a replay."""
_STEPS = 32_000  # of all replays of a scenario, as far as they can be expected: tasks, nodes and interruptions
_EVENTS = 100_000  # of all replays of a scenario, which take less than half a second of CPU
_REPLAYS = (5, 25)  # of each kind
_FEW = 6  # in all: the spread may be too narrow
_OF_BOUND = 2  # at least, with durations that are possible as well
_MIN_MARGIN = 0.01  # of the median
_HOUR = 3_600_000  # milliseconds


class Spread(NamedTuple):
    """A figure in the middle of replays, and from where to where it may be."""

    expected: float
    low: float
    high: float

    def widened(self, share: float) -> "Spread":
        """Returns the spread with a margin of a share of the expected figure at both ends at least, but not below 0."""
        return self.within(self.expected * share)

    def within(self, margin: float) -> "Spread":
        """Returns the spread with a margin at both ends at least, but not below 0."""
        low = max(0.0, self.expected - margin)
        return Spread(self.expected, min(self.low, low), max(self.high, self.expected + margin))


@dataclass(frozen=True, slots=True)
class Estimate:
    """The end in milliseconds since the first task, and milliseconds of nodes, with their use in the replay between.

    `unended` are the bounds of the scenario whose replays didn't all end: these are in no spread.
    It may be too narrow as well with few replays, and where interruptions as often as is possible don't end
    (`is_narrow`).
    """

    end: Spread
    nodes: Spread
    times: NodeTimes
    replays: int
    unended: Sequence[float] = ()
    is_narrow: bool = False

    def misfit(self, end: float) -> float:
        """Returns by which share of the expected end a seen one is off; 0 where tasks are expected to take no time."""
        return abs(end / self.end.expected - 1) if self.end.expected else 0.0

    def widened(self, share: float) -> "Estimate":
        return replace(self, end=self.end.widened(share), nodes=self.nodes.widened(share))


def estimate_of(workload: Workload, scenario: Scenario, *, seed: str) -> Estimate | None:
    """Returns the estimate of a scenario, from as many replays as its events allow.

    None where interruptions keep tasks from ending, or there are too many.
    """
    if expected_interruptions(workload, scenario) > MAX_INTERRUPTIONS:
        return None
    least, most = _REPLAYS
    steps = len(workload.tasks) + scenario.nodes + expected_interruptions(workload, scenario)
    number = round(min(max(_STEPS // (2 * steps), least), most))
    budget, kept = EventBudget(_EVENTS), _EVENTS // 2 if scenario.bounds else 0
    usual = [_Kind(workload, scenario, f"{seed}/{resampled}", resampled) for resampled in (False, True)]
    budget.take(usual[0].replay(_EVENTS))
    _replay_in_turns(usual, number, budget, kept)
    as_seen, resampled = usual
    if not as_seen.found or any(kind.is_endless for kind in usual):
        return None
    bounds = [
        _Kind(workload, replace(scenario, stretch=bound), f"{seed}/False", resampled=False) for bound in scenario.bounds
    ]
    _replay_in_turns(bounds, max(number // 2, _OF_BOUND), budget)
    return _estimate(as_seen.found, resampled, bounds)


@dataclass(slots=True)
class _Kind:
    """Replays of one kind, and whether one of them didn't end: within the budget, or at all (`is_endless`)."""

    workload: Workload
    scenario: Scenario
    seed: str
    resampled: bool
    found: list[NodeTimes] = field(default_factory=list)
    events: int = 0
    is_unended: bool = False
    is_endless: bool = False

    def replay(self, most: int) -> int:
        """Adds a replay of at most so many events, and returns how many it had."""
        own, chance = EventBudget(most), Draws(f"{self.seed}/{len(self.found)}")
        one = replay_once(self.workload, self.scenario, chance, own, resampled=self.resampled)
        events = most - own.left
        self.events = max(self.events, events)
        if one:
            self.found.append(one)
        else:
            self.is_unended, self.is_endless = True, not own.is_spent
        return events


def _replay_in_turns(kinds: Sequence[_Kind], number: int, budget: EventBudget, kept: int = 0) -> None:
    """Replays each kind once and up to `number` times, while the budget has more than is kept after the first.

    A replay takes half of what is left at most, so that one that is much longer leaves some to others.
    """
    for each in range(number):
        for kind in kinds:
            is_enough = budget.left // 2 > kind.events and (not each or budget.left - kind.events > kept)
            if is_enough and not kind.is_unended and len(kind.found) <= each:
                budget.take(kind.replay(budget.left // 2))


def _estimate(as_seen: list[NodeTimes], resampled: _Kind, bounds: Sequence[_Kind]) -> Estimate:
    varied = [kind.found for kind in (resampled, *bounds)]
    as_seen.sort(key=lambda one: one.end)
    end, nodes = (_spread(as_seen, chain(*varied), figure) for figure in (_end, _nodes))
    number = len(as_seen) + sum(map(len, varied))
    unended = tuple(kind.scenario.stretch for kind in bounds if kind.is_unended or not kind.found)
    is_narrow = number < _FEW or resampled.is_unended
    return Estimate(end, nodes, as_seen[len(as_seen) // 2], number, unended, is_narrow).widened(_MIN_MARGIN)


def expected_interruptions(workload: Workload, scenario: Scenario) -> float:
    """Returns how often spot nodes are interrupted in a replay that takes as long as the job did."""
    if scenario.interruptions is None:
        return 0.0
    hours = workload.end / _HOUR * len(workload.tasks) / workload.total
    return scenario.interruptions.per_hour * scenario.nodes * hours


def _end(one: NodeTimes) -> float:
    return one.end


def _nodes(one: NodeTimes) -> float:
    return one.nodes


def _spread(as_seen: Sequence[NodeTimes], varied: Iterable[NodeTimes], figure: Callable[[NodeTimes], float]) -> Spread:
    both = [figure(one) for one in (*as_seen, *varied)]
    return Spread(median(figure(one) for one in as_seen), min(both), max(both))
