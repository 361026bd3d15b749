"""An append blob as a writer has it: appends are cut anywhere, and what was cut off comes with the next one."""

import random

from azure.storage.blob.aio import BlobClient, ContainerClient

_CUT = 0.4  # share of appends that end within a unit


class Stream:
    """One life of a blob. Nothing is written twice: an append says where it has to begin, and none is repeated."""

    def __init__(self, container: ContainerClient, name: str, chance: random.Random) -> None:
        self._blob: BlobClient = container.get_blob_client(name)
        self._chance = chance
        self._held = b""
        self._written = 0

    @property
    def size(self) -> int:
        """Bytes, also of what is held back."""
        return self._written + len(self._held)

    async def create(self) -> None:
        """Makes the blob, over the one of that name where there is one."""
        await self._blob.create_append_blob()

    async def append(self, content: bytes) -> None:
        """Most of it now, at least; the rest by and by."""
        together = self._held + content
        is_cut = self._chance.random() < _CUT
        end = self._chance.randrange(len(together)) if is_cut else len(together)
        await self._write(together[:end])
        self._held = together[end:]

    async def close(self, *, left: bytes = b"", sealed: bool) -> None:
        """Writes what is held back, and `left` behind it."""
        await self._write(self._held + left)
        self._held = b""
        if sealed:
            await self._blob.seal_append_blob()

    async def _write(self, content: bytes) -> None:
        if content:
            await self._blob.append_block(content, appendpos_condition=self._written)
        self._written += len(content)

    async def delete(self) -> None:
        await self._blob.delete_blob()
