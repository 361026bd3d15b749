"""Parts of files: which bytes are read so that no part shows what the whole file would hide, and which are shown.

A secret is recognised by what stands around it. So files are divided into cells of one size, and secrets are searched
in each cell with CONTEXT bytes around it. What is hidden follows from the file alone, wherever a part begins. A file
that still grows may end within a secret, or before the words that make it one, such as `echo … | docker login
--password-stdin`: its last line waits until it ends, of a longer one its last CONTEXT bytes.
"""

import re
from dataclasses import dataclass

from shared.domain.redaction.masking import masked

CELL = 128 * 1024
"""Bytes of a cell."""
CONTEXT = 32 * 1024
"""Bytes around a cell. A secret that is longer, or whose sign is farther away from its cell, isn't found."""
MAX_PART = 8 * 1024 * 1024
"""Bytes of one answer."""
_MAX_CONTROL, _MAX_INVALID = 0.02, 0.3  # shares of the bytes of a text
_FEW = 2  # bytes that are no text, in however short a text
_CUT = 6  # bytes of the signs at both ends of a part that may be cut
_CONTROL = bytes({*range(32), 127}.difference(b"\t\n\r\f\b\x1b"))  # those of progress bars and colours are text
_WIDE_SIGNS = re.compile(rb"\0?(?:[\t\n\r\f\b\x1b -~\xa0-\xff]\0){4,}")


@dataclass(frozen=True, slots=True)
class Part:
    """The bytes of a file from `start` up to `end`."""

    start: int
    end: int

    @property
    def length(self) -> int:
        return self.end - self.start

    def with_context(self, size: int) -> "Part":
        """Returns what is read for it of a file: its cells, and the context around them."""
        if not self.length:
            return self
        first, last = self.start // CELL * CELL, -(-self.end // CELL) * CELL
        return Part(max(0, first - CONTEXT), min(size, last + CONTEXT))


def part_from(offset: int, length: int, size: int) -> Part:
    """Returns the part from an offset, with at most MAX_PART bytes; empty where the file ends before."""
    start = min(offset, size)
    return Part(start, min(size, start + min(length, MAX_PART)))


def last_part(length: int, size: int) -> Part:
    """Returns the last bytes of a file, at most MAX_PART."""
    return Part(size - min(length, MAX_PART, size), size)


def encoding_of(content: bytes) -> str | None:
    """Returns the encoding of a text, by all of its bytes; None where it is none.

    UTF-16 is recognised by the zero bytes of its signs from the Latin part; lines of it in a text of another encoding
    are text, too. Other single bytes, as of Latin-1, count as UTF-8 that has mistakes.
    """
    half, first, second = len(content) // 2, content[::2].count(0), content[1::2].count(0)
    for many, few, encoding in ((second, first, "utf-16-le"), (first, second, "utf-16-be")):
        if half and many > half * 2 // 5 and few <= half * _MAX_CONTROL:
            return encoding
    rest = _WIDE_SIGNS.sub(b"", content) if first or second else content
    control = len(rest) - len(rest.translate(None, _CONTROL))
    invalid = len(rest) - len(rest.decode("utf-8", "ignore").encode())
    is_text = control <= max(len(rest) * _MAX_CONTROL, _FEW) and invalid <= max(len(rest) * _MAX_INVALID, _CUT)
    return "utf-8" if is_text else None


def shown_part(content: bytes, read: Part, wanted: Part, *, grows: bool) -> bytes:
    """Returns the wanted part of what was read, with its secrets masked, byte for byte at its place.

    `content` has the bytes of `read`, or fewer where the file was cut meanwhile. With `grows` the last line of the file
    isn't shown before it ends.
    """
    end = min(wanted.end, read.start + (_settled(content) if grows else len(content)))
    cells = range(wanted.start // CELL * CELL, end, CELL)
    shown = b"".join(_masked_cell(content, cell, read) for cell in cells)
    return shown[wanted.start % CELL : max(0, end - (cells.start if cells else end))]


def _settled(content: bytes) -> int:
    """Returns how much of a growing file's content later bytes can't change: all but its last line, or the end of it.

    Content that goes on CONTEXT bytes behind a part holds back none of that part.
    """
    line = max(content.rfind(b"\n"), content.rfind(b"\r")) + 1
    return max(line, len(content) - CONTEXT)


def _masked_cell(content: bytes, cell: int, read: Part) -> bytes:
    """Returns a cell of a file; its context begins with a line where one does."""
    at, first = cell - read.start, max(0, cell - CONTEXT - read.start)
    if cell > CONTEXT:
        first = content.find(b"\n", first, at) + 1 or first
    return masked(content[first : at + CELL + CONTEXT])[at - first : at - first + CELL]
