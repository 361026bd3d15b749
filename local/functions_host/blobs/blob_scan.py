"""Blob triggers that scan their containers: each new or changed blob gets a message, and each message runs a function.

This works as in Azure's host, without reading the storage account's logs. One host scans, under a lease; all hosts
receive messages from one queue. A message about an outdated version of a blob is dropped, as a later message follows.
After `poisonBlobThreshold` failures the message moves to the poison queue of the blob's account. Azure scans every ten
seconds; here it is two, as local scans cost nothing. Flex Consumption supports no such triggers.
"""

import asyncio
import logging
from collections.abc import Iterable, Mapping
from contextlib import suppress

from azure.core.exceptions import AzureError, HttpResponseError, ResourceModifiedError, ResourceNotFoundError
from azure.storage.blob import BlobProperties
from azure.storage.blob.aio import ContainerClient
from azure.storage.queue import QueueMessage

from local.functions_host.app.errors import AttemptFailedError
from local.functions_host.app.functions import Function
from local.functions_host.app.in_flight_tasks import InFlightTasks
from local.functions_host.app.invoker import Invoker
from local.functions_host.app.messages import TypedData
from local.functions_host.app.settings import HostOptions
from local.functions_host.app.storage import StorageClients
from local.functions_host.blobs.blob_events import POISON, message_of, message_values, read_blob
from local.functions_host.blobs.blob_paths import BlobPath
from local.functions_host.blobs.blob_receipts import BlobReceipts
from local.functions_host.blobs.scanned_container import ScannedContainer
from local.functions_host.queues.queues import QueueListener
from local.functions_host.timers.leases import SingletonLease

_SECONDS = 2.0
_LOG = logging.getLogger("host.blobs")


class BlobScanListener:
    """The listener of all functions with scanning triggers; settings in the paths are already replaced."""

    def __init__(
        self,
        functions: Mapping[str, tuple[Function, BlobPath]],
        *,
        options: HostOptions,
        invoker: Invoker,
        storage: StorageClients,
        host_id: str,
        in_flight: InFlightTasks,
    ) -> None:
        self._functions = {function.storage_name: (function, path) for function, path in functions.values()}
        self._invoker, self._storage, self._max_attempts = invoker, storage, options.blobs.max_dequeue_count
        hosts = storage.hosts_container()
        self._receipts = BlobReceipts(hosts, host_id)
        self._lease = SingletonLease(hosts, f"locks/{host_id}/WebJobs.Internal.Blobs.Listener", "the scan for blobs")
        self._queue = f"azure-webjobs-blobtrigger-{host_id}"
        self._containers = [ScannedContainer(container, hosts, host_id) for container in self._all_containers()]
        self._messages = QueueListener(
            storage.queue(self._queue),
            storage.queue(POISON),
            self._process_message,
            options=options.blobs,
            in_flight=in_flight,
        )

    async def listen(self, stopping: asyncio.Event) -> None:
        names = ", ".join(sorted(function.name for function, _ in self._functions.values()))
        _LOG.info("scanning containers for %s; Flex Consumption doesn't know that", names)
        await asyncio.gather(self._messages.listen(stopping), self._scan_under_lease(stopping))

    async def announce(self, function: Function, name: str) -> None:
        """Queues a message for a blob regardless of its receipt; only logs a warning if the blob doesn't exist."""
        container = self._container(function)
        try:
            seen = await container.get_blob_client(name).get_blob_properties()
        except ResourceNotFoundError:
            _LOG.warning("%s: there is no blob %s/%s", function.name, container.container_name, name)
            return
        await self._send(function, seen)

    async def _scan_under_lease(self, stopping: asyncio.Event) -> None:
        """Scans while this host holds the lease, until cancelled; finally releases the lease."""
        while True:
            await self._lease.acquire()
            tasks = [asyncio.create_task(self._lease.keep()), asyncio.create_task(self._scan(stopping))]
            try:
                ended, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.wait(tasks)
                await self._lease.release()
            for task in ended:
                task.result()

    async def _scan(self, stopping: asyncio.Event) -> None:
        for scanned in self._containers:
            scanned.latest = None  # another host may have scanned meanwhile
        while not stopping.is_set():
            for scanned in self._containers:
                try:
                    await self._scan_one(scanned)
                except AzureError as error:
                    _LOG.warning("the container %s can't be scanned: %s", scanned.container.container_name, error)
            with suppress(TimeoutError):
                await asyncio.wait_for(stopping.wait(), _SECONDS)
        await asyncio.Event().wait()  # for ever: the listener will be cancelled

    async def _scan_one(self, scanned: ScannedContainer) -> None:
        """Announces blobs written no earlier than the last known one; failed ones are retried in the next scan."""
        functions = self._functions_of(scanned.container)
        failed = [
            seen.last_modified
            for seen in await scanned.recent_blobs()
            for function, path in functions
            if not await self._try_announce(function, path, seen)
        ]
        await scanned.advance(failed)

    async def _announce_once(self, function: Function, path: BlobPath, listed: BlobProperties) -> bool:
        if path.values(listed.name) is None:
            return True
        try:
            client = self._container(function).get_blob_client(listed.name)
            seen = await client.get_blob_properties()
        except ResourceNotFoundError:
            return True
        blob_path = f"{seen.container}/{seen.name}"
        return await self._receipts.notify_once(function, blob_path, seen.etag, lambda: self._send(function, seen))

    async def _try_announce(self, function: Function, path: BlobPath, listed: BlobProperties) -> bool:
        """Announces a blob; returns False also if storage refuses, so that other blobs are still announced."""
        try:
            return await self._announce_once(function, path, listed)
        except HttpResponseError as error:
            _LOG.warning("%s: the blob %s can't be told of for now: %s", function.name, listed.name, error)
            return False

    async def _send(self, function: Function, seen: BlobProperties) -> None:
        await self._storage.send(self._queue, message_of(function, seen))

    async def _process_message(self, message: QueueMessage, text: str) -> None:
        function_name, name, etag = message_values(text, "FunctionId", "BlobName", "ETag")
        function, path = self._functions.get(function_name, (None, None))
        if function is None or path is None:
            _LOG.warning("a message for %s is dropped: the app has no such function", function_name)
            return
        try:
            await self._run(function, path, name, etag)
        except AttemptFailedError:
            if (message.dequeue_count or 0) < self._max_attempts:
                raise
            _LOG.warning("%s: %s moves to %s", function.name, name, POISON)
            await self._storage.send(POISON, text, function.trigger.connection)

    async def _run(self, function: Function, path: BlobPath, name: str, etag: str) -> None:
        client, blob_path = self._container(function).get_blob_client(name), f"{path.container}/{name}"
        try:
            content, metadata = await read_blob(client, blob_path, etag)
        except (ResourceNotFoundError, ResourceModifiedError):
            return  # the scan announces the current version
        values = path.values(name) or {}
        metadata |= {key: TypedData(string=value) for key, value in values.items()}
        await self._invoker.run(
            function, TypedData(bytes=content), metadata=metadata, values={"blobTrigger": blob_path, **values}
        )

    def _container(self, function: Function) -> ContainerClient:
        _, path = self._functions[function.storage_name]
        return self._storage.container(path.container, function.trigger.connection)

    def _all_containers(self) -> Iterable[ContainerClient]:
        return {one.url: one for one in map(self._container, (found for found, _ in self._functions.values()))}.values()

    def _functions_of(self, container: ContainerClient) -> list[tuple[Function, BlobPath]]:
        return [pair for pair in self._functions.values() if self._container(pair[0]).url == container.url]
