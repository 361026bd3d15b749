"""Operations on pools."""

from local.batch_emulator.core.collation import comparison_key, fold
from local.batch_emulator.core.errors import (
    BatchError,
    already_exists,
    conflict,
    invalid_property,
    missing_property,
    not_found,
)
from local.batch_emulator.core.vm_sizes import MIX
from local.batch_emulator.entities import Pool
from local.batch_emulator.filtering.filter_rows import POOLS
from local.batch_emulator.filtering.filters import compile_filter
from local.batch_emulator.protocol import bodies
from local.batch_emulator.protocol.paging import page, render_entity, select_renderers, sorted_from_position
from local.batch_emulator.protocol.pool_rules import check_pool_values, check_without_entra
from local.batch_emulator.protocol.requests import (
    Request,
    Response,
    entity_response,
    etag_headers,
    validate_id,
    write_response,
)
from local.batch_emulator.protocol.size_rules import check_vm_sizes
from local.batch_emulator.protocol.versions import deallocation_options
from local.batch_emulator.protocol.zone_rules import check_zones, with_kept_zones
from local.batch_emulator.simulation.pools import MAX_NODES, TARGETS
from local.batch_emulator.state.failures import package_of
from local.batch_emulator.wire.pools import pool_renderers

_MAX_REMOVED = 100


def create_pool(request: Request) -> Response:
    body = request.body
    bodies.pool(request.version).check(body)
    name = validate_id(body["id"])
    check_pool_values(body)
    check_vm_sizes(body, request.version)
    check_zones(body)
    if fold(name) in request.account.pools:
        raise already_exists("Pool")
    if request.simulation.pools.is_pool_quota_reached():
        raise conflict("PoolQuotaReached", "The account has reached its quota of pools.")
    if package := package_of(body, "unknown"):
        text = "One or more application package references could not be satisfied."
        raise BatchError(409, "InvalidApplicationPackageReferences", text, {"ApplicationPackageReference": package})
    if request.headers.get("authorization", "").startswith("SharedKey"):
        check_without_entra(body)
    pool = request.simulation.pools.create(name, body)
    return write_response(request, 201, f"pools/{pool.id}", pool.modified)


def list_pools(request: Request) -> Response:
    compiled = compile_filter(request.query.get("$filter"), POOLS, comparison_key(request.settings))
    return page(
        request,
        "pools",
        sorted_from_position(request, request.account.pools),
        compiled.matches,
        pool_renderers(request.url, request.version),
    )


def get_pool(request: Request) -> Response:
    pool = request.pool()
    request.check(pool.modified)
    return entity_response(
        request,
        "pools",
        render_entity(pool, select_renderers(request, pool_renderers(request.url, request.version))),
        pool.modified,
    )


def delete_pool(request: Request) -> Response:
    pool = require_open_pool(request)
    request.simulation.pools.delete(pool)
    return Response(202)


def resize_pool(request: Request) -> Response:
    pool, body = require_open_pool(request), request.body
    bodies.RESIZE.check(body)
    check_pool_values(body)
    targets = {name: bodies.number(body, name, -1, maximum=MAX_NODES) for name in TARGETS.values()}
    wanted = {name: count for name, count in targets.items() if count >= 0}
    if not wanted:
        raise missing_property("targetDedicatedNodes")
    option = bodies.choice(body, "nodeDeallocationOption", "requeue", deallocation_options(request.version))
    if pool.is_autoscaled:
        raise conflict("OperationNotValidOnPool", "A pool with autoscaling can't be resized by hand.")
    if pool.allocation != "steady":
        raise conflict("PoolBeingResized", "The specified pool is being resized.")
    pool.spec |= wanted
    request.simulation.pools.resize(pool, option)
    return changed(request, pool, "/resize", 202)


def pool_exists(request: Request) -> Response:
    pool = request.pool()
    request.check(pool.modified)
    return Response(200, None, etag_headers(pool.modified))


def update_pool(request: Request) -> Response:
    """Changes a pool; properties that shape nodes can change only while it has none (documented)."""
    pool, body = require_open_pool(request), request.body
    bodies.pool_patch(request.version).check(body)
    check_pool_values(body)
    check_vm_sizes(body, request.version, pool.spec)
    body = with_kept_zones(body, pool.spec)
    check_zones(body)
    if pool.nodes and (shaping := sorted(bodies.POOL_WHILE_EMPTY & body.keys())):
        raise conflict("OperationNotValidOnPool", f"{shaping[0]} can be changed while the pool is empty only.")
    pool.spec |= body
    if str(pool.spec["vmSize"]).lower() != MIX.lower():
        pool.spec.pop("vmSkuProfile", None)
    return changed(request, pool, "", 200)


def replace_pool_properties(request: Request) -> Response:
    """Replaces a pool's properties; omitted ones are removed (documented)."""
    pool, body = require_open_pool(request), request.body
    bodies.pool_properties(request.version).check(body)
    check_pool_values(body)
    for name in ("startTask", "applicationPackageReferences", "metadata", "targetNodeCommunicationMode"):
        pool.spec.pop(name, None)
        if body.get(name):
            pool.spec[name] = body[name]
    return changed(request, pool, "/updateproperties", 204)


def stop_pool_resize(request: Request) -> Response:
    pool = require_open_pool(request)
    if pool.allocation != "resizing":
        raise conflict("OperationInvalidForCurrentState", "The specified pool is not being resized.")
    request.simulation.pools.stop(pool)
    return changed(request, pool, "/stopresize", 202)


def remove_nodes(request: Request) -> Response:
    pool, body = require_open_pool(request), request.body
    bodies.REMOVE.check(body)
    check_pool_values(body)
    names = body["nodeList"]
    if not isinstance(names, list) or not 1 <= len(names) <= _MAX_REMOVED:
        raise invalid_property("nodeList", names, f"It is a list of 1 to {_MAX_REMOVED} ids.")
    option = bodies.choice(body, "nodeDeallocationOption", "requeue", deallocation_options(request.version))
    if pool.allocation != "steady":
        raise conflict("PoolBeingResized", "The specified pool is being resized.")
    nodes = {fold(str(name)): pool.nodes.get(fold(str(name))) for name in names}
    compiled = [node for node in nodes.values() if node]
    if len(compiled) < len(nodes):
        raise not_found("Node")
    request.simulation.pools.remove_nodes(pool, compiled, option)
    return changed(request, pool, "/removenodes", 202)


def require_open_pool(request: Request) -> Pool:
    """Returns the pool to change. Raises BatchError if it is missing or being deleted."""
    pool = request.pool()
    request.check(pool.modified)
    if pool.state == "deleting":
        raise conflict("PoolBeingDeleted", "The specified pool is being deleted.")
    return pool


def changed(request: Request, pool: Pool, verb: str, status: int) -> Response:
    """Marks a pool as modified by its user."""
    pool.modified = max(request.now, pool.modified + 1)
    request.mark_changed(pool, request.account)
    return write_response(request, status, f"pools/{pool.id}{verb}", pool.modified)


ACTIONS = (
    create_pool,
    list_pools,
    get_pool,
    pool_exists,
    update_pool,
    replace_pool_properties,
    delete_pool,
    resize_pool,
    stop_pool_resize,
    remove_nodes,
)
