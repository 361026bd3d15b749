"""The progress of scanning a container: up to the newest blob's time in the scan before the last.

A slow list may miss a blob written meanwhile and contain a later one. A missed blob is no older than the newest blob of
the previous list, so the next scan begins there. This only saves reading receipts of older blobs; it is stored where
Azure's host stores it.
"""

import json
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from azure.core.exceptions import AzureError, ResourceExistsError, ResourceNotFoundError
from azure.storage.blob import BlobProperties
from azure.storage.blob.aio import ContainerClient

from local.functions_host.blobs.container_blobs import blobs_of

_EARLIER = timedelta(milliseconds=1)  # as blob times are in whole seconds


class ScannedContainer:
    """A container and the write time of the newest blob in the last complete scan but one."""

    def __init__(self, container: ContainerClient, hosts: ContainerClient, host_id: str) -> None:
        self.container = container
        self.latest: datetime | None = None
        self._scan_info = _ScanInfoBlob(hosts, host_id, container)
        self._previous_newest: datetime | None = None
        self._newest: datetime | None = None

    async def recent_blobs(self) -> list[BlobProperties]:
        """Returns the blobs written since the last position, including those of the same second.

        Raises AzureError.
        """
        since = self.latest = self.latest or await self._scan_info.load()
        try:
            listed = [blob async for blob in blobs_of(self.container)]
        except ResourceNotFoundError:
            listed = []
        self._previous_newest, self._newest = self._newest, max((blob.last_modified for blob in listed), default=since)
        return [blob for blob in listed if blob.last_modified >= since]

    async def advance(self, failed: Iterable[datetime]) -> None:
        """Moves the position to the oldest of `failed`, or at most to the newest blob of the previous list.

        The first list doesn't move it: a blob that this list missed may be older than all in `failed`.
        """
        if self._previous_newest is None:
            return
        found = min([*failed, self._previous_newest])
        if self.latest and found > self.latest:
            self.latest = found
            await self._scan_info.save(found)


class _ScanInfoBlob:
    def __init__(self, hosts: ContainerClient, host_id: str, container: ContainerClient) -> None:
        name = f"blobscaninfo/{host_id}/{container.account_name}/{container.container_name}/scanInfo"
        self._hosts, self._blob = hosts, hosts.get_blob_client(name)

    async def load(self) -> datetime:
        """Returns the stored position, or the minimal time if there is none. Raises AzureError."""
        try:
            text = await (await self._blob.download_blob()).readall()
            return datetime.fromisoformat(json.loads(text)["LatestScan"]).astimezone(UTC)
        except (ResourceNotFoundError, ValueError, LookupError, TypeError):
            return datetime.min.replace(tzinfo=UTC)

    async def save(self, latest: datetime) -> None:
        """Stores the position; ignores errors, as without it a restart only reads more receipts."""
        text = json.dumps({"LatestScan": (latest - _EARLIER).isoformat()})
        with suppress(ResourceExistsError, AzureError):
            await self._hosts.create_container()
        with suppress(AzureError):
            await self._blob.upload_blob(text.encode(), overwrite=True)
