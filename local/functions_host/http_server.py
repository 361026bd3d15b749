"""The host's socket: an aiohttp server for the HTTP functions and the admin API, which checks keys."""

import asyncio
import errno
from http import HTTPStatus
from typing import Any

from aiohttp import web
from aiohttp.abc import AbstractStreamWriter
from aiohttp.http_exceptions import LineTooLong

from local.functions_host.app.errors import ConfigurationError
from local.functions_host.blobs.blob_events import PATH, BlobWebhook
from local.functions_host.http.admin import AdminHandler
from local.functions_host.http.callers import Callers
from local.functions_host.http.http_messages import HttpFunctions, HttpRequest, HttpResponse
from local.functions_host.http.keys import Keys

_BODY_LIMIT = 100 * 1024 * 1024  # the default of FUNCTIONS_REQUEST_BODY_SIZE_LIMIT
_LINE_LIMIT = 8 * 1024  # Kestrel's MaxRequestLineSize, in bytes
_HEADERS_LIMIT = 32 * 1024  # Kestrel's MaxRequestHeadersTotalSize, in bytes; here per header
_LARGE = 64 * 1024  # bytes


class _Connection(web.RequestHandler):
    """Rejects malformed requests as Kestrel does: with a status alone."""

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        if status != HTTPStatus.BAD_REQUEST or request.writer.output_size > 0:
            return super().handle_error(request, status, exc, message)
        if isinstance(exc, LineTooLong):
            is_line = exc.args[1] == _LINE_LIMIT
            status = HTTPStatus.REQUEST_URI_TOO_LONG if is_line else HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
        refusal = web.Response(status=status)
        refusal.force_close()
        return refusal


class _Response(web.Response):
    """Sends headers before a large body.

    Before Python 3.13.2, aiohttp copies them into one block to send both at once. For megabytes, that costs more than
    another call to the system.
    """

    async def prepare(self, request: web.BaseRequest) -> AbstractStreamWriter | None:
        writer = await super().prepare(request)
        if writer and isinstance(self.body, bytes) and len(self.body) > _LARGE:
            writer.send_headers()
        return writer


class _Listener(web.Server):
    def __call__(self) -> web.RequestHandler:
        limits: dict[str, Any] = {"max_line_size": _LINE_LIMIT, "max_field_size": _HEADERS_LIMIT, "access_log": None}
        return _Connection(self, loop=asyncio.get_running_loop(), **limits)


class HttpServer:
    def __init__(
        self, functions: HttpFunctions, admin: AdminHandler, keys: Keys, webhook: BlobWebhook, *, stop_limit: float
    ) -> None:
        """`stop_limit`: seconds that a stop waits for running requests."""
        self._functions, self._admin, self._keys, self._webhook = functions, admin, keys, webhook
        self._callers = Callers()
        server = _Listener(self._respond, request_factory=self._request)
        # aiohttp waits for this timeout twice: before and after it ends the request's body.
        self._runner = web.ServerRunner(server, shutdown_timeout=stop_limit / 2)

    async def start(self, address: str, port: int) -> int:
        """Starts listening and returns the port, which the system chooses for port 0."""
        self._callers = Callers(address)
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, address, port).start()
        except OSError as error:
            await self._runner.cleanup()
            raise _unbindable(error, address, port) from None
        return int(self._runner.addresses[0][1])

    async def stop(self) -> None:
        """Stops listening, then lets running requests end within the limit."""
        await self._runner.cleanup()

    @staticmethod
    def _request(message: Any, payload: Any, protocol: Any, writer: Any, task: Any) -> web.BaseRequest:
        loop = asyncio.get_running_loop()
        return web.BaseRequest(message, payload, protocol, writer, task, loop, client_max_size=_BODY_LIMIT)

    async def _respond(self, request: web.BaseRequest) -> web.StreamResponse:
        hosts = [*request.headers.getall("Host", []), request.host]
        if refusal := self._callers.refusal(request.method, hosts, request.headers.get("Origin")):
            return web.Response(status=HTTPStatus.FORBIDDEN, text=refusal)
        body = await request.read() if request.content_length else b""  # Azure drops a chunked body, too
        http_request = HttpRequest(request.method, request.url, tuple(request.headers.items()), body)
        http_response = await self._reply(http_request, request)
        response = _Response(status=http_response.status, body=http_response.body)
        for name, value in http_response.headers:
            if name.lower() == "set-cookie":
                response.headers.add(name, value)
            else:
                response.headers[name] = value
        return response

    async def _reply(self, http_request: HttpRequest, request: web.BaseRequest) -> HttpResponse:
        if http_request.path.lower() == PATH:
            is_known = self._keys.admit_webhook(request.headers, http_request.url)
            return await self._webhook.answer(http_request) if is_known else HttpResponse(HTTPStatus.UNAUTHORIZED)
        if http_request.path.strip("/").split("/", 1)[0].lower() == "admin":
            is_known = self._keys.admit_admin(request.headers, http_request.url, request.remote)
            return self._admin.answer(http_request) if is_known else HttpResponse(HTTPStatus.UNAUTHORIZED)
        found = self._functions.find(http_request)
        if found is None:
            return HttpResponse(HTTPStatus.NOT_FOUND)
        function, match = found
        if not self._keys.admit(function.auth_level, request.headers, http_request.url):
            return HttpResponse(HTTPStatus.UNAUTHORIZED)
        return await self._functions.answer(http_request, function, match)


def _unbindable(error: OSError, address: str, port: int) -> ConfigurationError:
    if error.errno == errno.EADDRINUSE:
        return ConfigurationError(f"Port {port} on {address} is taken; stop what uses it or give another --port.")
    return ConfigurationError(f"The host can't listen on {address}, port {port}: {error.strerror}.")
