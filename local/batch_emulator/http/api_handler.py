"""Handles requests of the Batch REST API: authentication, faults, operations, headers, and errors in its format.

An operation runs without interruption until its response exists, so responses are consistent.
"""

import asyncio
import logging
import uuid
from urllib.parse import parse_qsl, unquote

import orjson
from aiohttp import web

from local.batch_emulator.core.clock import real_now
from local.batch_emulator.core.errors import BatchError
from local.batch_emulator.core.injection import Fault
from local.batch_emulator.core.stamps import full_stamp, http_date
from local.batch_emulator.emulator import Emulator
from local.batch_emulator.entities import Json
from local.batch_emulator.http.broken_responses import reset_connection, truncated_response
from local.batch_emulator.http.file_response import send_file
from local.batch_emulator.http.routing import find_operation, timeout_of
from local.batch_emulator.protocol.auth import SignedRequest
from local.batch_emulator.protocol.conditions import reject_conditions
from local.batch_emulator.protocol.encoding import compress_body, decompress_body, read_body
from local.batch_emulator.protocol.requests import Request, Response

_LOG = logging.getLogger("emulator")
HOLD_HEADER = "x-emulator-hold-while-paused"
_JSON = "application/json;odata=minimalmetadata"
_ERROR_KIND = "Microsoft.Azure.Batch.Protocol.Entities.Container.errors/@Element"
_NOT_MODIFIED = 304


class ApiHandler:
    def __init__(self, emulator: Emulator) -> None:
        self._emulator = emulator

    async def handle(self, incoming: web.BaseRequest) -> web.StreamResponse:
        raw = await read_body(incoming.content)
        fault = self._emulator.faults.consume(incoming.method, unquote(incoming.rel_url.raw_path))
        timed_out = await self._delay(incoming, fault)
        if fault and fault.reset:
            return reset_connection(incoming)
        url, headers = f"{incoming.scheme}://{_header(incoming, 'Host') or 'localhost'}", self._common_headers(incoming)
        try:
            response = _raise_timeout() if timed_out else self._run(incoming, raw, url, fault)
        except BatchError as refusal:
            response = self._error_response(refusal, url, headers["request-id"])
        except Exception:
            _LOG.exception("%s %s failed", incoming.method, incoming.path)
            failure = BatchError(500, "InternalError", "The emulator failed; its log says how.")
            response = self._error_response(failure, url, headers["request-id"])
        if response.content is not None:
            headers |= response.headers
            return await send_file(incoming, response.status, headers, response.content, truncated=_is_truncated(fault))
        body, body_headers = _body(response, incoming.headers.get("Accept-Encoding", ""))
        headers |= {**response.headers, **body_headers}
        if _is_truncated(fault):
            return await truncated_response(incoming, response.status, headers, body)
        return web.Response(status=response.status, headers=headers, body=body or None)

    def reject_malformed(self, reason: str) -> web.Response:
        """Returns the error response to a malformed request: too long, or not HTTP."""
        refusal = BatchError(400, "InvalidInput", "One of the request inputs is not valid.", {"Reason": reason})
        request_id = str(uuid.uuid4())
        body, body_headers = _body(self._error_response(refusal, "http://localhost", request_id), "")
        headers = {"Date": http_date(self._emulator.clock.now), "request-id": request_id, **body_headers}
        return web.Response(status=refusal.status, headers=headers, body=body)

    async def _delay(self, incoming: web.BaseRequest, fault: Fault | None) -> bool:
        """Waits for the requested delays; returns whether they exceed the request's time-out."""
        delay = self._emulator.settings.latencySeconds + (fault.delaySeconds if fault else 0)
        limit = timeout_of(incoming.rel_url.query) if delay else delay
        if delay:
            await asyncio.sleep(min(delay, limit))
        if incoming.headers.get(HOLD_HEADER, "").lower() == "true":
            await self._emulator.clock.wait_until_running()
        return delay > limit

    def _run(self, incoming: web.BaseRequest, raw: bytes, url: str, fault: Fault | None) -> Response:
        if fault and fault.status:
            raise _injected(fault)
        path = incoming.rel_url.raw_path
        headers = {name.lower(): _readable(value) for name, value in incoming.headers.items()}
        pairs = parse_qsl(incoming.rel_url.raw_query_string, keep_blank_values=True)
        signed_request = SignedRequest(incoming.method, path, pairs, headers)
        account = self._emulator.credentials.account_of(signed_request, real_now())
        operation, ids = find_operation(incoming.method, path)
        items = read = 0
        try:
            query = operation.validate_query(pairs)
            reject_conditions(headers, operation.conditions)
            simulation = self._emulator.simulations[account]
            body = decompress_body(raw, headers)
            request = Request(
                incoming.method, url, path, ids, query, headers, body, simulation, self._emulator.settings
            )
            response = operation.run(request)
            items, read = response.items, _bytes_read(incoming, response)
        finally:
            client = headers.get("user-agent", "")
            self._emulator.count_request(operation.route, unquote(path), items, client, read=read)
        return response

    def _common_headers(self, incoming: web.BaseRequest) -> dict[str, str]:
        headers = {
            "Date": http_date(self._emulator.clock.now),
            "Server": "Microsoft-HTTPAPI/2.0",
            "DataServiceVersion": "3.0",
            "X-Content-Type-Options": "nosniff",
            "request-id": str(uuid.uuid4()),
        }
        if incoming.secure:
            headers["Strict-Transport-Security"] = "max-age=31536000; includeSubDomains"
        client_request_id = _header(incoming, "client-request-id")
        if client_request_id and incoming.headers.get("return-client-request-id", "").lower() == "true":
            headers["client-request-id"] = client_request_id
        return headers

    def _error_response(self, refusal: BatchError, url: str, request_id: str) -> Response:
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


def _header(incoming: web.BaseRequest, name: str) -> str:
    return _readable(incoming.headers.get(name, ""))


def _readable(value: str) -> str:
    """Returns a header's value for use in responses, with bytes that are not UTF-8 replaced."""
    return value if value.isascii() else value.encode(errors="replace").decode()


def _body(response: Response, accepted_encodings: str) -> tuple[bytes, dict[str, str]]:
    """Returns the body on the wire and its headers."""
    if response.body is None:
        return b"", {}
    body = orjson.dumps(response.body)
    compressed = compress_body(body, accepted_encodings)
    body_headers = {"Content-Type": _JSON} | ({"Content-Encoding": "gzip"} if compressed else {})
    return compressed or body, body_headers


def _bytes_read(incoming: web.BaseRequest, response: Response) -> int:
    """Returns how many bytes of a file a response has; the response to a HEAD only states their number."""
    return response.content.size if response.content is not None and incoming.method == "GET" else 0


def _is_truncated(fault: Fault | None) -> bool:
    return fault is not None and fault.truncate and not fault.status


def _raise_timeout() -> Response:
    raise BatchError(500, "OperationTimedOut", "The operation could not be completed within the permitted time.")


def _injected(fault: Fault) -> BatchError:
    headers = {} if fault.retryAfter is None else {"Retry-After": str(fault.retryAfter)}
    return BatchError(fault.status or 500, fault.code, "This failure was asked for.", {}, headers)
