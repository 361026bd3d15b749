"""Append blobs with one writer each, whose appends are conditional on their position.

An append whose response was lost isn't repeated: the next append fails and reads the existing data. The caller compares
that data byte by byte, as its length alone doesn't identify the append.
"""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

from azure.core import MatchConditions
from azure.core.exceptions import HttpResponseError
from azure.storage.blob.aio import BlobClient

EXISTS_STATUSES = (409, 412)
CLOSED_CODES = frozenset(("BlockCountExceedsLimit", "BlobIsSealed"))
_WRONG_POSITION, _NOTHING_AT_POSITION = 412, 416
_CHANGED = (404, _WRONG_POSITION)


@dataclass(slots=True)
class AppendBlob:
    """A blob, and its size as far as its writer knows."""

    client: BlobClient
    size: int

    @classmethod
    async def open(cls, client: BlobClient) -> "AppendBlob":
        """Opens a blob, creating it if missing. Raises AzureError."""
        with ignore_statuses(EXISTS_STATUSES):
            await client.create_append_blob(match_condition=MatchConditions.IfMissing)
        return cls(client, (await client.get_blob_properties()).size)

    async def append(self, block: bytes) -> bytes:
        """Appends a block; or returns the data already at its position, and then appends nothing.

        Raises AzureError; the result of a failed append is unknown, so the position stays until the next try.
        """
        try:
            await self.client.append_block(block, appendpos_condition=self.size)
        except HttpResponseError as error:
            if error.status_code != _WRONG_POSITION and code_of(error) not in CLOSED_CODES:
                raise
            existing = await self._read_existing()
            if not existing:
                raise
            self.size += len(existing)
            return existing
        self.size += len(block)
        return b""

    async def _read_existing(self) -> bytes:
        try:
            return await (await self.client.download_blob(offset=self.size)).readall()
        except HttpResponseError as error:
            if error.status_code != _NOTHING_AT_POSITION:
                raise
            return b""


def is_changed(error: HttpResponseError) -> bool:
    """Returns whether an append failed because the blob changed, so that it must be opened again."""
    return error.status_code in _CHANGED


def code_of(error: HttpResponseError) -> str | None:
    """Returns storage's error code."""
    return getattr(error, "error_code", None)


@contextlib.contextmanager
def ignore_statuses(statuses: tuple[int, ...]) -> Iterator[None]:
    """Ignores storage errors with one of these statuses."""
    try:
        yield
    except HttpResponseError as error:
        if error.status_code not in statuses:
            raise
