"""Nodes that only seem to fail: a time, or a range of the job, explains their failed tasks as well.

So they aren't taken out of use for the tasks that they got, or for when they ran.
"""

from collections import defaultdict
from collections.abc import Sequence

from shared.domain.contrasts.contrast import Contrast, TaskComparison
from shared.domain.contrasts.node_outcomes import NodeOutcomes, failing_nodes, node_outcomes
from shared.domain.findings.thresholds import MIN_FAILED_OF_NODE
from shared.domain.nodes.failing_nodes import FailingNode, NodePlace
from shared.domain.tasks.tasks import FAILURE, Task

_SAME = 0.5


def nodes_at_fault(nodes: Sequence[FailingNode], comparison: TaskComparison) -> list[FailingNode]:
    """Returns the failing nodes without those whose failed tasks a cause by time or order has.

    That is so where at least half of a node's failed tasks are in its group, and the node doesn't stand out among the
    others that ran tasks of the group, and of the rest of the job: each of both is a stratum of its own.
    """
    causes = [one for one in comparison.contrasts if one.is_serial]
    if not nodes or not causes:
        return list(nodes)
    shares = _shares(comparison.tasks, causes)
    stand_out = {one.place for one in failing_nodes(_outcomes(comparison.tasks, causes))}
    return [one for one in nodes if shares.get(one.place, 0.0) < _SAME or one.place in stand_out]


def _shares(tasks: Sequence[Task], causes: Sequence[Contrast]) -> dict[NodePlace, float]:
    """Returns the share of each node's failed tasks that are in any group, where a sample has enough of them."""
    failed, inside = defaultdict[NodePlace, int](int), defaultdict[NodePlace, int](int)
    for task, groups in zip(tasks, _memberships(causes), strict=True):
        if task.result == FAILURE:
            failed[task.node] += 1
            inside[task.node] += any(groups)
    return {place: inside[place] / number for place, number in failed.items() if number >= MIN_FAILED_OF_NODE}


def _outcomes(tasks: Sequence[Task], causes: Sequence[Contrast]) -> NodeOutcomes:
    """Returns the outcomes by groups, pool and node."""
    strata = defaultdict[tuple[int, ...], list[Task]](list)
    for task, groups in zip(tasks, _memberships(causes), strict=True):
        strata[groups].append(task)
    found = [node_outcomes(str(groups), some) for groups, some in strata.items()]
    return {stratum: nodes for outcomes in found for stratum, nodes in outcomes.items()}


def _memberships(causes: Sequence[Contrast]) -> Sequence[tuple[int, ...]]:
    return list(zip(*(one.inside for one in causes), strict=True))
