"""Contents of files, which compute any range of their bytes."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from random import Random
from typing import Protocol

_BLOCK = 64 * 1024
_BYTE_ORDER_MARK = b"\xff\xfe"


class Content(Protocol):
    """The content of a file. `read` returns the bytes from `start` (inclusive) to `end` (exclusive) within `size`."""

    @property
    def size(self) -> int: ...

    def read(self, start: int, end: int) -> bytes: ...


@dataclass(frozen=True, slots=True)
class FixedContent:
    raw: bytes

    @property
    def size(self) -> int:
        return len(self.raw)

    def read(self, start: int, end: int) -> bytes:
        return self.raw[start:end]


EMPTY = FixedContent(b"")


@dataclass(frozen=True, slots=True)
class RandomContent:
    """Bytes that follow from a seed, block by block."""

    seed: str
    size: int

    def read(self, start: int, end: int) -> bytes:
        first, last = start // _BLOCK, -(-min(end, self.size) // _BLOCK)
        blocks = b"".join(Random(f"{self.seed}/{number}").randbytes(_BLOCK) for number in range(first, last))
        return blocks[start - first * _BLOCK : min(end, self.size) - first * _BLOCK]


@dataclass(frozen=True, slots=True)
class ContentRange:
    """The bytes of another content from `first` (inclusive) to `last` (exclusive)."""

    whole: Content
    first: int
    last: int

    @property
    def size(self) -> int:
        return self.last - self.first

    def read(self, start: int, end: int) -> bytes:
        return self.whole.read(self.first + start, min(self.first + end, self.last))


@dataclass(frozen=True, slots=True)
class Utf16Content:
    """ASCII text as UTF-16 (little-endian), with a byte order mark."""

    text: Content

    @property
    def size(self) -> int:
        return len(_BYTE_ORDER_MARK) + 2 * self.text.size

    def read(self, start: int, end: int) -> bytes:
        mark = len(_BYTE_ORDER_MARK)
        first, last = max(0, start - mark) // 2, (max(0, min(end, self.size) - mark) + 1) // 2
        encoded = self.text.read(first, last).decode("ascii").encode("utf-16-le")
        whole, begin = (_BYTE_ORDER_MARK + encoded, 0) if first == 0 else (encoded, mark + 2 * first)
        return whole[start - begin : end - begin]


@dataclass(frozen=True, slots=True)
class JoinedContent:
    parts: Sequence[Content]

    @property
    def size(self) -> int:
        return sum(part.size for part in self.parts)

    def read(self, start: int, end: int) -> bytes:
        ends = list(accumulate(part.size for part in self.parts))
        return b"".join(
            part.read(max(0, start - last + part.size), min(part.size, end - last + part.size))
            for part, last in zip(self.parts, ends, strict=True)
            if last > start and last - part.size < end
        )


def join(parts: Sequence[Content]) -> Content:
    """Returns one content of several."""
    if not parts:
        return EMPTY
    return parts[0] if len(parts) == 1 else JoinedContent(tuple(parts))
