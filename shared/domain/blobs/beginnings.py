"""Checksums of a blob's beginning, which tell whether one that was uploaded anew goes on where reading stopped.

A tool that uploads a file once more, with more in it, writes a new blob under the same name. So what was read is
remembered by its checksum. CRC-32 can be continued from one read to the next, which no stronger hash of the standard
library can; nobody who forges one hides anything but their own data. Checksums of the first 1, 2, 4, … KiB stand beside
that of all, so that a blob that became shorter can be compared, and of a large one no more than the first `MOST`.
"""

import struct
from dataclasses import dataclass
from zlib import crc32

LEAST, MOST = 1 << 10, 1 << 25
"""Bytes of the first and the last mark: so many are read again at most."""


@dataclass(frozen=True, slots=True)
class Beginning:
    """The first `size` bytes of a blob: their checksum, and those of as many KiB as are powers of two (`marks`)."""

    size: int = 0
    checksum: int = 0
    marks: tuple[int, ...] = ()

    def extended(self, more: bytes) -> "Beginning":
        """With the bytes that follow."""
        view, size, checksum, marks = memoryview(more), self.size, self.checksum, list(self.marks)
        while (mark := LEAST << len(marks)) <= min(MOST, self.size + len(more)):
            checksum = crc32(view[size - self.size : mark - self.size], checksum)
            size = mark
            marks.append(checksum)
        return Beginning(self.size + len(more), crc32(view[size - self.size :], checksum), tuple(marks))

    def within(self, size: int) -> "Beginning | None":
        """The longest part of it, of `size` and `MOST` bytes at most, whose checksum is known; None where none is."""
        if self.size <= min(size, MOST):
            return self
        count = min(len(self.marks), max(size // LEAST, 0).bit_length())
        return Beginning(LEAST << count - 1, self.marks[count - 1], self.marks[:count]) if count else None

    def pack(self) -> bytes:
        return struct.pack(f">{len(self.marks) + 1}I", self.checksum, *self.marks)

    @classmethod
    def unpack(cls, size: int, packed: bytes) -> "Beginning":
        """As it was packed of so many bytes."""
        checksum, *marks = struct.unpack(f">{len(packed) // 4}I", packed)
        return cls(size, checksum, tuple(marks))
