"""Blob triggers with the source EventGrid: events at /runtime/webhooks/blobs, through a queue, to the function.

No emulator of Event Grid is available, so the host emits the events: BlobCreated for each blob that appears after its
start. Event Grid, too, sends no events for older blobs or for appended data.
"""

import asyncio
import json
import logging
from collections.abc import Mapping
from datetime import datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import unquote, urlsplit

from azure.core import MatchConditions
from azure.core.exceptions import AzureError, HttpResponseError, ResourceModifiedError, ResourceNotFoundError
from azure.storage.blob import BlobProperties
from azure.storage.blob.aio import BlobClient, ContainerClient
from azure.storage.queue import QueueMessage

from local.functions_host.app.errors import BlobRefusedError, MessageError
from local.functions_host.app.functions import Function
from local.functions_host.app.in_flight_tasks import InFlightTasks
from local.functions_host.app.invoker import Invoker
from local.functions_host.app.messages import TypedData
from local.functions_host.app.settings import HostOptions
from local.functions_host.app.storage import StorageClients
from local.functions_host.blobs.container_blobs import blobs_of
from local.functions_host.blobs.etags import quoted
from local.functions_host.http.http_messages import HttpRequest, HttpResponse
from local.functions_host.queues.queues import QueueListener

PATH = "/runtime/webhooks/blobs"
CREATED, VALIDATION = "Microsoft.Storage.BlobCreated", "Microsoft.EventGrid.SubscriptionValidationEvent"
POISON = "webjobs-blobtrigger-poison"
_SECONDS = 2.0
_LOG = logging.getLogger("host.blobs")


class BlobListener:
    """The listener of one function; messages wait in a queue of the blobs' account, as in Azure."""

    def __init__(
        self,
        function: Function,
        *,
        options: HostOptions,
        invoker: Invoker,
        storage: StorageClients,
        host_id: str,
        in_flight: InFlightTasks,
    ) -> None:
        self._function, self._invoker, self._storage = function, invoker, storage
        self._container_name = str(function.trigger.options["path"]).partition("/")[0]
        self._container = storage.container(self._container_name, function.trigger.connection)
        self._queue = f"azure-webjobs-blobtrigger-{host_id}-{function.name.lower().replace('_', '-')}"[:63].rstrip("-")
        connection = function.trigger.connection
        self._messages = QueueListener(
            storage.queue(self._queue, connection),
            storage.queue(POISON, connection),
            self._process_message,
            options=options.blobs,
            in_flight=in_flight,
        )

    async def listen(self, stopping: asyncio.Event) -> None:
        await asyncio.gather(self._messages.listen(stopping), self._emit(stopping))

    async def accept(self, event: Mapping[str, Any]) -> None:
        """Queues a BlobCreated event of the function's container; ignores other events."""
        container, name = _container_and_name(str(event["data"]["url"]))
        if event["eventType"] == CREATED and container == self._container_name:
            await self.announce(name)

    async def announce(self, name: str) -> None:
        """Queues a message for a blob; only logs a warning if the blob doesn't exist."""
        try:
            seen = await self._container.get_blob_client(name).get_blob_properties()
        except ResourceNotFoundError:
            _LOG.warning("%s: there is no blob %s/%s", self._function.name, self._container_name, name)
            return
        await self._storage.send(self._queue, message_of(self._function, seen), self._function.trigger.connection)

    async def _process_message(self, _: QueueMessage, text: str) -> None:
        (name,) = message_values(text, "BlobName")
        try:
            content, metadata = await read_blob(self._container.get_blob_client(name), f"{self._container_name}/{name}")
        except ResourceNotFoundError:
            return  # deleted meanwhile: nothing is left to process
        values = {"blobTrigger": f"{self._container_name}/{name}", "name": name}
        await self._invoker.run(self._function, TypedData(bytes=content), metadata=metadata, values=values)

    async def _emit(self, stopping: asyncio.Event) -> None:
        known: set[tuple[str, datetime]] | None = None
        while not stopping.is_set():
            try:
                seen = await self._list_blobs()
                known = seen if known is None else known & seen
                for one in sorted(seen - known):
                    if await self._try_announce(one[0]):
                        known.add(one)
            except AzureError as error:
                _LOG.warning("%s: no events for now, as storage doesn't do its part: %s", self._function.name, error)
            try:
                await asyncio.wait_for(stopping.wait(), _SECONDS)
            except TimeoutError:
                continue

    async def _try_announce(self, name: str) -> bool:
        """Returns whether the event was accepted; False if storage refuses, so that it is retried."""
        try:
            await self.accept(_created(self._container, name))
        except HttpResponseError as error:
            _LOG.warning("%s: the blob %s can't be told of for now: %s", self._function.name, name, error)
            return False
        return True

    async def _list_blobs(self) -> set[tuple[str, datetime]]:
        try:
            return {(blob.name, blob.creation_time) async for blob in blobs_of(self._container)}
        except ResourceNotFoundError:
            return set()


class BlobWebhook:
    """The target of Event Grid's events; `listeners` are by the names of their functions."""

    def __init__(self, listeners: Mapping[str, BlobListener]) -> None:
        self._listeners = listeners

    async def answer(self, request: HttpRequest) -> HttpResponse:
        """Returns 202 for events passed to a function, or the validation response for a new subscription."""
        name = (request.url.query.get("functionName") or "").removeprefix("Host.Functions.")
        listener = self._listeners.get(name)
        if request.method != "POST" or listener is None:
            return HttpResponse(HTTPStatus.NOT_FOUND)
        try:
            events = json.loads(request.body)
            for event in events:
                if event["eventType"] == VALIDATION:
                    body = json.dumps({"validationResponse": event["data"]["validationCode"]}).encode()
                    return HttpResponse(HTTPStatus.OK, (("content-type", "application/json"),), body)
                await listener.accept(event)
        except (ValueError, LookupError, TypeError):
            return HttpResponse(HTTPStatus.BAD_REQUEST)
        return HttpResponse(HTTPStatus.ACCEPTED)


def message_of(function: Function, seen: BlobProperties) -> str:
    """Returns the queue message about a blob for a function."""
    message = {
        "Type": "BlobTrigger",
        "FunctionId": function.storage_name,
        "BlobType": str(getattr(seen.blob_type, "value", seen.blob_type)),
        "ContainerName": seen.container,
        "BlobName": seen.name,
        "ETag": quoted(seen.etag),
    }
    return json.dumps(message)


def message_values(text: str, *names: str) -> list[str]:
    """Returns the values of these names in a message. Raises MessageError if one is missing."""
    try:
        message = json.loads(text)
        found = [message[name] for name in names]
    except (ValueError, LookupError, TypeError, RecursionError):
        found = []
    if not found or not all(isinstance(one, str) for one in found):
        raise MessageError(f"it doesn't say {' and '.join(names)}")
    return found


def blob_metadata(uri: str, path: str, length: int) -> dict[str, TypedData]:
    """Returns the trigger metadata of a blob in the worker types that Azure's host uses."""
    return {
        "BlobTrigger": TypedData(string=path),
        "Uri": TypedData(json=json.dumps(uri)),
        "Properties": TypedData(json=json.dumps({"Length": length})),
        "Metadata": TypedData(json="{}"),
    }


async def read_blob(blob: BlobClient, path: str, etag: str | None = None) -> tuple[bytes, dict[str, TypedData]]:
    """Returns the whole blob and its metadata, as Azure's host passes it to out-of-process workers.

    Raises BlobRefusedError, which is logged, and AzureError: ResourceModifiedError if the blob no longer has the
    `etag`.
    """
    condition: dict[str, Any] = {"etag": quoted(etag), "match_condition": MatchConditions.IfNotModified} if etag else {}
    try:
        content = await (await blob.download_blob(**condition)).readall()
    except (ResourceNotFoundError, ResourceModifiedError):
        raise
    except HttpResponseError as error:
        _LOG.warning("storage doesn't hand over the blob %s: %s", path, str(error).partition("\n")[0])
        raise BlobRefusedError(path) from error
    return content, blob_metadata(blob.url, path, len(content))


def _created(container: ContainerClient, name: str) -> dict[str, Any]:
    return {"eventType": CREATED, "data": {"url": container.get_blob_client(name).url}}


def _container_and_name(url: str) -> tuple[str, str]:
    """Returns container and name from a blob's address; local addresses begin with the account."""
    parts = urlsplit(url)
    path = unquote(parts.path).removeprefix("/")
    if parts.hostname in ("127.0.0.1", "localhost"):
        path = path.partition("/")[2]
    container, _, name = path.partition("/")
    return container, name
