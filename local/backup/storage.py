"""Opens the source and target storage accounts of a backup, and counts the requests sent to them."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self, override
from urllib.parse import urlsplit
from urllib.request import getproxies

from azure.core.pipeline.transport import AioHttpTransport
from azure.data.tables.aio import TableServiceClient
from azure.identity.aio import DefaultAzureCredential
from azure.storage.blob.aio import BlobServiceClient, ContainerClient

from local.dev.system.console import Failure

_SUFFIXES = r"core\.windows\.net|core\.usgovcloudapi\.net|core\.chinacloudapi\.cn"
"""Suffixes of Azure's clouds: a token sent to another host would give it access to all the operator's accounts."""
_URL = re.compile(rf"https://(?P<account>[a-z0-9]{{3,24}})\.(?:blob|table)\.(?P<suffix>{_SUFFIXES})/?")
_CONNECTION = re.compile(r"(?i)(?:^|;)\s*(?:AccountName|BlobEndpoint|TableEndpoint|SharedAccessSignature)=")
_DEVELOPMENT = "usedevelopmentstorage=true"
_CONNECT_SECONDS, _READ_SECONDS = 10, 60
_BLOB_RETRIES = {
    "initial_backoff": 1,
    "increment_base": 2,
    "random_jitter_range": 1,
    "retry_total": 5,
    "retry_connect": 2,
}
"""Pauses of 3, 5, 9, 17 and 33 seconds, but of 3 and 5 if nothing answers.

With the SDK's defaults a mistyped name is noticed only after a silent minute.
"""


def name_of(client: TableServiceClient | ContainerClient) -> str:
    """Returns the name of a client's storage account; the SDK finds none in a DNS zone endpoint, such as NAME.z01."""
    return client.account_name or (urlsplit(client.url).hostname or "").partition(".")[0]


class CountingTransport(AioHttpTransport):  # type: ignore[misc]  # untyped there
    """Sends requests and counts them, including retries."""

    def __init__(self) -> None:
        super().__init__(
            connection_timeout=_CONNECT_SECONDS, read_timeout=_READ_SECONDS, use_env_settings=bool(getproxies())
        )
        self.requests = 0

    @override
    async def send(self, request: Any, **options: Any) -> Any:
        self.requests += 1
        return await super().send(request, **options)


@dataclass(slots=True)
class StorageAccount:
    """A storage account by connection string, or by URL with this machine's own credential."""

    place: str
    transport: CountingTransport = field(default_factory=CountingTransport)
    _opened: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not (_is_connection_string(self.place) or _URL.fullmatch(self.place)):
            raise Failure(
                "A storage account is named by its connection string or by its URL, https://NAME.table.core.windows.net"
                " (or core.usgovcloudapi.net, core.chinacloudapi.cn); this is neither."
            )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        while self._opened:
            await self._opened.pop().close()

    def tables(self) -> TableServiceClient:
        options: Any = {"transport": self.transport}
        if found := _URL.fullmatch(self.place):
            return self._kept(TableServiceClient(_address(found, "table"), credential=self._credential(), **options))
        with _complete():
            return self._kept(TableServiceClient.from_connection_string(self.place, **options))

    def blobs(self) -> BlobServiceClient:
        options: Any = {"transport": self.transport, **_BLOB_RETRIES}
        if found := _URL.fullmatch(self.place):
            return self._kept(BlobServiceClient(_address(found, "blob"), credential=self._credential(), **options))
        with _complete():
            return self._kept(BlobServiceClient.from_connection_string(self.place, **options))

    def _credential(self) -> DefaultAzureCredential:
        return self._kept(DefaultAzureCredential())

    def _kept[T](self, opened: T) -> T:
        self._opened.append(opened)
        return opened


@contextmanager
def _complete() -> Iterator[None]:
    """Raises Failure if a connection string is incomplete."""
    try:
        yield
    except ValueError as error:
        raise Failure("The connection string lacks an account key or an endpoint.") from error


def _is_connection_string(place: str) -> bool:
    return bool(_CONNECTION.search(place)) or place.rstrip("; ").lower() == _DEVELOPMENT


def _address(found: re.Match[str], service: str) -> str:
    return f"https://{found['account']}.{service}.{found['suffix']}"
