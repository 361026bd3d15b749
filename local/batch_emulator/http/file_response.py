"""Responses with the content of a file, computed part by part while they are sent.

They aren't compressed, as clients read their length.
"""

import asyncio
import contextlib
from collections.abc import Mapping

from aiohttp import web

from local.batch_emulator.contents.content import Content

_PART = 256 * 1024


async def send_file(
    incoming: web.BaseRequest, status: int, headers: Mapping[str, str], content: Content, *, truncated: bool
) -> web.StreamResponse:
    """Sends a file, half of it if it is to be truncated, or its length alone if only headers are requested."""
    all_headers = {**headers, "Content-Length": str(content.size)}
    if incoming.method == "HEAD":
        return web.Response(status=status, headers=all_headers)
    if content.size <= _PART and not truncated:
        return web.Response(status=status, headers=all_headers, body=content.read(0, content.size) or None)
    response = web.StreamResponse(status=status, headers=all_headers)
    await response.prepare(incoming)
    end = content.size // 2 if truncated else content.size
    with contextlib.suppress(ConnectionError):  # of a client that has read enough
        for start in range(0, end, _PART):
            await response.write(content.read(start, min(start + _PART, end)))
            await asyncio.sleep(0)
    if truncated and incoming.transport:
        incoming.transport.close()
    return response
