"""The append blobs of nodes' telemetry: `vm_perf_metrics.<N>.zst` in a folder of each node.

Writing continues in the blob with the highest N; the next one follows if it is full, sealed or deleted.
"""

from dataclasses import dataclass

from azure.core.exceptions import HttpResponseError
from azure.storage.blob.aio import ContainerClient

from local.batch_emulator.exports.append_blobs import EXISTS, OVER, AppendBlob, code_of, ignored, is_changed

_NAME = "vm_perf_metrics"
_NEXT = OVER | {"BlobNotFound"}


@dataclass(frozen=True, slots=True)
class _Place:
    number: int
    blob: AppendBlob


class TelemetryBlobs:
    """The blobs; each folder may have only one writer at a time."""

    def __init__(self, container: ContainerClient) -> None:
        self._container = container
        self._places: dict[str, _Place] = {}

    async def append(self, folder: str, frame: bytes) -> str:
        """Appends a frame once, and returns the name of its blob. Raises AzureError."""
        place = self._places.get(folder) or await self._open(folder, await self._highest(folder))
        while True:
            try:
                existing = await place.blob.append(frame)
            except HttpResponseError as error:
                if code_of(error) in _NEXT:
                    place = await self._open(folder, place.number + 1)
                    continue
                if is_changed(error):
                    del self._places[folder]
                raise
            if not existing or existing.startswith(frame):
                return str(place.blob.client.blob_name)

    async def _highest(self, folder: str) -> int:
        with ignored(EXISTS):
            await self._container.create_container()
        names = [name async for name in self._container.list_blob_names(name_starts_with=f"{folder}/{_NAME}.")]
        numbers = [name.removeprefix(f"{folder}/{_NAME}.").partition(".")[0] for name in names]
        return max((int(number) for number in numbers if number.isdecimal()), default=0)

    async def _open(self, folder: str, number: int) -> _Place:
        client = self._container.get_blob_client(f"{folder}/{_NAME}.{number}.zst")
        place = self._places[folder] = _Place(number, await AppendBlob.open(client))
        return place
