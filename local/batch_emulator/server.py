"""HTTP: authenticates, finds the operation, injects faults, and writes answers the way the service does."""

import asyncio
import contextlib
import ipaddress
import uuid
from collections.abc import Mapping
from urllib.parse import parse_qsl, unquote

import orjson
from aiohttp import web

from local.batch_emulator.auth import Signed, authenticate
from local.batch_emulator.controls import Controls
from local.batch_emulator.emulator import Emulator
from local.batch_emulator.entities import Json
from local.batch_emulator.faults import BatchFaultError, bad_query
from local.batch_emulator.injection import Fault
from local.batch_emulator.requests import Request, Response
from local.batch_emulator.stamps import http_date, stamp
from local.batch_emulator.surface import Operation, find_operation

_JSON = "application/json;odata=minimalmetadata"
_MAX_BODY = 64 * 1024 * 1024
_API_VERSIONS = ("2025-06-01", "2024-07-01.20.0", "2024-02-01.19.0")
_TICK_SECONDS = 0.05
HOLD = "x-emulator-hold-while-paused"


class Server:
    def __init__(self, emulator: Emulator) -> None:
        self._emulator = emulator
        self._controls = Controls(emulator)
        self._runner: web.ServerRunner | None = None
        self._ticking: asyncio.Task[None] | None = None

    async def start(self, host: str, port: int) -> int:
        """Listens; gives the port. Raises OSError where that is taken."""
        self._runner = web.ServerRunner(
            web.Server(self._serve, access_log=None), handle_signals=False, shutdown_timeout=1
        )
        await self._runner.setup()
        site = web.TCPSite(self._runner, host, port)
        await site.start()
        if not self._emulator.clock.stepped:
            self._ticking = asyncio.create_task(self._tick())
        chosen: int = self._runner.addresses[0][1]
        return chosen

    async def stop(self) -> None:
        if self._ticking:
            self._ticking.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._ticking
        if self._runner:
            await self._runner.cleanup()

    async def _tick(self) -> None:
        while True:
            self._emulator.agenda.run_due()
            await asyncio.sleep(_TICK_SECONDS)

    async def _serve(self, request: web.BaseRequest) -> web.StreamResponse:
        raw = await _body(request)
        path = request.rel_url.raw_path
        if path.startswith("/_emulator/"):
            return self._control(request, path.removeprefix("/_emulator/").strip("/"), raw)
        fault = self._emulator.faults.take(request.method, unquote(path))
        await self._wait(request, fault)
        headers = self._headers(request)
        if fault and fault.reset:
            return _cut(request)
        try:
            if fault and fault.status:
                raise _injected(fault)
            operation, response = self._run(request, raw, path)
            self._emulator.count(f"{operation.method} {operation.template}", unquote(path), response.items)
        except BatchFaultError as error:
            return _fault_response(error, headers, self._url(request), self._emulator.clock.now)
        body = orjson.dumps(response.body) if response.body is not None else b""
        headers |= response.headers
        if response.body is not None:
            headers["Content-Type"] = _JSON
        if fault and fault.truncate:
            return await _truncated(request, response.status, headers, body)
        return web.Response(status=response.status, headers=headers, body=body)

    async def _wait(self, request: web.BaseRequest, fault: Fault | None) -> None:
        delay = self._emulator.knobs.latencySeconds + (fault.delaySeconds if fault else 0)
        if delay:
            await asyncio.sleep(delay)
        if request.headers.get(HOLD):
            await self._emulator.clock.running()

    def _run(self, request: web.BaseRequest, raw: bytes, path: str) -> tuple[Operation, Response]:
        emulator = self._emulator
        headers = {name.lower(): value for name, value in request.headers.items()}
        pairs = parse_qsl(request.rel_url.raw_query_string, keep_blank_values=True)
        signed = Signed(request.method, path, pairs, headers)
        name = authenticate(
            signed, keys=emulator.keys, token=emulator.token, default=emulator.default, now=emulator.clock.real
        )
        found = find_operation(request.method, unquote(path))
        if found is None:
            raise BatchFaultError(404, "ResourceNotFound", "The specified resource does not exist.")
        operation, names = found
        query = _query(pairs, operation)
        emulator.agenda.run_due()
        return operation, operation.run(
            Request(
                account=emulator.accounts[name],
                simulation=emulator.simulations[name],
                knobs=emulator.knobs,
                now=emulator.clock.now,
                url=self._url(request),
                query=query,
                headers=headers,
                path=names,
                raw=raw,
            )
        )

    def _control(self, request: web.BaseRequest, name: str, raw: bytes) -> web.Response:
        peer = request.remote or ""
        if not ipaddress.ip_address(peer).is_loopback:
            return web.json_response({"error": "Controls answer on this machine only."}, status=403)
        status, body = self._controls.answer(request.method, name, raw)
        return web.Response(status=status, body=orjson.dumps(body), content_type="application/json")

    def _headers(self, request: web.BaseRequest) -> dict[str, str]:
        headers = {
            "Date": http_date(self._emulator.clock.now),
            "Server": "Microsoft-HTTPAPI/2.0",
            "DataServiceVersion": "3.0",
            "request-id": str(uuid.uuid4()),
            "X-Content-Type-Options": "nosniff",
        }
        client_id = request.headers.get("client-request-id")
        if client_id and request.headers.get("return-client-request-id", "").lower() == "true":
            headers["client-request-id"] = client_id
        return headers

    def _url(self, request: web.BaseRequest) -> str:
        return f"http://{request.headers.get('Host', '127.0.0.1')}"


async def _body(request: web.BaseRequest) -> bytes:
    raw = await request.read()
    return raw[:_MAX_BODY]


def _query(pairs: list[tuple[str, str]], operation: Operation) -> Mapping[str, str]:
    query = {name.lower(): value for name, value in pairs}
    for name, value in pairs:
        if name.lower() not in operation.accepted:
            raise BatchFaultError(
                400,
                "UnsupportedQueryParameter",
                "One of the query parameters specified in the request URI is not supported.",
                {"QueryParameterName": name, "QueryParameterValue": value},
            )
    version = query.get("api-version")
    if version is None:
        raise BatchFaultError(
            400,
            "MissingRequiredQueryParameter",
            "A query parameter that's mandatory for this request is not specified.",
            {"QueryParameterName": "api-version"},
        )
    if version not in _API_VERSIONS:
        raise bad_query("api-version", version, f"This emulator knows {', '.join(_API_VERSIONS)}.")
    return query


def _injected(fault: Fault) -> BatchFaultError:
    status = fault.status or 500
    codes = {
        429: "TooManyRequests",
        503: "ServerBusy",
        500: "InternalError",
        403: "PermissionDenied",
        404: "ResourceNotFound",
    }
    headers = {"Retry-After": str(fault.retryAfter)} if fault.retryAfter is not None else {}
    return BatchFaultError(status, codes.get(status, "InjectedFault"), "This failure was asked for.", {}, headers)


def _fault_response(error: BatchFaultError, headers: dict[str, str], url: str, now: int) -> web.Response:
    if error.status == 304:  # noqa: PLR2004 - Not Modified has no body
        return web.Response(status=304, headers=headers)
    body: Json = {
        "odata.metadata": f"{url}/$metadata#Microsoft.Azure.Batch.Protocol.Entities.Container.errors/@Element",
        "code": error.code,
        "message": {"lang": "en-US", "value": f"{error.message}\nRequestId:{headers['request-id']}\nTime:{stamp(now)}"},
    }
    if error.values:
        body["values"] = [{"key": key, "value": value} for key, value in error.values.items()]
    return web.Response(
        status=error.status, headers={**headers, **error.headers, "Content-Type": _JSON}, body=orjson.dumps(body)
    )


def _cut(request: web.BaseRequest) -> web.Response:
    """Ends the connection without an answer."""
    if request.transport:
        request.transport.abort()
    return web.Response(status=500)


async def _truncated(request: web.BaseRequest, status: int, headers: dict[str, str], body: bytes) -> web.StreamResponse:
    """Promises the whole body and sends half of it."""
    answer = web.StreamResponse(status=status, headers={**headers, "Content-Length": str(len(body))})
    await answer.prepare(request)
    await answer.write(body[: len(body) // 2])
    if request.transport:
        request.transport.close()
    return answer
