"""Nodes whose tasks fail more often than chance explains, against the other nodes of the pool in the same jobs.

Each job and pool is a stratum of its own, so a node isn't blamed for the jobs that it got (Cochran, Mantel, Haenszel).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from math import sqrt
from typing import NamedTuple

from shared.domain.contrasts.statistics import Tally, hypergeometric_terms, normal_tail
from shared.domain.findings.thresholds import (
    MAX_FAILING_NODES,
    MIN_FAILED_OF_NODE,
    MIN_FAILING_EXCESS_RATIO,
    MIN_OTHER_NODES,
    NODE_FAILURE_LEVEL,
)
from shared.domain.leaves.leaves import Leaf
from shared.domain.nodes.failing_nodes import FailingNode, NodePlace
from shared.domain.tasks.tasks import COMPLETED, FAILURE, SUCCESS, Task

_MAX_EXACT = 5_000  # terms of a sum of strata
_TRIMMED, _TRIMMED_MEAN, _NOISE = 0.2, 0.44, 2.0  # of squared standard deviations of nodes that don't stand out
_MIN_VARIANCE, _MIN_NODES = 0.5, 5


class Stratum(NamedTuple):
    """The tasks of a job that ended on nodes of a pool; both in lower case as in keys."""

    job: str
    pool: str


class Outcomes(NamedTuple):
    """Ended and failed tasks."""

    ended: int = 0
    failed: int = 0


type NodeOutcomes = Mapping[Stratum, Mapping[NodePlace, Outcomes]]
"""Outcomes by stratum and node."""


class OutcomeCounts:
    """Counts a job's ended tasks that ran on a node, by node."""

    def __init__(self) -> None:
        self._ended, self._failed = Counter[NodePlace](), Counter[NodePlace]()

    def add(self, outcomes: Iterable[tuple[int, int, NodePlace]]) -> None:
        """Counts tasks by state, result and node."""
        for state, result, node in outcomes:
            if state == COMPLETED and result in (SUCCESS, FAILURE) and node[1]:
                self._ended[node] += 1
                self._failed[node] += result == FAILURE

    def add_leaf(self, leaf: Leaf, places: Iterable[int]) -> None:
        """Counts some rows of a leaf, without making tasks of them."""
        states, results, nodes = (leaf.column(name) for name in ("state", "result", "node"))
        self.add((states[at], results[at], nodes[at]) for at in places)

    def of_job(self, job_key: str) -> dict[Stratum, dict[NodePlace, Outcomes]]:
        """Returns the outcomes by stratum and node."""
        found = defaultdict[Stratum, dict[NodePlace, Outcomes]](dict)
        for place, number in self._ended.items():
            found[Stratum(job_key, place[0].lower())][place] = Outcomes(number, self._failed[place])
        return dict(found)


def node_outcomes(job_key: str, tasks: Iterable[Task]) -> dict[Stratum, dict[NodePlace, Outcomes]]:
    """Returns the outcomes of a job's ended tasks that ran on a node."""
    counts = OutcomeCounts()
    counts.add((task.state, task.result, task.node) for task in tasks)
    return counts.of_job(job_key)


def failing_nodes(outcomes: NodeOutcomes) -> list[FailingNode]:
    """Returns the nodes that stand out, the clearest first.

    How much nodes differ beyond chance is measured without those that would stand out if they didn't differ.
    """
    found, others = _standing_out(outcomes, 1.0)
    spread = _dispersion(_excesses(others)) if found else 1.0
    return found if spread <= 1 else _standing_out(outcomes, spread)[0]


def _standing_out(outcomes: NodeOutcomes, spread: float) -> tuple[list[FailingNode], NodeOutcomes]:
    """Returns the nodes that stand out, and the outcomes of the others, each found without those before it."""
    left = {stratum: dict(nodes) for stratum, nodes in outcomes.items()}
    tried = len({place for nodes in outcomes.values() for place in nodes})
    found = list[FailingNode]()
    while len(found) < MAX_FAILING_NODES:
        judged = [_judged(one, left, tried, spread) for one in _excesses(left)]
        clear = [one for one in judged if one is not None and one.p_value <= NODE_FAILURE_LEVEL]
        if not clear:
            break
        first = min(clear, key=lambda one: (one.p_value, one.expected - one.failed, one.place))
        found.append(first)
        for nodes in left.values():
            nodes.pop(first.place, None)
    return found, left


class _Excess(NamedTuple):
    place: NodePlace
    observed: Outcomes
    expected: float
    variance: float


def _excesses(outcomes: NodeOutcomes) -> list[_Excess]:
    """Returns each node with its expected failed tasks and their variance, summed over strata with other nodes."""
    sums = dict[NodePlace, _Excess]()
    for nodes in outcomes.values():
        ended, failed = sum(one.ended for one in nodes.values()), sum(one.failed for one in nodes.values())
        for place, own in nodes.items():
            if own.ended == ended:
                continue
            before = sums.get(place, _Excess(place, Outcomes(), 0.0, 0.0))
            share = own.ended / ended
            variance = failed * share * (1 - share) * (ended - failed) / max(ended - 1, 1)
            observed = Outcomes(before.observed.ended + own.ended, before.observed.failed + own.failed)
            sums[place] = _Excess(place, observed, before.expected + failed * share, before.variance + variance)
    return list(sums.values())


def _dispersion(excesses: Iterable[_Excess]) -> float:
    """Returns how much more than by chance nodes differ that don't stand out; at least 1."""
    squares = sorted(
        (one.observed.failed - one.expected) ** 2 / one.variance for one in excesses if one.variance >= _MIN_VARIANCE
    )
    if len(squares) < _MIN_NODES:
        return 1.0
    kept = squares[: len(squares) - max(1, round(len(squares) * _TRIMMED))]
    found = sum(kept) / len(kept) / _TRIMMED_MEAN
    return found if found > 1 + _NOISE / sqrt(len(kept)) else 1.0


def _judged(one: _Excess, outcomes: NodeOutcomes, tried: int, spread: float) -> FailingNode | None:
    """Returns a node with its p, None where too few of its tasks failed."""
    shared = {stratum: nodes for stratum, nodes in outcomes.items() if one.place in nodes and len(nodes) > 1}
    others = {place for nodes in shared.values() for place in nodes} - {one.place}
    expected = _by_others(one.place, shared)
    failed = one.observed.failed
    if failed < MIN_FAILED_OF_NODE or failed < MIN_FAILING_EXCESS_RATIO * expected or len(others) < MIN_OTHER_NODES:
        return None
    scaled = normal_tail((failed - one.expected - 0.5) ** 2 / max(one.variance * spread, 1e-9))
    exact = _exact_tail(one.place, failed, shared)
    p_value = scaled if exact is None else exact if spread <= 1 else max(exact, scaled)
    return FailingNode(
        place=one.place,
        ended=one.observed.ended,
        failed=failed,
        expected=expected,
        other_nodes=len(others),
        jobs=len(shared),
        p_value=min(p_value * tried, 1.0),
    )


def _by_others(place: NodePlace, shared: NodeOutcomes) -> float:
    """Returns how many tasks would have failed at the rates of the other nodes."""
    found = 0.0
    for nodes in shared.values():
        own = nodes[place]
        ended, failed = sum(one.ended for one in nodes.values()), sum(one.failed for one in nodes.values())
        found += own.ended * (failed - own.failed) / (ended - own.ended)
    return found


def _exact_tail(place: NodePlace, failed: int, shared: NodeOutcomes) -> float | None:
    """Returns the chance of so many failed tasks over all strata, None where they have too many terms."""
    chances, size = [1.0], 0
    for nodes in shared.values():
        own = nodes[place]
        ended, all_failed = sum(one.ended for one in nodes.values()), sum(one.failed for one in nodes.values())
        terms = hypergeometric_terms(Tally(own.failed, own.ended, all_failed, ended))
        size += len(terms) * len(chances)
        if size > _MAX_EXACT:
            return None
        sums = [0.0] * (len(chances) + len(terms) - 1)
        for at, chance in enumerate(chances):
            for number, term in enumerate(terms):
                sums[at + number] += chance * term
        chances = sums
    return min(sum(chances[failed:]), 1.0)
