"""Operations on nodes: reading, restarting, disabling scheduling.

State rules follow the reference of each operation and the error codes of "Batch status and error codes". The ten pools
per page of node counts are from the service's REST specification (Account_ListPoolNodeCounts).
"""

from local.batch_emulator.core.collation import comparison_key
from local.batch_emulator.core.errors import BatchError, conflict
from local.batch_emulator.entities import USABLE_STATES, Node
from local.batch_emulator.filtering.filter_rows import NODE_COUNTS, NODES
from local.batch_emulator.filtering.filters import compile_filter
from local.batch_emulator.protocol import bodies
from local.batch_emulator.protocol.paging import page, render_entity, select_renderers, sorted_from_position
from local.batch_emulator.protocol.requests import Request, Response, entity_response, write_response
from local.batch_emulator.protocol.versions import deallocation_options
from local.batch_emulator.wire.pools import node_count_renderers, node_renderers

_SCHEDULING_OPTIONS = ("requeue", "terminate", "taskcompletion")
_MAX_POOLS_PER_PAGE = 10  # pools per page of node counts
_BUSY = {
    "creating": "NodeBeingCreated",
    "starting": "NodeBeingStarted",
    "rebooting": "NodeBeingRebooted",
    "reimaging": "NodeBeingReimaged",
    "unusable": "NodeStateUnusable",
}
_RESTARTABLE = (*USABLE_STATES, "offline", "starttaskfailed")


def require_reachable(node: Node) -> None:
    """Raises BatchError for a node that is unreachable now."""
    if node.state not in (*_RESTARTABLE, "waitingforstarttask"):
        raise _invalid(node)


def list_nodes(request: Request) -> Response:
    pool = request.pool()
    compiled = compile_filter(request.query.get("$filter"), NODES, comparison_key(request.settings))
    return page(
        request, "nodes", sorted_from_position(request, pool.nodes), compiled.matches, node_renderers(request.url, pool)
    )


def get_node(request: Request) -> Response:
    node = request.node()
    return entity_response(
        request, "nodes", render_entity(node, select_renderers(request, node_renderers(request.url, node.pool)))
    )


def list_pool_node_counts(request: Request) -> Response:
    compiled = compile_filter(request.query.get("$filter"), NODE_COUNTS, comparison_key(request.settings))
    pools = sorted_from_position(request, request.account.pools)
    renderers = node_count_renderers(request.version, now=request.now, lag=request.simulation.context.node_lag)
    return page(request, "poolnodecounts", pools, compiled.matches, renderers, max_results=_MAX_POOLS_PER_PAGE)


def reboot_node(request: Request) -> Response:
    return _restart_or_deallocate(request, "reboot", "rebooting", _restart_option(request, "nodeRebootOption"))


def reimage_node(request: Request) -> Response:
    return _restart_or_deallocate(request, "reimage", "reimaging", _restart_option(request, "nodeReimageOption"))


def deallocate_node(request: Request) -> Response:
    return _restart_or_deallocate(
        request, "deallocate", "deallocating", _restart_option(request, "nodeDeallocateOption")
    )


def start_node(request: Request) -> Response:
    node = request.node()
    if node.state != "deallocated":
        raise _invalid(node)
    request.simulation.nodes.start_deallocated(node)
    return _accepted(request, node, "start", 202)


def disable_node_scheduling(request: Request) -> Response:
    node, option = request.node(), _option(request, "nodeDisableSchedulingOption", _SCHEDULING_OPTIONS)
    if node.scheduling == "disabled":
        raise _same_scheduling(node)
    request.simulation.nodes.disable(node, option)
    return _accepted(request, node, "disablescheduling", 200)


def enable_node_scheduling(request: Request) -> Response:
    node = request.node()
    if node.scheduling == "enabled":
        raise _same_scheduling(node)
    request.simulation.nodes.enable(node)
    return _accepted(request, node, "enablescheduling", 200)


def _restart_option(request: Request, name: str) -> str:
    return _option(request, name, deallocation_options(request.version))


def _option(request: Request, name: str, options: tuple[str, ...]) -> str:
    bodies.BodyProperties(frozenset({name})).check(request.body)
    return bodies.choice(request.body, name, "requeue", options)


def _restart_or_deallocate(request: Request, verb: str, state: str, option: str) -> Response:
    node = request.node()
    if node.state not in _RESTARTABLE or node.away or node.leaving:
        raise _invalid(node)
    request.simulation.nodes.restart_or_deallocate(node, state, option)
    return _accepted(request, node, verb, 202)


def _accepted(request: Request, node: Node, verb: str, status: int) -> Response:
    response = write_response(request, status, f"pools/{node.pool.id}/nodes/{node.id}/{verb}", 0)
    return Response(status, None, {"DataServiceId": response.headers["DataServiceId"]})


def _invalid(node: Node) -> BatchError:
    code = _BUSY.get(node.away or node.state, "OperationInvalidForCurrentState")
    return conflict(code, f"The operation is not valid for a node that is {node.away or node.state}.")


def _same_scheduling(node: Node) -> BatchError:
    return conflict("NodeAlreadyInTargetSchedulingState", f"Scheduling on the specified node is {node.scheduling}.")


ACTIONS = (
    list_nodes,
    get_node,
    list_pool_node_counts,
    reboot_node,
    reimage_node,
    deallocate_node,
    start_node,
    disable_node_scheduling,
    enable_node_scheduling,
)
