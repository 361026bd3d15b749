"""Account-wide lists: images, applications (always empty), pool usage."""

from local.batch_emulator.core.collation import comparison_key
from local.batch_emulator.core.errors import invalid_query, not_found
from local.batch_emulator.core.stamps import parse_stamp
from local.batch_emulator.filtering.filter_rows import AGENTS as AGENT_ROWS
from local.batch_emulator.filtering.filter_rows import IMAGES as IMAGE_ROWS
from local.batch_emulator.filtering.filter_rows import POOL_USAGE
from local.batch_emulator.filtering.filters import MATCH_ALL, compile_filter
from local.batch_emulator.protocol.paging import page, sorted_from_position
from local.batch_emulator.protocol.requests import Request, Response
from local.batch_emulator.protocol.versions import has_pool_usage, has_supported_images
from local.batch_emulator.wire.images import AGENTS, IMAGES, agent_renderers, image_renderers
from local.batch_emulator.wire.pool_usage import INTERVAL, pool_usage, pool_usage_renderers


def list_supported_images(request: Request) -> Response:
    if not has_supported_images(request.version):
        raise not_found("Resource")
    compiled = compile_filter(request.query.get("$filter"), IMAGE_ROWS, comparison_key(request.settings))
    return page(request, "supportedimages", sorted_from_position(request, IMAGES), compiled.matches, image_renderers())


def list_node_agent_skus(request: Request) -> Response:
    """Lists node agents with their images, in versions that don't list images."""
    if has_supported_images(request.version):
        raise not_found("Resource")
    compiled = compile_filter(request.query.get("$filter"), AGENT_ROWS, comparison_key(request.settings))
    return page(request, "nodeagentskus", sorted_from_position(request, AGENTS), compiled.matches, agent_renderers())


def list_applications(request: Request) -> Response:
    """Returns an empty list: packages are uploaded through Azure Resource Manager, which is not emulated."""
    return page(request, "applications", iter(()), MATCH_ALL.matches, {})


def get_application(_: Request) -> Response:
    raise not_found("Application")


def list_pool_usage_metrics(request: Request) -> Response:
    """Lists pool usage; without times, of the last complete interval (documented)."""
    if not has_pool_usage(request.version):
        raise not_found("Resource")
    compiled = compile_filter(request.query.get("$filter"), POOL_USAGE, comparison_key(request.settings))
    last = request.now // INTERVAL * INTERVAL
    start, end = _time(request, "starttime", last - INTERVAL), _time(request, "endtime", last)
    if start % INTERVAL or end % INTERVAL:
        name = "starttime" if start % INTERVAL else "endtime"
        raise invalid_query(name, request.query[name], "it is not on the half hour")
    rows = pool_usage(request.account, start, end, request.now)
    return page(
        request,
        "poolusagemetrics",
        sorted_from_position(request, rows),
        compiled.matches,
        pool_usage_renderers(request.version),
    )


def _time(request: Request, name: str, default: int) -> int:
    text = request.query.get(name)
    try:
        return parse_stamp(text) if text else default
    except ValueError as error:
        raise invalid_query(name, str(text), str(error)) from None


ACTIONS = (list_supported_images, list_node_agent_skus, list_applications, get_application, list_pool_usage_metrics)
