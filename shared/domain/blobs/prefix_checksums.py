"""Checksums of a blob's beginning, which show whether a re-uploaded blob continues where reading stopped.

A tool that uploads a longer version of a file writes a new blob under the same name. So a checksum of the bytes read is
stored. CRC-32 can be continued from one read to the next, unlike any stronger hash in the standard library; a forged
checksum only hides the forger's own data. Checksums of the first 1, 2, 4, … KiB allow a comparison with a blob that
became shorter, and for a large one, a comparison of only the first `MAX` bytes.
"""

import struct
from dataclasses import dataclass
from zlib import crc32

MIN, MAX = 1 << 10, 1 << 25
"""Bytes of the first and the last mark; at most `MAX` bytes are read again."""


@dataclass(frozen=True, slots=True)
class PrefixChecksum:
    """The first `size` bytes of a blob: their checksum, and those of each power of two of KiB (`marks`)."""

    size: int = 0
    checksum: int = 0
    marks: tuple[int, ...] = ()

    def extended(self, more: bytes) -> "PrefixChecksum":
        """Returns the beginning extended by the bytes that follow."""
        view, size, checksum, marks = memoryview(more), self.size, self.checksum, list(self.marks)
        while (mark := MIN << len(marks)) <= min(MAX, self.size + len(more)):
            checksum = crc32(view[size - self.size : mark - self.size], checksum)
            size = mark
            marks.append(checksum)
        return PrefixChecksum(self.size + len(more), crc32(view[size - self.size :], checksum), tuple(marks))

    def within(self, size: int) -> "PrefixChecksum | None":
        """Returns the longest part with a known checksum, of at most `size` and `MAX` bytes; None without one."""
        if self.size <= min(size, MAX):
            return self
        count = min(len(self.marks), max(size // MIN, 0).bit_length())
        return PrefixChecksum(MIN << count - 1, self.marks[count - 1], self.marks[:count]) if count else None

    def pack(self) -> bytes:
        return struct.pack(f">{len(self.marks) + 1}I", self.checksum, *self.marks)

    @classmethod
    def unpack(cls, size: int, packed: bytes) -> "PrefixChecksum":
        """Returns the packed beginning of `size` bytes."""
        checksum, *marks = struct.unpack(f">{len(packed) // 4}I", packed)
        return cls(size, checksum, tuple(marks))
