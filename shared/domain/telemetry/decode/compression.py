"""Bounded decompression of an append blob's units: one zstd frame, one gzip member or one zlib stream each.

zstd isn't part of Python 3.13; its package is loaded on first use, as only node telemetry needs it.
"""

import zlib
from enum import StrEnum

from shared.domain.telemetry.records.bounds import FREE_DECODED, MAX_DECODED, MAX_RATIO, MAX_STORED, MAX_WINDOW_LOG

_STEP = 1 << 9  # bytes of the first step; each following step is twice as long
_HEADER, _EXTRA, _FILE_NAME, _COMMENT = 10, 4, 8, 16  # bytes, and bits, of a gzip member's header
_MAX_NAME_LENGTH = 64 << 10
_WRAPPERS = {"gzip": 31, "zlib": 15}  # zlib's `wbits`


class Form(StrEnum):
    """The storage form of a blob's bytes; OTLP is a message of it with its length before it."""

    ZSTD = "zstd"
    GZIP = "gzip"
    ZLIB = "zlib"
    OTLP = "OTLP"
    TEXT = "text"


class UnitError(ValueError):
    """A unit that can't be decompressed, or is rejected.

    `position` counts the bytes of text before the error, `looked` the bytes read or decoded, whichever are more.
    """

    def __init__(self, reason: str, position: int, looked: int = 0) -> None:
        super().__init__(reason)
        self.reason, self.position, self.looked = reason, position, max(position, looked)


def decompressed_frame(frame: bytes) -> bytes:
    """Returns the text of one complete zstd frame. Raises UnitError."""
    import zstandard  # noqa: PLC0415  # see the module's docstring

    decoder = zstandard.ZstdDecompressor(max_window_size=1 << MAX_WINDOW_LOG)
    most = _most_decoded(len(frame))
    parts, size, step = [], 0, FREE_DECODED  # a step's memory is allocated beforehand, so the first is small
    with decoder.stream_reader(frame) as reader:
        while True:
            try:
                parts.append(reader.read(min(step, most + 1 - size)))
            except zstandard.ZstdError as error:
                raise UnitError("the frame is damaged, or asks for too much memory", 0, size) from error
            size += len(parts[-1])
            if size > most:
                raise UnitError(_too_large(most), most)
            if len(parts[-1]) < step:
                return b"".join(parts)
            step *= 2


def decompressed_stream(stored: bytes, at: int, form: Form) -> tuple[bytes, int] | None:
    """Returns the text of the gzip member or zlib stream at a position, and its end.

    None where the end hasn't been received. Raises UnitError.
    """
    if form is Form.GZIP:
        _check_names(stored, at)
    decoder = zlib.decompressobj(_WRAPPERS[form])
    parts, size, begin, step = [], 0, at, _STEP
    while begin < min(len(stored), at + MAX_STORED):
        given = stored[begin : min(begin + step, at + MAX_STORED)]
        begin += len(given)
        step *= 2
        while given and not decoder.eof:
            try:
                parts.append(decoder.decompress(given, MAX_DECODED + 1 - size))
            except zlib.error as error:
                raise UnitError(f"the {form} stream is damaged", size, begin - at) from error
            size += len(parts[-1])
            given = decoder.unconsumed_tail
            _check(size, MAX_STORED)
        if decoder.eof:
            end = begin - len(decoder.unused_data)
            _check(size, end - at)
            return b"".join(parts), end
    return None


def _check_names(stored: bytes, at: int) -> None:
    """Raises UnitError for an overlong file name or comment in a gzip member's header (RFC 1952)."""
    flags, place = stored[at + 3 : at + 4] or b"\0", at + _HEADER
    if flags[0] & _EXTRA:
        place += 2 + int.from_bytes(stored[place : place + 2], "little")
    for flag in (_FILE_NAME, _COMMENT):
        if flags[0] & flag:
            end = stored.find(b"\0", place, place + _MAX_NAME_LENGTH)
            if end < 0 and len(stored) - place >= _MAX_NAME_LENGTH:
                raise UnitError("the gzip stream is damaged", 0)
            if end < 0:
                return
            place = end + 1


def _check(size: int, stored: int) -> None:
    """Raises UnitError where the text is too large for the number of stored bytes."""
    most = _most_decoded(stored)
    if size > most:
        raise UnitError(_too_large(most), most)


def _most_decoded(stored: int) -> int:
    return min(MAX_DECODED, max(FREE_DECODED, MAX_RATIO * stored))


def _too_large(most: int) -> str:
    return f"the text is larger than the {most:,} bytes that a unit of its size may have"
