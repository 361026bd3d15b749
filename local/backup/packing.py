"""Packs lines into the blobs of a backup and unpacks them: gzip, with counts and hashes of the content."""

import gzip
import zlib
from collections.abc import Iterator
from hashlib import sha256

from azure.core.exceptions import ResourceNotFoundError
from azure.storage.blob.aio import ContainerClient

from local.backup.manifest import Segment
from local.backup.reading import Item
from local.backup.rows import added, as_text, hash_of
from local.dev.system.console import Failure

SEGMENT_BYTES = 8 * 1024 * 1024
"""Uncompressed bytes of lines per blob; a row has at most 1 MiB."""

_GZIP = 31  # zlib's value for the gzip format


class Packer:
    """Collects the lines of one blob."""

    def __init__(self) -> None:
        self._body = bytearray()
        self._zip = zlib.compressobj(1, wbits=_GZIP)
        self._rows = self._hash = self._size = 0
        self._last: Item | None = None

    @property
    def is_full(self) -> bool:
        return self._size >= SEGMENT_BYTES

    @property
    def is_empty(self) -> bool:
        return self._rows == 0

    def add(self, item: Item) -> None:
        self._body += self._zip.compress(item.line + b"\n")
        self._rows += 1
        self._hash = added(self._hash, hash_of(item.line))
        self._size += len(item.line) + 1
        self._last = item

    def packed(self, blob: str) -> tuple[bytes, Segment]:
        """Returns the blob's content and its entry in the manifest."""
        if self._last is None:
            raise ValueError("no line was added")
        body, last = bytes(self._body + self._zip.flush()), self._last
        digest, rows = sha256(body).hexdigest(), as_text(self._hash)
        return body, Segment(blob, self._rows, len(body), digest, rows, last.key, last.whole)


async def load_lines(container: ContainerClient, backup: str, segment: Segment) -> list[bytes]:
    """Returns the lines of a backup's blob. Raises Failure if they don't match the manifest."""
    damage = f"The blob {backup}/{segment.blob} isn't what the backup's manifest says: it was changed or damaged."
    try:
        body = await (await container.download_blob(f"{backup}/{segment.blob}")).readall()
    except ResourceNotFoundError as error:
        raise Failure(f"The blob {backup}/{segment.blob} is missing: the backup '{backup}' can't be used.") from error
    if sha256(body).hexdigest() != segment.sha256:
        raise Failure(damage)
    try:
        lines = gzip.decompress(body).splitlines()
    except (OSError, EOFError, zlib.error) as error:
        raise Failure(damage) from error
    if len(lines) != segment.rows or as_text(_hash_of(iter(lines))) != segment.hash:
        raise Failure(damage)
    return lines


def table_hash(segments: Iterator[Segment]) -> str:
    """Returns the hash of all rows of a table."""
    total = 0
    for segment in segments:
        total = added(total, int(segment.hash, 16))
    return as_text(total)


def _hash_of(lines: Iterator[bytes]) -> int:
    total = 0
    for line in lines:
        total = added(total, hash_of(line))
    return total
