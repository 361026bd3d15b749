"""An append blob as its writer sees it: appends are cut anywhere, and the cut rest comes with the next append."""

import random

from azure.storage.blob.aio import BlobClient, ContainerClient

_CUT = 0.4  # share of appends that end within a unit


class Stream:
    """One life of a blob. Appends are conditional on their position and never repeated, so nothing is written twice."""

    def __init__(self, container: ContainerClient, name: str, chance: random.Random) -> None:
        self._blob: BlobClient = container.get_blob_client(name)
        self._chance = chance
        self._held = b""
        self._written = 0

    @property
    def size(self) -> int:
        """The bytes written and held back."""
        return self._written + len(self._held)

    async def create(self) -> None:
        """Creates the blob, replacing an existing one."""
        await self._blob.create_append_blob()

    async def append(self, content: bytes) -> None:
        """Writes the content, or a part of it; the rest comes with the next append."""
        together = self._held + content
        is_cut = self._chance.random() < _CUT
        end = self._chance.randrange(len(together)) if is_cut else len(together)
        await self._write(together[:end])
        self._held = together[end:]

    async def close(self, *, left: bytes = b"", sealed: bool) -> None:
        """Writes the held-back bytes, then `left`."""
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
