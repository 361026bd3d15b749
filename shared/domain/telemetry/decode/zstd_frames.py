"""The end of a zstd frame, found from its headers alone (RFC 8878, 3.1), without decompressing anything.

So a frame with damaged or far too large content costs nothing to skip, and the next one is read.
"""

MAGIC = b"\x28\xb5\x2f\xfd"
_SKIPPABLE = b"\x2a\x4d\x18"  # after a byte from 0x50 to 0x5f
_HEADER = 4
_CONTENT_SIZE_BYTES = (0, 2, 4, 8)
_DICTIONARY_BYTES = (0, 1, 2, 4)
_RLE, _RESERVED = 1, 3


class FrameError(ValueError):
    """Bytes that begin like a frame but are none, as the bytes up to `place` show."""

    def __init__(self, reason: str, place: int) -> None:
        super().__init__(reason)
        self.place = place


def is_skippable(stored: bytes, at: int) -> bool:
    """Returns whether a frame without content begins there."""
    return stored[at + 1 : at + _HEADER] == _SKIPPABLE and 0x50 <= stored[at] <= 0x5F  # noqa: PLR2004


def frame_end(stored: bytes, at: int, most_blocks: int) -> int | None:
    """Returns the end of the frame at a position; None where its end hasn't been received. Raises FrameError.

    A frame of more than `most_blocks` blocks is an error, as it would take long to skip.
    """
    if is_skippable(stored, at):
        size = stored[at + _HEADER : at + 2 * _HEADER]
        end = at + 2 * _HEADER + int.from_bytes(size, "little")
        return end if len(size) == _HEADER and end <= len(stored) else None
    if at + _HEADER >= len(stored):
        return None
    descriptor = stored[at + _HEADER]
    if descriptor & 0b1000:
        raise FrameError("a reserved bit of the frame's header is set", at + _HEADER)
    is_single = descriptor >> 5 & 1
    content = max(_CONTENT_SIZE_BYTES[descriptor >> 6], is_single)
    begin = at + _HEADER + 1 + (not is_single) + _DICTIONARY_BYTES[descriptor & 3] + content
    checksum = 4 * (descriptor >> 2 & 1)
    return _behind_blocks(stored, begin, checksum, most_blocks)


def _behind_blocks(stored: bytes, begin: int, checksum: int, most_blocks: int) -> int | None:
    for _ in range(most_blocks):
        header = stored[begin : begin + 3]
        if len(header) < 3:  # noqa: PLR2004
            return None
        word = int.from_bytes(header, "little")
        kind, size = word >> 1 & 3, word >> 3
        if kind == _RESERVED or size > 1 << 17:
            raise FrameError("a block of the frame is of no known kind or size", begin)
        begin += 3 + (1 if kind == _RLE else size)
        if word & 1:
            end = begin + checksum
            return end if end <= len(stored) else None
    raise FrameError(f"the frame has more than {most_blocks:,} blocks", begin)
