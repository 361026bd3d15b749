"""The composition root: an app, its triggers and the socket; starts in order, stops by draining."""

import asyncio
import logging
import time
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from local.functions_host.app.functions import BLOB, QUEUE, TIMER, Function
from local.functions_host.app.in_flight_tasks import InFlightTasks
from local.functions_host.app.invoker import Invoker
from local.functions_host.app.settings import HostOptions, load_host_json, resolve
from local.functions_host.app.storage import StorageClients
from local.functions_host.app.worker import Worker
from local.functions_host.blobs.blob_events import BlobListener, BlobWebhook
from local.functions_host.blobs.blob_paths import BlobPath
from local.functions_host.blobs.blob_scan import BlobScanListener
from local.functions_host.http.admin import AdminHandler
from local.functions_host.http.http_messages import HttpFunctions
from local.functions_host.http.keys import Keys
from local.functions_host.http.routes import RouteTable
from local.functions_host.http_server import HttpServer
from local.functions_host.start_checks import check_functions
from local.functions_host.timers.clock import Clock
from local.functions_host.timers.timers import TimerListener
from local.functions_host.triggers import Listener, queue_listener, routes_of, timer_listener

_LOG = logging.getLogger("host")
_DRAIN_SECONDS = 3.2  # a whole stop takes less than five seconds, even on a busy machine
_STEP_SECONDS = 0.4


@dataclass(frozen=True, slots=True)
class FunctionApp:
    """An indexed app that passed all checks at start, with the objects that run its functions."""

    worker: Worker
    options: HostOptions
    storage: StorageClients
    invoker: Invoker
    http: HttpFunctions

    @classmethod
    async def load(cls, app_dir: Path, environment: Mapping[str, str], *, listening: bool = True) -> "FunctionApp":
        """Loads and checks an app. Raises ConfigurationError with every reason why it can't be served.

        `environment` is read after the import, so pass os.environ itself if the app sets defaults in it.
        """
        options = load_host_json(app_dir, environment)
        worker = Worker(app_dir)
        await worker.start()
        check_functions(worker.functions, options, environment, listening=listening)
        storage = StorageClients(environment, base64=options.queues.base64)
        invoker = Invoker(worker, options, storage, environment)
        table = RouteTable(routes_of(worker.functions, options.route_prefix))
        return cls(worker, options, storage, invoker, HttpFunctions(worker.functions, table, invoker))

    async def close(self) -> None:
        await self.storage.close()
        self.worker.stop()


class Host:
    """A running app. Without `listening` it serves only HTTP, as timers and queues have no storage for their leases."""

    def __init__(
        self, app: FunctionApp, environment: Mapping[str, str], *, clock: Clock, keys: Keys, listening: bool = True
    ) -> None:
        self.app, self._environment, self._clock = app, environment, clock
        fallback = f"local{zlib.crc32(str(app.worker.app_dir).encode()):08x}"
        self._host_id = environment.get("AzureFunctionsWebHost__hostid") or fallback
        self._listening = listening
        self._in_flight = InFlightTasks()
        self._stopping = asyncio.Event()
        self._timers = {one.name: self._timer(one) for one in self._of(TIMER)}
        self._queues = {one.name: resolve(one.trigger.options["queueName"], environment) for one in self._of(QUEUE)}
        self._blobs = {one.name: self._blob(one) for one in self._of(BLOB) if not one.scans}
        self._scan = self._scan_of([one for one in self._of(BLOB) if one.scans])
        self._tasks: list[asyncio.Task[None]] = []
        admin = AdminHandler(app.worker.functions, self._host_id, self.run_now)
        webhook = BlobWebhook(self._blobs)
        self._server = HttpServer(app.http, admin, keys, webhook, stop_limit=_DRAIN_SECONDS)

    async def start(self, address: str, port: int) -> int:
        """Binds the socket, then starts listeners, so that no timer fires if the port is in use; returns the port."""
        port = await self._server.start(address, port)
        listeners: list[Listener] = [*self._timers.values()]
        listeners += [self._queue(one) for one in self._of(QUEUE)]
        listeners += self._blobs.values()
        listeners += [self._scan] if self._scan else []
        for listener in listeners:
            task = asyncio.create_task(listener.listen(self._stopping))
            task.add_done_callback(_log_failure)
            self._tasks.append(task)
        return port

    async def stop(self) -> None:
        """Accepts nothing new, waits for running work, and releases leases; takes under five seconds."""
        began = time.monotonic()
        self._stopping.set()
        await asyncio.gather(self._server.stop(), self._in_flight.drain(_DRAIN_SECONDS))
        left = max(_STEP_SECONDS, _DRAIN_SECONDS - (time.monotonic() - began))
        await self._in_flight.drain(min(left, _STEP_SECONDS))  # a batch that was being received when the stop began
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            left = max(_STEP_SECONDS, _DRAIN_SECONDS - (time.monotonic() - began))
            await asyncio.wait(self._tasks, timeout=left)  # slow storage delays the release of leases
        await self._clock.close()
        await self.app.close()

    def run_now(self, function: Function, text: str) -> None:
        """Runs a timer, sends the text to a function's queue, or announces the blob at that path."""
        timer, queue = self._timers.get(function.name), self._queues.get(function.name)
        blobs = self._blobs.get(function.name)
        if timer:
            self._in_flight.start(timer.run_now())
        elif queue:
            self._in_flight.start(self.app.storage.send(queue, text, function.trigger.connection))
        elif blobs:
            self._in_flight.start(blobs.announce(text.partition("/")[2]))
        elif function.scans and self._scan:
            self._in_flight.start(self._scan.announce(function, text.partition("/")[2]))

    def _of(self, kind: str) -> list[Function]:
        functions = self.app.worker.functions.values() if self._listening else ()
        return [one for one in functions if one.trigger.kind == kind]

    def _timer(self, function: Function) -> TimerListener:
        return timer_listener(
            function,
            environment=self._environment,
            invoker=self.app.invoker,
            storage=self.app.storage,
            host_id=self._host_id,
            clock=self._clock,
            in_flight=self._in_flight,
        )

    def _queue(self, function: Function) -> Listener:
        return queue_listener(
            function,
            self._queues[function.name],
            options=self.app.options,
            invoker=self.app.invoker,
            storage=self.app.storage,
            in_flight=self._in_flight,
        )

    def _blob(self, function: Function) -> BlobListener:
        return BlobListener(
            function,
            options=self.app.options,
            invoker=self.app.invoker,
            storage=self.app.storage,
            host_id=self._host_id,
            in_flight=self._in_flight,
        )

    def _scan_of(self, functions: Sequence[Function]) -> BlobScanListener | None:
        paths = [BlobPath.parse(resolve(one.trigger.options["path"], self._environment)) for one in functions]
        if not functions:
            return None
        return BlobScanListener(
            {one.name: (one, path) for one, path in zip(functions, paths, strict=True)},
            options=self.app.options,
            invoker=self.app.invoker,
            storage=self.app.storage,
            host_id=self._host_id,
            in_flight=self._in_flight,
        )


def _log_failure(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()):
        _LOG.error("a listener died; its function won't run any more", exc_info=error)
