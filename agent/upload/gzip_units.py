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
MAX_TASKS = 12
"""Attempts of tasks whose lines a unit holds: the app stores a unit in one transaction, with rows for each of them."""
MAX_VALUES = 30_000
"""Values of a unit, and its tags: the app stores 32,000 minutes of series in one transaction."""
_LEVEL = 6
_HEADER = b"\x1f\x8b\x08\x08\0\0\0\0\0\xff"  # deflate, with a name, without a time, from any system
_WHOLE = 0xFFFF_FFFF
_GZIP = zlib.MAX_WBITS | 16
_END = f"\n{ENDED_ATTEMPT},".encode()
_LINE = re.compile(rb"[^\n]*\n|[^\n]+")
_HEAD = re.compile(rb"(?:[^ \\]|\\.)*")
_TAGS = re.compile(rb",(?:job_id|task_attempt|task_id)=(?:[^, \\]|\\.)*")


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

    Where a text has lines of too many tasks, the node's lines and those of some tasks each are units of their own. A
    text that is too large, or has too many values, is halved at a line break. A line that is too large alone is a unit
    without content, whose number the next unit has.
    """
    waiting, number = _by_tasks(text)[::-1], first
    while waiting:
        lines = waiting.pop()
        content = gzip_member(lines, f"{session}.{number}") if len(lines) <= MAX_TEXT else b""
        is_fit = _fits(lines, content)
        if not is_fit or lines.count(b"=") > MAX_VALUES:
            cut = _middle(lines)
            if cut:
                waiting += [lines[cut:], lines[:cut]]
                continue
        content = content if is_fit else b""
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
    return text.count(_END) + text.startswith(_END[1:])


def _by_tasks(text: bytes) -> list[bytes]:
    """Returns the lines in parts of at most MAX_TASKS attempts of tasks, the node's own first."""
    by_task: dict[tuple[bytes, ...], list[bytes]] = {(): []}
    for line in _LINE.findall(text):
        head = _HEAD.match(line)
        by_task.setdefault(tuple(_TAGS.findall(head[0])) if head else (), []).append(line)
    own, *tasks = (b"".join(lines) for lines in by_task.values())
    if len(tasks) > MAX_TASKS:
        groups = (tasks[first : first + MAX_TASKS] for first in range(0, len(tasks), MAX_TASKS))
        return [part for part in (own, *(b"".join(group) for group in groups)) if part]
    return [text] if text else []


def _fits(lines: bytes, content: bytes) -> bool:
    """Returns whether the app takes a unit."""
    most = max(FREE_TEXT, MAX_RATIO * len(content))
    return 0 < len(content) <= MAX_STORED and len(lines) <= most


def _middle(lines: bytes) -> int:
    """Returns where the line in the middle begins, or the next one; 0 where there is one line only."""
    half = len(lines) // 2
    cut = lines.rfind(b"\n", 0, half) + 1 or lines.find(b"\n", half) + 1
    return cut if cut < len(lines) else 0
