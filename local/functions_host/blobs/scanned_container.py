"""How far a container was scanned for blobs: up to the time of the one that was written last, a scan before the last.

A list that is long in coming may miss a blob that was written meanwhile, and have one that was written after it. Such
a blob is no older than what the list before it had, so the next scan begins there. It only spares looking for the
receipts of older blobs, and is kept where Azure's host keeps it.
"""

import json
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from azure.core.exceptions import AzureError, ResourceExistsError, ResourceNotFoundError
from azure.storage.blob import BlobProperties
from azure.storage.blob.aio import ContainerClient

from local.functions_host.blobs.container_blobs import blobs_of

_EARLIER = timedelta(milliseconds=1)  # as times of blobs have whole seconds


class ScannedContainer:
    """A container, and when the blob was written that the last whole scan of it but one found last."""

    def __init__(self, container: ContainerClient, hosts: ContainerClient, host_id: str) -> None:
        self.container = container
        self.latest: datetime | None = None
        self._memory = _ScanMemory(hosts, host_id, container)
        self._before: datetime | None = None
        self._newest: datetime | None = None

    async def written_lately(self) -> list[BlobProperties]:
        """Times have whole seconds, so the blobs of the second from which on they count are among them.

        Raises AzureError.
        """
        since = self.latest = self.latest or await self._memory.load()
        try:
            listed = [blob async for blob in blobs_of(self.container)]
        except ResourceNotFoundError:
            listed = []
        self._before, self._newest = self._newest, max((blob.last_modified for blob in listed), default=since)
        return [blob for blob in listed if blob.last_modified >= since]

    async def remember(self, left: Iterable[datetime]) -> None:
        """The next scan begins with what is `left`, or else with what the list before this one had last.

        After the first list it begins where that did: a blob that it missed may be older than all that is left.
        """
        if self._before is None:
            return
        found = min([*left, self._before])
        if self.latest and found > self.latest:
            self.latest = found
            await self._memory.save(found)


class _ScanMemory:
    def __init__(self, hosts: ContainerClient, host_id: str, container: ContainerClient) -> None:
        name = f"blobscaninfo/{host_id}/{container.account_name}/{container.container_name}/scanInfo"
        self._hosts, self._blob = hosts, hosts.get_blob_client(name)

    async def load(self) -> datetime:
        """The beginning of time where nothing is known. Raises AzureError."""
        try:
            text = await (await self._blob.download_blob()).readall()
            return datetime.fromisoformat(json.loads(text)["LatestScan"]).astimezone(UTC)
        except (ResourceNotFoundError, ValueError, LookupError, TypeError):
            return datetime.min.replace(tzinfo=UTC)

    async def save(self, latest: datetime) -> None:
        """As well as can be: without it a restart looks at more receipts."""
        text = json.dumps({"LatestScan": (latest - _EARLIER).isoformat()})
        with suppress(ResourceExistsError, AzureError):
            await self._hosts.create_container()
        with suppress(AzureError):
            await self._blob.upload_blob(text.encode(), overwrite=True)
