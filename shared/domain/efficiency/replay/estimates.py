"""Estimates of many replays: the median with its spread. The same workload and scenario have the same estimate.

The spread is that of replays in which waits differ, and of others in which durations do, too: as those seen differ, and
as far as it isn't known how they stretch. It is widened by how far a replay under the settings of then misses what was
seen.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from statistics import median
from typing import NamedTuple

from shared.domain.efficiency.replay.draws import Draws
from shared.domain.efficiency.replay.plans import Scenario, replay_once
from shared.domain.efficiency.replay.scheduler import NodeTimes
from shared.domain.efficiency.replay.workloads import Workload

MAX_INTERRUPTIONS = 20_000
"""The most interruptions of spot nodes, as far as they can be expected, of a replay."""
_STEPS = 32_000  # in all replays of a scenario: tasks, nodes and interruptions
_REPLAYS = (5, 25)  # of each kind
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
    """The end in milliseconds since the first task, and milliseconds of nodes, with their use in the replay between."""

    end: Spread
    nodes: Spread
    times: NodeTimes
    replays: int

    def misfit(self, end: float) -> float:
        """Returns by which share of the expected end a seen one is off; 0 where tasks are expected to take no time."""
        return abs(end / self.end.expected - 1) if self.end.expected else 0.0

    def widened(self, share: float) -> "Estimate":
        return Estimate(self.end.widened(share), self.nodes.widened(share), self.times, self.replays)


def estimate_of(workload: Workload, scenario: Scenario, *, seed: str) -> Estimate | None:
    """Returns the estimate of a scenario; None where interruptions keep tasks from ending, or there are too many."""
    if expected_interruptions(workload, scenario) > MAX_INTERRUPTIONS:
        return None
    least, most = _REPLAYS
    steps = len(workload.tasks) + scenario.nodes + expected_interruptions(workload, scenario)
    number = round(min(max(_STEPS // (2 * steps), least), most))
    bounds = [(False, replace(scenario, stretch=bound), max(number // 2, _OF_BOUND)) for bound in scenario.bounds]
    found = list[list[NodeTimes]]()
    for resampled, kind, times in ((False, scenario, number), (True, scenario, number), *bounds):
        some = list[NodeTimes]()
        for each in range(times):
            one = replay_once(workload, kind, Draws(f"{seed}/{resampled}/{each}"), resampled=resampled)
            if one is None:
                return None
            some.append(one)
        found.append(some)
    as_seen, *varied = found
    as_seen.sort(key=lambda one: one.end)
    end, nodes = (_spread(as_seen, chain(*varied), figure) for figure in (_end, _nodes))
    return Estimate(end, nodes, as_seen[len(as_seen) // 2], sum(map(len, found))).widened(_MIN_MARGIN)


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
