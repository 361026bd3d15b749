"""Responses with faults: late, none at all, or half of one."""

import asyncio
from collections.abc import Callable, Mapping

import orjson
from aiohttp import web

from local.batch_emulator.core.injection import Fault
from local.batch_emulator.core.stamps import http_date
from local.batch_emulator.emulator import Emulator
from local.batch_emulator.entities import Json


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


async def json_response(
    incoming: web.BaseRequest, emulator: Emulator, answer: Callable[[Fault | None], tuple[int, Json]]
) -> web.StreamResponse:
    """Sends the answer to a request as JSON, or breaks the connection, as the next fault for it has it."""
    fault = emulator.faults.consume(incoming.method, incoming.path)
    if fault:
        await asyncio.sleep(fault.delaySeconds)
    if fault and fault.reset:
        return reset_connection(incoming)
    status, body = answer(fault)
    headers = {"Date": http_date(emulator.clock.now), "Content-Type": "application/json; charset=utf-8"}
    if fault and fault.retryAfter is not None:
        headers["Retry-After"] = str(fault.retryAfter)
    raw = orjson.dumps(body)
    if fault and fault.truncate and not fault.status:
        return await truncated_response(incoming, status, headers, raw)
    return web.Response(status=status, headers=headers, body=raw)
