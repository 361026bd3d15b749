"""A lease on a blob, by which one of several hosts runs a timer.

Azure's lease lasts 60 seconds. Here it is 15, the shortest that storage grants, so that a killed host's timers resume
sooner. It always uses real time, independent of the timers' clock.
"""

import asyncio
import logging
import time
from contextlib import suppress
from http import HTTPStatus

from azure.core.exceptions import AzureError, HttpResponseError, ResourceExistsError, ResourceNotFoundError
from azure.storage.blob.aio import BlobLeaseClient, ContainerClient

_LOG = logging.getLogger("host.leases")
_SECONDS = 15
_RENEW = 3.0
_RETRY = 1.0
_CLIENT_ERRORS = range(400, 500)


class SingletonLease:
    def __init__(self, container: ContainerClient, blob: str, owner: str) -> None:
        """`owner` names the purpose of the lease in the log."""
        self._container, self._blob, self._owner = container, blob, owner
        self._lease: BlobLeaseClient | None = None
        self._waiting_reason = ""

    @property
    def is_held(self) -> bool:
        return self._lease is not None

    async def acquire(self) -> None:
        """Retries until it has the lease, even if another host holds it or storage fails; logs each reason once."""
        while self._lease is None:
            try:
                self._lease = await self._try()
            except HttpResponseError as error:
                other = error.status_code == HTTPStatus.CONFLICT
                self._log_waiting("another host runs it" if other else f"storage refused: {error.reason}")
            except AzureError as error:
                self._log_waiting(f"storage doesn't answer: {error}")
            if self._lease is None:
                await asyncio.sleep(_RETRY)
        if self._waiting_reason:
            _LOG.info("%s runs here now", self._owner)
        self._waiting_reason = ""

    async def keep(self) -> None:
        """Renews the lease; returns when it is lost: acquired by another host, broken, or not renewed in time."""
        expires_at = time.monotonic() + _SECONDS
        while self._lease and time.monotonic() + _RENEW < expires_at:
            await asyncio.sleep(_RENEW)
            requested_at = time.monotonic()
            try:
                await self._lease.renew()
            except HttpResponseError as error:
                if error.status_code in _CLIENT_ERRORS:
                    break
            except AzureError:
                continue
            else:
                expires_at = requested_at + _SECONDS
        self._lease = None
        _LOG.warning("%s lost its lease and waits to get it back", self._owner)

    async def release(self) -> None:
        lease, self._lease = self._lease, None
        if lease is None:
            return
        try:
            await lease.release()
        except AzureError as error:
            _LOG.info("the lease of %s wasn't released and will run out: %s", self._owner, error)

    async def _try(self) -> BlobLeaseClient:
        blob = self._container.get_blob_client(self._blob)
        try:
            return await blob.acquire_lease(_SECONDS)
        except ResourceNotFoundError:
            await self._create()
            return await blob.acquire_lease(_SECONDS)

    async def _create(self) -> None:
        with suppress(ResourceExistsError):
            await self._container.create_container()
        with suppress(ResourceExistsError):
            await self._container.get_blob_client(self._blob).upload_blob(b"", overwrite=False)

    def _log_waiting(self, reason: str) -> None:
        if reason != self._waiting_reason:
            _LOG.info("%s waits: %s", self._owner, reason)
        self._waiting_reason = reason
