"""Responses of faults that break a connection: none at all, or half of one."""

from collections.abc import Mapping

from aiohttp import web


def reset_connection(incoming: web.BaseRequest) -> web.Response:
    """Resets the connection; the response, which the caller must return, is not sent."""
    if incoming.transport:
        incoming.transport.abort()
    return web.Response(status=500)


async def truncated_response(
    incoming: web.BaseRequest, status: int, headers: Mapping[str, str], body: bytes
) -> web.StreamResponse:
    """Sends half of the announced body."""
    response = web.StreamResponse(status=status, headers={**headers, "Content-Length": str(len(body))})
    await response.prepare(incoming)
    await response.write(body[: len(body) // 2])
    if incoming.transport:
        incoming.transport.close()
    return response
