"""The append blobs that nodes write telemetry to: `vm_perf_metrics.<N>.zst` in a folder of each node.

Writing goes on in the blob with the highest N that is there; the next one follows where it is full, sealed or gone.
An append says where it must begin, so that one that took effect unheard, or before it failed, isn't repeated.
"""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

from azure.core import MatchConditions
from azure.core.exceptions import HttpResponseError
from azure.storage.blob.aio import BlobClient, ContainerClient

_NAME = "vm_perf_metrics"
_EXISTS = (409, 412)
_OTHER_PLACE = 412
_FAILED = 500
_OVER = frozenset(("BlockCountExceedsLimit", "BlobIsSealed", "BlobNotFound"))


@dataclass(slots=True)
class _Place:
    """A blob, and how many bytes are in it."""

    number: int
    blob: BlobClient
    size: int = 0


class TelemetryBlobs:
    """Folders are written to by one caller at a time each."""

    def __init__(self, container: ContainerClient) -> None:
        self._container = container
        self._places: dict[str, _Place] = {}

    async def append(self, folder: str, frame: bytes) -> str:
        """Appends a frame once, and gives the name of the blob that has it. Raises AzureError."""
        place = self._places.get(folder) or await self._open(folder, await self._highest(folder))
        while True:
            try:
                await place.blob.append_block(frame, appendpos_condition=place.size)
            except HttpResponseError as error:
                if getattr(error, "error_code", None) in _OVER:
                    place = await self._open(folder, place.number + 1)
                    continue
                if error.status_code != _OTHER_PLACE:
                    if (error.status_code or _FAILED) < _FAILED:  # refused; of what failed nobody knows what came of it
                        del self._places[folder]
                    raise
                before, place.size = place.size, await _size(place.blob)
                if place.size != before + len(frame):
                    continue
                return str(place.blob.blob_name)
            place.size += len(frame)
            return str(place.blob.blob_name)

    async def _highest(self, folder: str) -> int:
        with _ignored(_EXISTS):
            await self._container.create_container()
        names = [name async for name in self._container.list_blob_names(name_starts_with=f"{folder}/{_NAME}.")]
        numbers = [name.removeprefix(f"{folder}/{_NAME}.").partition(".")[0] for name in names]
        return max((int(number) for number in numbers if number.isdecimal()), default=0)

    async def _open(self, folder: str, number: int) -> _Place:
        blob = self._container.get_blob_client(f"{folder}/{_NAME}.{number}.zst")
        with _ignored(_EXISTS):
            await blob.create_append_blob(match_condition=MatchConditions.IfMissing)
        place = self._places[folder] = _Place(number, blob, await _size(blob))
        return place


async def _size(blob: BlobClient) -> int:
    found: int = (await blob.get_blob_properties()).size
    return found


@contextlib.contextmanager
def _ignored(statuses: tuple[int, ...]) -> Iterator[None]:
    try:
        yield
    except HttpResponseError as error:
        if error.status_code not in statuses:
            raise
