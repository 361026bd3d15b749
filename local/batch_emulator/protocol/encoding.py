"""Bodies on the wire: their size limit, and gzip in both directions.

Responses are compressed for clients that request it, fast rather than small, and only where it saves time. The limit is
that of "Add Task Collection" (1 MiB, documented); it applies to every request, compressed or not.
"""

import zlib
from collections.abc import Mapping

from aiohttp import StreamReader

from local.batch_emulator.core.errors import BatchError, invalid_body, invalid_header

MAX_BODY_BYTES = 1024 * 1024
_MIN_COMPRESSED = 1024
_GZIP = 16 + zlib.MAX_WBITS
_FAST = 1


async def read_body(content: StreamReader) -> bytes:
    """Returns the body as sent; of a body that is too large, enough to detect it."""
    parts: list[bytes] = []
    size = 0
    while size <= MAX_BODY_BYTES and (part := await content.readany()):
        parts.append(part)
        size += len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def decompress_body(raw: bytes, headers: Mapping[str, str]) -> bytes:
    """Returns the body decoded by Content-Encoding. Raises BatchError: 413, or 400 if it is unreadable."""
    coding = headers.get("content-encoding", "").strip().lower()
    if len(raw) > MAX_BODY_BYTES:
        raise _too_large()
    if coding in ("", "identity") or not raw:
        return raw
    if coding not in ("gzip", "x-gzip"):
        raise invalid_header("Content-Encoding", headers["content-encoding"])
    return _gunzip(raw)


def compress_body(body: bytes, accepted_encodings: str) -> bytes | None:
    """Returns the compressed body; None if the client doesn't request it or it is too small."""
    if len(body) < _MIN_COMPRESSED or not _accepts_gzip(accepted_encodings):
        return None
    compressor = zlib.compressobj(_FAST, zlib.DEFLATED, _GZIP)
    return compressor.compress(body) + compressor.flush()


def _gunzip(raw: bytes) -> bytes:
    decompressed = b""
    while raw:
        member = zlib.decompressobj(_GZIP)
        try:
            decompressed += member.decompress(raw, MAX_BODY_BYTES + 1 - len(decompressed))
        except zlib.error as error:
            raise invalid_body(f"it is not gzip: {error}") from None
        if len(decompressed) > MAX_BODY_BYTES:
            raise _too_large()
        if not member.eof:
            raise invalid_body("its gzip ends too early")
        raw = member.unused_data
    return decompressed


def _accepts_gzip(accepted_encodings: str) -> bool:
    """Returns whether Accept-Encoding has gzip with a quality above 0."""
    for each in accepted_encodings.lower().split(","):
        coding, _, quality = each.partition(";")
        if coding.strip() in ("gzip", "x-gzip"):
            return quality.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False


def _too_large() -> BatchError:
    return BatchError(413, "RequestBodyTooLarge", f"The size of the request's body exceeds {MAX_BODY_BYTES} bytes.")
