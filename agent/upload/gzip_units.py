"""Units: gzip members of whole lines, the smallest thing that is stored or dropped.

A member's header holds the unit's name (`<session>.<number>`), so no two units are equal, and the end of a blob names
the last unit that it holds. Sizes stay within the limits of the app's decoder.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from typing import NamedTuple

from agent.records.record import ENDED_ATTEMPT

MAX_STORED = 4 << 20
"""Bytes of a unit: the former limit of an append block."""
MAX_TEXT = 8 << 20
"""Bytes of a unit's text."""
MAX_RATIO, FREE_TEXT = 250, 64 << 10  # text to stored bytes, beyond a text that may have any ratio
MAX_ENDED_ATTEMPTS = 12
"""Attempts of tasks that end by a unit's lines: the app stores a unit in one transaction, with rows for each task."""
_LEVEL = 6
_HEADER = b"\x1f\x8b\x08\x08\0\0\0\0\0\xff"  # deflate, with a name, without a time, from any system
_WHOLE = 0xFFFF_FFFF
_GZIP = zlib.MAX_WBITS | 16
_END = f"\n{ENDED_ATTEMPT},".encode()


class Unit(NamedTuple):
    """A unit: `number` is unique in its session, `records` counts its lines. One without content can't be stored."""

    number: int
    records: int
    content: bytes


def gzip_member(text: bytes, name: str) -> bytes:
    """Returns a gzip member; the same text and name give the same bytes."""
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    packed = packer.compress(text) + packer.flush()
    trailer = (zlib.crc32(text) & _WHOLE).to_bytes(4, "little") + (len(text) & _WHOLE).to_bytes(4, "little")
    return b"".join((_HEADER, name.encode(), b"\0", packed, trailer))


def units_of(text: bytes, session: str, first: int) -> Iterator[Unit]:
    """Yields the units of whole lines, in order and numbered from `first`.

    A text that is too large, or by which too many attempts of tasks end, is halved at a line break. A line that is too
    large alone is a unit without content, whose number the next unit has.
    """
    waiting, number = [text] if text else [], first
    while waiting:
        lines = waiting.pop()
        is_small = len(lines) <= MAX_TEXT and _ended_by(lines) <= MAX_ENDED_ATTEMPTS
        content = gzip_member(lines, f"{session}.{number}") if is_small else b""
        if not _fits(lines, content):
            cut = _middle(lines)
            if cut:
                waiting += [lines[cut:], lines[:cut]]
                continue
            content = b""
        yield Unit(number, max(lines.count(b"\n"), 1), content)
        number += bool(content)


def last_number(stored: bytes, session: str) -> int | None:
    """Returns the number of the last unit of a session that begins within stored bytes, None where there is none."""
    found = re.findall(re.escape(_HEADER + session.encode()) + rb"\.(\d{1,18})\0", stored)
    return int(found[-1]) if found else None


def ended_attempts(content: bytes) -> int:
    """Returns how many attempts of tasks ended by a unit's lines; 0 for bytes that a disk damaged."""
    try:
        text = zlib.decompress(content, _GZIP)
    except zlib.error:
        return 0
    return _ended_by(text)


def _ended_by(text: bytes) -> int:
    return text.count(_END) + text.startswith(_END[1:])


def _fits(lines: bytes, content: bytes) -> bool:
    """Returns whether the app takes a unit."""
    most = max(FREE_TEXT, MAX_RATIO * len(content))
    return 0 < len(content) <= MAX_STORED and len(lines) <= most


def _middle(lines: bytes) -> int:
    """Returns where the line in the middle begins, or the next one; 0 where there is one line only."""
    half = len(lines) // 2
    cut = lines.rfind(b"\n", 0, half) + 1 or lines.find(b"\n", half) + 1
    return cut if cut < len(lines) else 0
