"""Receipts of the blobs that functions were notified of, in `azure-webjobs-hosts`, laid out as by Azure's host.

A receipt covers a function, a blob and an ETag: once complete, no host notifies the function of this content again. An
incomplete receipt, left by a host that died, leads to another notification.
"""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from http import HTTPStatus

from azure.core import MatchConditions
from azure.core.exceptions import HttpResponseError, ResourceExistsError, ResourceModifiedError, ResourceNotFoundError
from azure.storage.blob.aio import BlobClient, BlobLeaseClient, ContainerClient

from local.functions_host.app.functions import Function
from local.functions_host.blobs.etags import quoted

_INCOMPLETE = "Incomplete"  # metadata of a receipt until the function was notified
_LEASE = 30  # seconds
_UNAVAILABLE = (HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT, HTTPStatus.PRECONDITION_FAILED)


class BlobReceipts:
    def __init__(self, hosts: ContainerClient, host_id: str) -> None:
        self._hosts, self._host_id = hosts, host_id

    async def notify_once(
        self, function: Function, path: str, etag: str, notify: Callable[[], Awaitable[None]]
    ) -> bool:
        """Calls `notify` unless the receipt for blob `container/name` and ETag (quoted or not) is complete.

        Returns False if another host holds the receipt, to be retried. Raises AzureError.
        """
        name = f"blobreceipts/{self._host_id}/{function.storage_name}/{quoted(etag)}/{path}"
        receipt = self._hosts.get_blob_client(name)
        if await self._is_complete(receipt):
            return True
        lease = await self._lease(receipt)
        if lease is None:
            return False
        try:
            if not await self._is_complete(receipt):
                await notify()
                await receipt.set_blob_metadata({}, lease=lease)
        finally:
            await lease.release()
        return True

    async def _is_complete(self, receipt: BlobClient) -> bool:
        """Returns whether the receipt is complete; creates a missing one."""
        try:
            found = await receipt.get_blob_properties()
        except ResourceNotFoundError:
            await self._create(receipt)
            return False
        return _INCOMPLETE.lower() not in {name.lower() for name in found.metadata or {}}

    async def _create(self, receipt: BlobClient) -> None:
        try:
            await self._upload(receipt)
        except ResourceNotFoundError:  # the container doesn't exist
            with suppress(ResourceExistsError):
                await self._hosts.create_container()
            await self._upload(receipt)

    async def _upload(self, receipt: BlobClient) -> None:
        """Creates the receipt unless another host did."""
        metadata = {_INCOMPLETE: _INCOMPLETE}
        with suppress(ResourceExistsError, ResourceModifiedError):
            await receipt.upload_blob(b"", metadata=metadata, match_condition=MatchConditions.IfMissing)

    async def _lease(self, receipt: BlobClient) -> BlobLeaseClient | None:
        try:
            return await receipt.acquire_lease(_LEASE)
        except HttpResponseError as error:
            if error.status_code in _UNAVAILABLE:
                return None
            raise
