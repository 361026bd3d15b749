"""The append blobs of nodes' telemetry: `vm_perf_metrics.<N>.zst` in a folder of each node.

Writing continues in the blob with the highest N; the next one follows if it is full, sealed or deleted.
"""

from dataclasses import dataclass

from azure.core.exceptions import HttpResponseError
from azure.storage.blob.aio import ContainerClient

from local.batch_emulator.exports.append_blobs import (
    CLOSED_CODES,
    EXISTS_STATUSES,
    AppendBlob,
    code_of,
    ignore_statuses,
    is_changed,
)

_NAME = "vm_perf_metrics"
_NEXT_BLOB_CODES = CLOSED_CODES | {"BlobNotFound"}


@dataclass(frozen=True, slots=True)
class _OpenBlob:
    number: int
    blob: AppendBlob


class TelemetryBlobs:
    """The blobs; each folder may have only one writer at a time."""

    def __init__(self, container: ContainerClient) -> None:
        self._container = container
        self._open_blobs: dict[str, _OpenBlob] = {}

    async def append(self, folder: str, frame: bytes, *, begins_blob: bool = False) -> str:
        """Appends a frame once, to the next blob if it `begins_blob`; returns its blob's name. Raises AzureError."""
        current = self._open_blobs.get(folder) or await self._open(folder, await self._last_number(folder))
        if begins_blob:
            current = await self._open(folder, current.number + 1)
        while True:
            try:
                existing = await current.blob.append(frame)
            except HttpResponseError as error:
                if code_of(error) in _NEXT_BLOB_CODES:
                    current = await self._open(folder, current.number + 1)
                    continue
                if is_changed(error):
                    del self._open_blobs[folder]
                raise
            if not existing or existing.startswith(frame):
                return str(current.blob.client.blob_name)

    async def _last_number(self, folder: str) -> int:
        with ignore_statuses(EXISTS_STATUSES):
            await self._container.create_container()
        names = [name async for name in self._container.list_blob_names(name_starts_with=f"{folder}/{_NAME}.")]
        numbers = [name.removeprefix(f"{folder}/{_NAME}.").partition(".")[0] for name in names]
        return max((int(number) for number in numbers if number.isdecimal()), default=0)

    async def _open(self, folder: str, number: int) -> _OpenBlob:
        client = self._container.get_blob_client(f"{folder}/{_NAME}.{number}.zst")
        current = self._open_blobs[folder] = _OpenBlob(number, await AppendBlob.open(client))
        return current
