"""From HTTP to an operation and back: authentication, faults, holding, headers, errors as the service writes them.

Everything between the moment a request may run and its answer happens at once, so answers are consistent.
"""

import asyncio
import logging
import uuid
from collections.abc import Mapping
from urllib.parse import parse_qsl, unquote

import orjson
from aiohttp import web

from local.batch_emulator.auth import Signed
from local.batch_emulator.clock import real_now
from local.batch_emulator.conditions import refuse_conditions
from local.batch_emulator.emulator import Emulator
from local.batch_emulator.entities import Json
from local.batch_emulator.errors import RefusedError
from local.batch_emulator.injection import Fault
from local.batch_emulator.requests import Request, Response
from local.batch_emulator.stamps import full_stamp, http_date
from local.batch_emulator.surface import find_operation

_LOG = logging.getLogger("emulator")
HOLD = "x-emulator-hold-while-paused"
_JSON = "application/json;odata=minimalmetadata"
_ERROR_KIND = "Microsoft.Azure.Batch.Protocol.Entities.Container.errors/@Element"
_NOT_MODIFIED = 304


class Front:
    def __init__(self, emulator: Emulator) -> None:
        self._emulator = emulator

    async def answer(self, incoming: web.BaseRequest) -> web.StreamResponse:
        raw = await incoming.content.read()
        fault = self._emulator.faults.take(incoming.method, unquote(incoming.rel_url.raw_path))
        await self._wait(incoming, fault)
        if fault and fault.reset:
            return _cut_off(incoming)
        url, headers = f"{incoming.scheme}://{incoming.headers.get('Host', 'localhost')}", self._usual_headers(incoming)
        try:
            response = self._run(incoming, raw, url, fault)
        except RefusedError as refusal:
            response = self._refusal(refusal, url, headers["request-id"])
        except Exception:
            _LOG.exception("%s %s failed", incoming.method, incoming.path)
            failure = RefusedError(500, "InternalError", "The emulator failed; its log says how.")
            response = self._refusal(failure, url, headers["request-id"])
        headers |= response.headers
        body = b"" if response.body is None else orjson.dumps(response.body)
        if body:
            headers["Content-Type"] = _JSON
        if fault and fault.truncate and not fault.status:
            return await _truncated(incoming, response.status, headers, body)
        return web.Response(status=response.status, headers=headers, body=body or None)

    async def _wait(self, incoming: web.BaseRequest, fault: Fault | None) -> None:
        delay = self._emulator.knobs.latencySeconds + (fault.delaySeconds if fault else 0)
        if delay:
            await asyncio.sleep(delay)
        if incoming.headers.get(HOLD, "").lower() == "true":
            await self._emulator.clock.running()

    def _run(self, incoming: web.BaseRequest, raw: bytes, url: str, fault: Fault | None) -> Response:
        if fault and fault.status:
            raise _injected(fault)
        path = incoming.rel_url.raw_path
        headers = {name.lower(): value for name, value in incoming.headers.items()}
        pairs = parse_qsl(incoming.rel_url.raw_query_string, keep_blank_values=True)
        signed = Signed(incoming.method, path, pairs, headers)
        account = self._emulator.credentials.account_of(signed, real_now())
        operation, ids = find_operation(incoming.method, path)
        items = 0
        try:
            query = operation.checked(pairs)
            if not operation.is_conditional:
                refuse_conditions(headers)
            simulation = self._emulator.simulations[account]
            request = Request(incoming.method, url, path, ids, query, headers, raw, simulation, self._emulator.knobs)
            response = operation.run(request)
            items = response.items
        finally:
            self._emulator.count(operation.route, unquote(path), items, headers.get("user-agent", ""))
        return response

    def _usual_headers(self, incoming: web.BaseRequest) -> dict[str, str]:
        headers = {
            "Date": http_date(self._emulator.clock.now),
            "Server": "Microsoft-HTTPAPI/2.0",
            "DataServiceVersion": "3.0",
            "X-Content-Type-Options": "nosniff",
            "request-id": str(uuid.uuid4()),
        }
        if incoming.secure:
            headers["Strict-Transport-Security"] = "max-age=31536000; includeSubDomains"
        own = incoming.headers.get("client-request-id")
        if own and incoming.headers.get("return-client-request-id", "").lower() == "true":
            headers["client-request-id"] = own
        return headers

    def _refusal(self, refusal: RefusedError, url: str, request_id: str) -> Response:
        if refusal.status == _NOT_MODIFIED:
            return Response(_NOT_MODIFIED)
        text = f"{refusal.message}\nRequestId:{request_id}\nTime:{full_stamp(self._emulator.clock.now)}"
        body: Json = {
            "odata.metadata": f"{url}/$metadata#{_ERROR_KIND}",
            "code": refusal.code,
            "message": {"lang": "en-US", "value": text},
        }
        if refusal.values:
            body["values"] = [{"key": key, "value": value} for key, value in refusal.values.items()]
        return Response(refusal.status, body, refusal.headers)


def _injected(fault: Fault) -> RefusedError:
    headers = {} if fault.retryAfter is None else {"Retry-After": str(fault.retryAfter)}
    return RefusedError(fault.status or 500, fault.code, "This failure was asked for.", {}, headers)


def _cut_off(incoming: web.BaseRequest) -> web.Response:
    if incoming.transport:
        incoming.transport.abort()
    return web.Response(status=500)


async def _truncated(
    incoming: web.BaseRequest, status: int, headers: Mapping[str, str], body: bytes
) -> web.StreamResponse:
    """Promises the whole body and sends half of it."""
    response = web.StreamResponse(status=status, headers={**headers, "Content-Length": str(len(body))})
    await response.prepare(incoming)
    await response.write(body[: len(body) // 2])
    if incoming.transport:
        incoming.transport.close()
    return response
