"""The server: listens, runs events at their time, and stops promptly."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from ssl import SSLContext
from typing import Any

from aiohttp import web
from aiohttp.http_exceptions import LineTooLong

from local.batch_emulator.emulator import Emulator
from local.batch_emulator.http.api_handler import ApiHandler
from local.batch_emulator.http.controls import PREFIX, ControlHandler
from local.batch_emulator.http.instance_metadata import PREFIX as METADATA
from local.batch_emulator.http.instance_metadata import MetadataHandler
from local.batch_emulator.http.prices import PATH as PRICES
from local.batch_emulator.http.prices import PriceHandler
from local.batch_emulator.http.resource_manager import PREFIX as ACCOUNTS
from local.batch_emulator.http.resource_manager import ResourceManagerHandler
from local.batch_emulator.persistence_service import PersistenceService

_SHUTDOWN_SECONDS = 0.5
_MAX_LINE_BYTES = 16 * 1024


class _Connection(web.RequestHandler):
    """Rejects malformed requests in the service's format instead of aiohttp's."""

    def __init__(self, listener: "_Listener", **options: Any) -> None:
        super().__init__(listener, **options)
        self._api_handler = listener.api_handler

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        if status != HTTPStatus.BAD_REQUEST or request.writer.output_size > 0:
            return super().handle_error(request, status, exc, message)
        too_long = f"The request's line and each of its headers have at most {_MAX_LINE_BYTES} bytes."
        response = self._api_handler.reject_malformed(too_long if isinstance(exc, LineTooLong) else str(message))
        response.force_close()
        return response


class _Listener(web.Server):
    def __init__(
        self, api_handler: ApiHandler, handler: Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]
    ) -> None:
        self.api_handler = api_handler
        self._options = {
            "access_log": None,
            "auto_decompress": False,
            "max_line_size": _MAX_LINE_BYTES,
            "max_field_size": _MAX_LINE_BYTES,
        }
        super().__init__(handler)

    def __call__(self) -> web.RequestHandler:
        return _Connection(self, loop=asyncio.get_running_loop(), **self._options)


class Server:
    """The server; with `persistence` changes are stored, and the server stops if that fails."""

    def __init__(self, emulator: Emulator, persistence: PersistenceService | None = None) -> None:
        self._emulator = emulator
        self._persistence = persistence
        self._api_handler = ApiHandler(emulator)
        self._controls = ControlHandler(emulator)
        self._metadata = MetadataHandler(emulator)
        self._prices = PriceHandler(emulator)
        self._resource_manager = ResourceManagerHandler(emulator)
        self._runner: web.ServerRunner | None = None
        self._event_task: asyncio.Task[None] | None = None
        self._persistence_task: asyncio.Task[None] | None = None

    async def start(self, host: str = "127.0.0.1", port: int = 0, tls: SSLContext | None = None) -> int:
        """Listens, with https if a context is given, and returns the port. Raises OSError if that fails."""
        runner = web.ServerRunner(
            _Listener(self._api_handler, self._serve),
            shutdown_timeout=_SHUTDOWN_SECONDS,
        )
        await runner.setup()
        self._runner = runner
        await web.TCPSite(runner, host, port, ssl_context=tls).start()
        if not self._emulator.clock.stepped:
            self._event_task = asyncio.create_task(self._emulator.event_queue.run())
        if self._persistence:
            self._persistence_task = asyncio.create_task(self._persistence.run())
        chosen: int = runner.addresses[0][1]
        return chosen

    async def run(self, stop: asyncio.Event) -> None:
        """Returns on a stop signal. Raises errors of events and of the persistence."""
        tasks = (asyncio.create_task(stop.wait()), self._event_task, self._persistence_task)
        done, _ = await asyncio.wait(filter(None, tasks), return_when=asyncio.FIRST_COMPLETED)
        for each in done:
            each.result()

    async def stop(self) -> None:
        if self._event_task:
            self._event_task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._event_task
        if self._runner:
            await self._runner.cleanup()
        if self._persistence and self._persistence_task:
            self._persistence.stop()
            await self._persistence_task

    async def _serve(self, incoming: web.BaseRequest) -> web.StreamResponse:
        if incoming.path.startswith(PREFIX):
            return await self._controls.handle(incoming)
        if incoming.path.startswith(METADATA):
            return await self._metadata.handle(incoming)
        if incoming.path == PRICES:
            return await self._prices.handle(incoming)
        if incoming.path.startswith(ACCOUNTS):
            return await self._resource_manager.handle(incoming)
        return await self._api_handler.handle(incoming)
