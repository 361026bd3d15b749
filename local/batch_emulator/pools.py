"""Operations on pools and nodes."""

from collections import Counter

from local.batch_emulator.collation import order_of
from local.batch_emulator.entities import Json, Node, Pool
from local.batch_emulator.faults import bad_property, exists, not_found, wrong_state
from local.batch_emulator.odata import compile_filter
from local.batch_emulator.requests import Listing, Request, Response, checked_id, entity, list_page, selected, written
from local.batch_emulator.wire import node_json, pool_json

NODE_STATES = (
    "creating", "idle", "offline", "preempted", "rebooting", "reimaging", "running", "starting", "startTaskFailed",
    "leavingPool", "unknown", "unusable", "waitingForStartTask", "deallocated", "deallocating", "upgradingOS",
)  # fmt: skip


def _find_pool(request: Request) -> Pool:
    pool = request.account.pools.get(request.path["poolId"].lower())
    if pool is None:
        raise not_found("Pool")
    return pool


def _find_node(request: Request) -> Node:
    node = _find_pool(request).nodes.get(request.path["nodeId"].lower())
    if node is None:
        raise not_found("Node")
    return node


def create_pool(request: Request) -> Response:
    request.refuse_conditions()
    body = request.json()
    name = checked_id(body.get("id"))
    if name.lower() in request.account.pools:
        raise exists("Pool")
    if not body.get("vmSize"):
        raise bad_property("vmSize", body.get("vmSize"), "It is required.")
    if body.get("enableAutoScale"):
        raise bad_property("enableAutoScale", "true", "This emulator doesn't evaluate autoscale formulas yet.")
    pool = Pool(name, body, request.now, request.now, state_at=request.now, allocation_at=request.now)
    request.account.pools[name.lower()] = pool
    request.simulation.resize(pool)
    return written(201, request, f"pools/{name}", pool.modified)


def list_pools(request: Request) -> Response:
    request.refuse_conditions()
    found = compile_filter(request.query["$filter"], "pools") if request.query.get("$filter") else None
    order, pools = order_of(request.knobs), request.account.pools
    listing = Listing(
        keys=sorted(pools, key=order),
        order=order,
        render=lambda key: pool_json(pools[key], request.url),
        matches=found.matches if found else lambda _: True,
    )
    return list_page(request, listing, "pools")


def get_pool(request: Request) -> Response:
    pool = _find_pool(request)
    request.check_conditions(pool.modified)
    return entity(200, selected(pool_json(pool, request.url), request, "pools/@Element"), pool.modified)


def delete_pool(request: Request) -> Response:
    pool = _find_pool(request)
    request.check_conditions(pool.modified)
    if pool.state != "deleting":
        request.simulation.delete_pool(pool)
    return Response(202)


def resize_pool(request: Request) -> Response:
    pool, body = _find_pool(request), request.json()
    request.check_conditions(pool.modified)
    if pool.state == "deleting":
        raise wrong_state("PoolBeingDeleted", "The specified pool has been marked for deletion and is being deleted.")
    if pool.allocation == "resizing":
        raise wrong_state("PoolBeingResized", "The specified pool is being resized.")
    for name in ("targetDedicatedNodes", "targetLowPriorityNodes"):
        if name in body:
            pool.spec[name] = body[name]
    request.simulation.resize(pool)
    return written(202, request, f"pools/{pool.id}/resize", pool.modified)


def list_nodes(request: Request) -> Response:
    request.refuse_conditions()
    pool = _find_pool(request)
    found = compile_filter(request.query["$filter"], "nodes") if request.query.get("$filter") else None
    order = order_of(request.knobs)
    listing = Listing(
        keys=sorted(pool.nodes, key=order),
        order=order,
        render=lambda key: node_json(pool.nodes[key], request.url),
        matches=found.matches if found else lambda _: True,
    )
    return list_page(request, listing, "nodes")


def get_node(request: Request) -> Response:
    request.refuse_conditions()
    body = selected(node_json(_find_node(request), request.url), request, "nodes/@Element")
    return Response(200, body, items=1)


def list_pool_node_counts(request: Request) -> Response:
    request.refuse_conditions()
    found = compile_filter(request.query["$filter"], "nodecounts") if request.query.get("$filter") else None
    order, pools = order_of(request.knobs), request.account.pools
    listing = Listing(
        keys=sorted(pools, key=order),
        order=order,
        render=lambda key: _counts_json(pools[key]),
        matches=found.matches if found else lambda _: True,
    )
    return list_page(request, listing, "poolnodecounts")


def _counts_json(pool: Pool) -> Json:
    return {
        "poolId": pool.id,
        "dedicated": _node_counts(pool, dedicated=True),
        "lowPriority": _node_counts(pool, dedicated=False),
    }


def _node_counts(pool: Pool, *, dedicated: bool) -> Json:
    found = Counter(node.state for node in pool.nodes.values() if node.dedicated == dedicated)
    return {**{state: found[state.lower()] for state in NODE_STATES}, "total": found.total()}
