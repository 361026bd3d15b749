"""Append blobs of one writer each, whose appends say where they must begin.

So one that took effect unheard, or before it failed, isn't repeated: the next one isn't let in and finds it there. What
is there is given to be compared, byte by byte, as its length alone doesn't tell which append it was.
"""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

from azure.core import MatchConditions
from azure.core.exceptions import HttpResponseError
from azure.storage.blob.aio import BlobClient

EXISTS = (409, 412)
OVER = frozenset(("BlockCountExceedsLimit", "BlobIsSealed"))
_OTHER_PLACE, _NOTHING_THERE = 412, 416
_CHANGED = (404, _OTHER_PLACE)


@dataclass(slots=True)
class AppendBlob:
    """A blob, and how many bytes are in it as far as its writer knows."""

    client: BlobClient
    size: int

    @classmethod
    async def open(cls, client: BlobClient) -> "AppendBlob":
        """A blob as it is, made where it isn't there. Raises AzureError."""
        with ignored(EXISTS):
            await client.create_append_blob(match_condition=MatchConditions.IfMissing)
        return cls(client, (await client.get_blob_properties()).size)

    async def append(self, block: bytes) -> bytes:
        """Appends a block, or gives what stands in its place already, and then appends nothing.

        Raises AzureError; of what failed nobody knows what came of it, so the place stays until it is tried again.
        """
        try:
            await self.client.append_block(block, appendpos_condition=self.size)
        except HttpResponseError as error:
            if error.status_code != _OTHER_PLACE and code_of(error) not in OVER:
                raise
            there = await self._rest()
            if not there:
                raise
            self.size += len(there)
            return there
        self.size += len(block)
        return b""

    async def _rest(self) -> bytes:
        try:
            return await (await self.client.download_blob(offset=self.size)).readall()
        except HttpResponseError as error:
            if error.status_code != _NOTHING_THERE:
                raise
            return b""


def is_changed(error: HttpResponseError) -> bool:
    """Whether an append failed as the blob isn't any more what its writer knows: it is to be opened anew."""
    return error.status_code in _CHANGED


def code_of(error: HttpResponseError) -> str | None:
    """Storage's own word for what went wrong."""
    return getattr(error, "error_code", None)


@contextlib.contextmanager
def ignored(statuses: tuple[int, ...]) -> Iterator[None]:
    """Passes over answers of storage with one of these statuses."""
    try:
        yield
    except HttpResponseError as error:
        if error.status_code not in statuses:
            raise
