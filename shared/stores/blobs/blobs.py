"""Blob Storage: lists of a container, and pieces of blobs, each read under the ETag of its listing.

It never writes: blobs belong to their writers.
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, contextmanager
from typing import Any

from azure.core import MatchConditions
from azure.core.credentials_async import AsyncTokenCredential
from azure.core.exceptions import AzureError, HttpResponseError, ResourceNotFoundError
from azure.storage.blob import BlobType
from azure.storage.blob.aio import BlobServiceClient, ContainerClient

from shared.domain.blobs.blobs import SeenBlob
from shared.errors import BlobChangedError, BlobError
from shared.stores.proxies import has_proxies
from shared.stores.tables.pages import pages_of

_OTHER = (404, 412, 416)  # gone, changed meanwhile, or smaller than the range
_PAGE = 1000  # a page of blobs takes 7 MB while it is read
_CONNECT_SECONDS, _READ_SECONDS = 10, 30
_DEVELOPMENT = "UseDevelopmentStorage=true"


class BlobContainer:
    """One container of a storage account; `fetched` counts the bytes read from blobs."""

    def __init__(self, service: BlobServiceClient, client: ContainerClient) -> None:
        self._service = service
        self._client = client
        self.name = str(client.container_name)
        self.fetched = 0

    @classmethod
    def connect(
        cls, name: str, *, connection_string: str | None, endpoint: str | None, credential: AsyncTokenCredential | None
    ) -> "BlobContainer":
        service = connect_service(connection_string=connection_string, endpoint=endpoint, credential=credential)
        return cls(service, service.get_container_client(name))

    async def close(self) -> None:
        await self._service.close()

    async def pages(self, marker: str | None = None) -> AsyncIterator[tuple[list[SeenBlob], str | None]]:
        """Yields pages of all blobs in the order of names, each with the marker of the next page. Raises BlobError.

        A missing container has no blobs: Azure Monitor creates it with the first record.
        """
        listed = self._client.list_blobs(results_per_page=_PAGE)
        with translated(f"list {self.name}"):
            try:
                async with aclosing(pages_of(listed, marker)) as pages:
                    async for page, following in pages:
                        yield [_seen(blob) for blob in page], following
            except ResourceNotFoundError as error:
                if error.error_code != "ContainerNotFound":  # type: ignore[attr-defined]
                    raise

    async def look(self, name: str) -> SeenBlob | None:
        """Returns the blob's current properties, or None. Raises BlobError."""
        with translated(f"look at {name}"):
            try:
                return _seen(await self._client.get_blob_client(name).get_blob_properties())
            except ResourceNotFoundError:
                return None

    async def fetch(self, blob: SeenBlob, start: int, end: int) -> bytes:
        """Returns the bytes from `start` to before `end`, or to the blob's end. Raises BlobError.

        Raises BlobChangedError if the blob has changed since it was seen.
        """
        with translated(f"read {blob.name}"):
            try:
                stream = await self._client.download_blob(
                    blob.name,
                    offset=start,
                    length=end - start,
                    etag=f'"{blob.etag}"',
                    match_condition=MatchConditions.IfNotModified,
                )
                body = bytes(await stream.readall())
            except HttpResponseError as error:
                if error.status_code in _OTHER:
                    raise BlobChangedError(blob.name) from error
                raise
        self.fetched += len(body)
        return body


def connect_service(
    *, connection_string: str | None, endpoint: str | None, credential: AsyncTokenCredential | None
) -> BlobServiceClient:
    """Returns a client of a storage account, which waits for the service no longer than a tick can."""
    options: Any = {
        "connection_timeout": _CONNECT_SECONDS,
        "read_timeout": _READ_SECONDS,
        "retry_total": 2,
        "initial_backoff": 1,
        "increment_base": 1,
        "max_single_get_size": 8 * 1024 * 1024,
        "use_env_settings": has_proxies(),
    }
    if (connection_string or "").rstrip("; ").lower() == _DEVELOPMENT.lower():
        connection_string = _DEVELOPMENT
    if connection_string:
        return BlobServiceClient.from_connection_string(connection_string, **options)
    return BlobServiceClient(endpoint or "", credential=credential, **options)


@contextmanager
def translated(intent: str) -> Iterator[None]:
    try:
        yield
    except AzureError as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise BlobError(f"Blob Storage didn't {intent}: {reason}") from error


def _seen(blob: Any) -> SeenBlob:
    return SeenBlob(
        name=blob.name,
        created=blob.creation_time,
        modified=blob.last_modified,
        size=blob.size,
        etag=str(blob.etag).strip('"'),
        is_sealed=bool(blob.is_append_blob_sealed),
        blocks=blob.append_blob_committed_block_count,
        is_appended=blob.blob_type == BlobType.APPENDBLOB,
    )
