"""Operations on pools and nodes."""

from local.batch_emulator import bodies
from local.batch_emulator.backlog import Backlog
from local.batch_emulator.collation import comparison_key, fold
from local.batch_emulator.entities import Pool
from local.batch_emulator.errors import absent_property, bad_property, conflict, exists
from local.batch_emulator.filter_rows import NODE_COUNTS, NODES, POOLS
from local.batch_emulator.filters import compile_filter
from local.batch_emulator.paging import in_order, page, rendered, selected
from local.batch_emulator.pool_life import TARGETS
from local.batch_emulator.requests import Request, Response, checked_id, nested, one, written
from local.batch_emulator.wire_pools import node_count_renderers, node_renderers, pool_renderers

_MOST_NODES = 2500
_OPTIONS = ("requeue", "terminate", "taskcompletion")


def create_pool(request: Request) -> Response:
    body = request.body
    bodies.POOL.check(body)
    name = checked_id(body["id"])
    _check_values(body)
    if fold(name) in request.account.pools:
        raise exists("Pool")
    now = request.now
    pool = Pool(
        id=name,
        key=fold(name),
        number=request.simulation.next_number(),
        account=request.account,
        spec=body,
        created=now,
        modified=now,
        changed=now,
        allocation_changed=now,
        backlog=Backlog(),
    )
    request.account.pools[pool.key] = pool
    request.simulation.pools.begin(pool)
    return written(request, 201, f"pools/{pool.id}", pool.modified)


def list_pools(request: Request) -> Response:
    found = compile_filter(request.query.get("$filter"), POOLS, comparison_key(request.knobs))
    return page(request, "pools", in_order(request, request.account.pools), found.matches, pool_renderers(request.url))


def get_pool(request: Request) -> Response:
    pool = request.pool()
    request.check(pool.modified)
    return one(request, "pools", rendered(pool, selected(request, pool_renderers(request.url))), pool.modified)


def delete_pool(request: Request) -> Response:
    pool = _open_pool(request)
    request.simulation.pools.delete(pool)
    return Response(202)


def resize_pool(request: Request) -> Response:
    pool, body = _open_pool(request), request.body
    bodies.RESIZE.check(body)
    targets = {name: bodies.number(body, name, -1, most=_MOST_NODES) for name in TARGETS.values()}
    wanted = {name: count for name, count in targets.items() if count >= 0}
    if not wanted:
        raise absent_property("targetDedicatedNodes")
    option = bodies.choice(body, "nodeDeallocationOption", "requeue", _OPTIONS)
    if pool.allocation != "steady":
        raise conflict("PoolBeingResized", "The specified pool is being resized.")
    pool.spec |= wanted
    pool.modified = max(request.now, pool.modified + 1)
    request.simulation.pools.resize(pool, option)
    return written(request, 202, f"pools/{pool.id}/resize", pool.modified)


def list_nodes(request: Request) -> Response:
    pool = request.pool()
    found = compile_filter(request.query.get("$filter"), NODES, comparison_key(request.knobs))
    return page(request, "nodes", in_order(request, pool.nodes), found.matches, node_renderers(request.url, pool))


def get_node(request: Request) -> Response:
    node = request.node()
    return one(request, "nodes", rendered(node, selected(request, node_renderers(request.url, node.pool))))


def list_pool_node_counts(request: Request) -> Response:
    found = compile_filter(request.query.get("$filter"), NODE_COUNTS, comparison_key(request.knobs))
    pools = in_order(request, request.account.pools)
    return page(request, "poolnodecounts", pools, found.matches, node_count_renderers())


def _open_pool(request: Request) -> Pool:
    pool = request.pool()
    request.check(pool.modified)
    if pool.state == "deleting":
        raise conflict("PoolBeingDeleted", "The specified pool is being deleted.")
    return pool


def _check_values(body: bodies.Body) -> None:
    if not isinstance(body["vmSize"], str):
        raise bad_property("vmSize", body["vmSize"], "It is a string.")
    for name in TARGETS.values():
        bodies.number(body, name, 0, most=_MOST_NODES)
    bodies.slots(body, "taskSlotsPerNode")
    policy = nested(body, "taskSchedulingPolicy")
    bodies.choice(policy, "nodeFillType", "spread", ("spread", "pack"))
    start_task = nested(body, "startTask")
    if start_task and not isinstance(start_task.get("commandLine"), str):
        raise absent_property("startTask.commandLine")
    bodies.number(start_task, "maxTaskRetryCount", 0, least=-1)
