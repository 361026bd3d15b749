"""GET accounts/{account}/pools/{pool}/nodestates: all nodes of a pool in brief, with the causes of their states.

The data for a drawing of a large pool. Unlike the list of nodes it has no pages and changes only when a poll finds a
change or a node stops flapping. So it has no `asOf`, which the pool's own answer states.
"""

from collections import Counter
from collections.abc import Mapping
from datetime import datetime

from functions.api.endpoints import POOL
from functions.http.answers import Answer, stamp
from functions.http.handling import Query, RouteRequest, Routes
from shared.domain.nodes.node_causes import cause_of
from shared.domain.reports.reports import NodeReport, PoolReport

_MAX_NODES = 5_000
_MAX_CAUSES = 20


class NodeStateAnswer(Answer):
    """A node: its state and since when, and its number of running tasks.

    `cause` is a zero-based index into `causes`, or the length of `causes` for a cause not listed; null without a cause.
    `vmSize` is a zero-based index into `vmSizes`; null where Batch doesn't name the size.
    """

    id: str
    state: str
    state_transition_time: datetime | None
    is_dedicated: bool
    running_tasks: int
    flapping: bool
    cause: int | None
    vm_size: int | None


class NodeCauseAnswer(Answer):
    """A cause of node states, and the number of nodes that it affects."""

    cause: str
    nodes: int


class NodeStatesAnswer(Answer):
    """A pool's nodes by id, at most 5,000; `otherNodes` counts the rest.

    `causes` are the 20 most frequent causes over all nodes; `otherCauses` counts nodes with other causes. `vmSizes` are
    the sizes of all nodes.
    """

    pool: str
    account: str
    nodes: list[NodeStateAnswer]
    other_nodes: int
    causes: list[NodeCauseAnswer]
    other_causes: int
    vm_sizes: list[str]


def add_node_states(routes: Routes) -> None:
    @routes.route("GET", f"{POOL}/nodestates", returns=NodeStatesAnswer, cacheable=True)
    async def get_node_states(call: RouteRequest[Query, None]) -> NodeStatesAnswer:
        """Returns all nodes of a pool with their states and the causes of these."""
        services = await call.services()
        return _answer(*await services.pools.pool_with_nodes(call.path["account"], call.path["pool"]))


def _answer(report: PoolReport, found: list[NodeReport]) -> NodeStatesAnswer:
    causes = [cause_of(each.node) for each in found]
    ranked = sorted(Counter(filter(None, causes)).items(), key=lambda item: (-item[1], item[0]))
    places = {cause: min(place, _MAX_CAUSES) for place, (cause, _) in enumerate(ranked)}
    sizes = sorted({each.node.vm_size for each in found} - {""})
    numbers = {size: number for number, size in enumerate(sizes)}
    drawn = zip(found[:_MAX_NODES], causes, strict=False)
    return NodeStatesAnswer(
        pool=report.pool.facts.id,
        account=report.account.id,
        nodes=[_node_answer(each, places[cause] if cause else None, numbers) for each, cause in drawn],
        other_nodes=max(len(found) - _MAX_NODES, 0),
        causes=[NodeCauseAnswer(cause=cause, nodes=number) for cause, number in ranked[:_MAX_CAUSES]],
        other_causes=sum(number for _, number in ranked[_MAX_CAUSES:]),
        vm_sizes=sizes,
    )


def _node_answer(report: NodeReport, cause: int | None, sizes: Mapping[str, int]) -> NodeStateAnswer:
    node = report.node
    return NodeStateAnswer(
        id=node.id,
        state=node.state,
        state_transition_time=stamp(node.transition),
        is_dedicated=node.dedicated,
        running_tasks=node.tasks,
        flapping=report.is_flapping,
        cause=cause,
        vm_size=sizes.get(node.vm_size),
    )
