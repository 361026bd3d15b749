"""Receipts for blobs that functions were told of, in `azure-webjobs-hosts` and laid out as Azure's host does.

A receipt stands for a function, a blob and its ETag: with it the function was told of that very content, for good,
whoever restarts. One that was begun and not completed, as its host died, has the function told again.
"""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from http import HTTPStatus

from azure.core import MatchConditions
from azure.core.exceptions import HttpResponseError, ResourceExistsError, ResourceModifiedError, ResourceNotFoundError
from azure.storage.blob.aio import BlobClient, BlobLeaseClient, ContainerClient

from local.functions_host.app.functions import Function
from local.functions_host.blobs.etags import quoted

_INCOMPLETE = "Incomplete"  # metadata of a receipt, which loses it once the function was told
_LEASE = 30  # seconds
_TAKEN = (HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT, HTTPStatus.PRECONDITION_FAILED)


class Receipts:
    def __init__(self, hosts: ContainerClient, host_id: str) -> None:
        self._hosts, self._host_id = hosts, host_id

    async def once(self, function: Function, path: str, etag: str, tell: Callable[[], Awaitable[None]]) -> bool:
        """Calls `tell` unless that was done for a blob `container/name` as of an ETag, with its quotes or without.

        False where another host is about to: to be tried again. Raises AzureError.
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
                await tell()
                await receipt.set_blob_metadata({}, lease=lease)
        finally:
            await lease.release()
        return True

    async def _is_complete(self, receipt: BlobClient) -> bool:
        """Makes the receipt where there is none."""
        try:
            found = await receipt.get_blob_properties()
        except ResourceNotFoundError:
            await self._create(receipt)
            return False
        return _INCOMPLETE.lower() not in {name.lower() for name in found.metadata or {}}

    async def _create(self, receipt: BlobClient) -> None:
        try:
            await self._upload(receipt)
        except ResourceNotFoundError:  # the container isn't there yet
            with suppress(ResourceExistsError):
                await self._hosts.create_container()
            await self._upload(receipt)

    async def _upload(self, receipt: BlobClient) -> None:
        """Unless another host does."""
        metadata = {_INCOMPLETE: _INCOMPLETE}
        with suppress(ResourceExistsError, ResourceModifiedError):
            await receipt.upload_blob(b"", metadata=metadata, match_condition=MatchConditions.IfMissing)

    async def _lease(self, receipt: BlobClient) -> BlobLeaseClient | None:
        try:
            return await receipt.acquire_lease(_LEASE)
        except HttpResponseError as error:
            if error.status_code in _TAKEN:
                return None
            raise
