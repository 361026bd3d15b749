"""Compression of stored data: deflate for columns and states, zstd for rollups.

zstd isn't part of Python 3.13; its package is loaded on first use, as only node telemetry needs it.
"""

import threading
import zlib
from typing import Any

_RAW, _DEFLATED = b"r", b"z"
NOTHING = _RAW
"""The deflated form of no bytes."""
_BARE = -15  # zlib's window bits for a stream without header and checksum
_OF_THREAD = threading.local()


def deflated(raw: bytes) -> bytes:
    """Returns bytes after a letter for their form: deflated, or raw where that is no longer."""
    packed = zlib.compress(raw, 1, _BARE)
    return _DEFLATED + packed if len(packed) < len(raw) else _RAW + raw


def inflated(packed: bytes) -> bytes:
    """Returns the bytes given to `deflated`. Raises zlib.error or ValueError."""
    if packed[:1] == _RAW:
        return packed[1:]
    if packed[:1] != _DEFLATED:
        raise ValueError(f"{packed[:1]!r} is no way to pack bytes")
    inflating = zlib.decompressobj(_BARE)
    raw = inflating.decompress(packed[1:])
    if not inflating.eof or inflating.unused_data:
        raise ValueError("a stream is cut short, or something stands behind it")
    return raw


def compressor() -> Any:
    """Returns a compressor for stored data, for one thread: it packs as well as zlib in half the time."""
    import zstandard  # noqa: PLC0415  # see the module's docstring

    return zstandard.ZstdCompressor(level=1)


def decompressed(packed: bytes) -> bytes:
    """Decompresses the output of a compressor; only for our own data."""
    if not hasattr(_OF_THREAD, "decompressor"):
        import zstandard  # noqa: PLC0415  # see the module's docstring

        _OF_THREAD.decompressor = zstandard.ZstdDecompressor()
    return bytes(_OF_THREAD.decompressor.decompress(packed))
