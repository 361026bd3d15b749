"""Finds the storage accounts of bindings and of the host, with one client for each.

Connections are settings as in Azure: NAME (a connection string) or NAME__blobServiceUri, NAME__queueServiceUri or
NAME__accountName with the developer's own Entra identity. A client retries once after a second: triggers survive
outages on their own, and a stop must not wait for long back-offs.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from azure.core.exceptions import ResourceExistsError, ResourceNotFoundError
from azure.storage.blob.aio import BlobServiceClient, ContainerClient
from azure.storage.queue import TextBase64EncodePolicy
from azure.storage.queue.aio import QueueClient, QueueServiceClient

from local.functions_host.app.errors import ConfigurationError

HOST_CONNECTION = "AzureWebJobsStorage"
HOSTS_CONTAINER = "azure-webjobs-hosts"
_DEVELOPMENT = (  # Azurite's published account on its default ports
    "DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;AccountKey="
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==;"
    "BlobEndpoint=http://127.0.0.1:10000/devstoreaccount1;QueueEndpoint=http://127.0.0.1:10001/devstoreaccount1;"
)
_RETRY: Any = {"retry_total": 1, "initial_backoff": 1, "increment_base": 0, "random_jitter_range": 0}

type Service = Literal["blob", "queue"]


@dataclass(frozen=True, slots=True)
class StorageConnection:
    """A connection string or an account's address."""

    connection_string: str | None = None
    account_url: str | None = None


def find_connection(environment: Mapping[str, str], name: str, service: Service) -> StorageConnection:
    """Returns the connection of a service. Raises ConfigurationError if its setting is missing or malformed."""
    for key in (name, f"AzureWebJobs{name}"):
        if value := environment.get(key):
            return StorageConnection(connection_string=_checked(key, value, service))
    for key in (f"{name}__{service}ServiceUri", f"{name}__serviceUri"):
        if value := environment.get(key):
            return StorageConnection(account_url=value)
    if account := environment.get(f"{name}__accountName"):
        return StorageConnection(account_url=f"https://{account}.{service}.core.windows.net")
    raise ConfigurationError(f"the setting {name} is missing: it says where the {service} storage is")


def _checked(name: str, value: str, service: Service) -> str:
    if value.strip().rstrip(";").lower() == "usedevelopmentstorage=true":
        return _DEVELOPMENT
    client: type[BlobServiceClient | QueueServiceClient] = BlobServiceClient
    if service == "queue":
        client = QueueServiceClient
    try:
        client.from_connection_string(value)
    except ValueError:
        raise ConfigurationError(f"the setting {name} isn't a storage connection string") from None
    return value


class StorageClients:
    """Clients of all storage accounts; must be used and closed inside one event loop."""

    def __init__(self, environment: Mapping[str, str], *, base64: bool = True) -> None:
        self._environment = environment
        self._encode = TextBase64EncodePolicy() if base64 else None
        self._blobs: dict[str, BlobServiceClient] = {}
        self._queues: dict[str, QueueServiceClient] = {}
        self._credential: Any = None

    def hosts_container(self) -> ContainerClient:
        """Returns the container in which Azure's hosts keep their locks and timer states."""
        return self.container(HOSTS_CONTAINER)

    def container(self, name: str, connection: str = HOST_CONNECTION) -> ContainerClient:
        if connection not in self._blobs:
            found = find_connection(self._environment, connection, "blob")
            self._blobs[connection] = (
                BlobServiceClient.from_connection_string(found.connection_string, **_RETRY)
                if found.connection_string
                else BlobServiceClient(found.account_url or "", self._identity(), **_RETRY)
            )
        return self._blobs[connection].get_container_client(name)

    def queue(self, name: str, connection: str = HOST_CONNECTION) -> QueueClient:
        """Returns a queue client that doesn't decode messages: the trigger handles text that isn't base64."""
        return self._queue_service(connection).get_queue_client(name)

    async def send(self, queue: str, text: str, connection: str = HOST_CONNECTION) -> None:
        """Sends a message, encoded as host.json says; creates a missing queue, as Azure does."""
        client = self._queue_service(connection).get_queue_client(queue, message_encode_policy=self._encode)
        try:
            await client.send_message(text)
        except ResourceNotFoundError:
            await create_queue(client)
            await client.send_message(text)

    async def close(self) -> None:
        for blobs in self._blobs.values():
            await blobs.close()
        for queues in self._queues.values():
            await queues.close()
        if self._credential:
            await self._credential.close()

    def _queue_service(self, connection: str) -> QueueServiceClient:
        if connection not in self._queues:
            found = find_connection(self._environment, connection, "queue")
            self._queues[connection] = (
                QueueServiceClient.from_connection_string(found.connection_string, **_RETRY)
                if found.connection_string
                else QueueServiceClient(found.account_url or "", self._identity(), **_RETRY)
            )
        return self._queues[connection]

    def _identity(self) -> Any:
        if self._credential is None:
            from azure.identity.aio import DefaultAzureCredential  # noqa: PLC0415 - 180 ms that few need

            self._credential = DefaultAzureCredential()
        return self._credential


async def create_queue(client: QueueClient) -> None:
    try:
        await client.create_queue()
    except ResourceExistsError:
        return
