"""Units of an append blob's bytes: complete compressed units, and text.

A unit's first bytes determine its form; the blob's name never does. One rule applies to damage, and to the end of text:
reading resumes where the next compressed unit begins that can be read as a whole.

The end of a zstd frame is found from its headers alone (RFC 8878, 3.1), without decompressing anything. So a frame with
damaged or far too large content costs nothing to skip, and the next one is read.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from shared.domain.telemetry.decode.compression import Form, UnitError, decompressed_frame, decompressed_stream
from shared.domain.telemetry.decode.otlp_protobuf import (
    HEAD,
    LENGTH,
    MessageError,
    begins_message,
    message_length,
    read_otlp_message,
)
from shared.domain.telemetry.records.bounds import MAX_BLOCKS, MAX_SEARCHED, MAX_STORED, WINDOW
from shared.domain.telemetry.records.metrics import Metric

_ZSTD = b"\x28\xb5\x2f\xfd"
_SKIPPABLE_FIRST, _SKIPPABLE = range(0x50, 0x60), b"\x2a\x4d\x18"  # the first byte, and those that follow it
_ZSTD_HEADER, _BLOCK_HEADER = 4, 3
_CONTENT_SIZE_BYTES = (0, 2, 4, 8)
_DICTIONARY_BYTES = (0, 1, 2, 4)
_RLE, _RESERVED = 1, 3
_GZIP = b"\x1f\x8b\x08"
_ZLIB = b"\x78"
_NUL, _OBJECT = b"\0", b'{"'
_LEVELS = b"\x01\x5e\x9c\xda"
_LETTERS = b"\x5e\xda"  # levels of zlib that may also be a letter, or start one, after an x
_PEEK = 32
_BLOCK = 4096
_MIN_SEARCHED = 512  # bytes of the budget per attempt
_MAGICS = {Form.ZSTD: _ZSTD, Form.GZIP: _GZIP}
_MARK = re.compile(
    b"|".join(
        (
            *map(re.escape, _MAGICS.values()),
            rb"x[\x01\x9c\xda]",
            rb"\0(?!\0\0\0)[\s\S]{3}(?=[\x0a\x28{])",
            rb"(?P<zeros>\0{16,}+)",
        )
    )
)
"""The begin of a unit, or zeros, which a search passes at once. `x^` isn't searched for, as any text may contain it."""
TAIL = LENGTH
"""Bytes at the end in which an incomplete mark may begin."""
_CONTROL = re.compile(rb"[\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Unit:
    """Bytes `start` to `end` of the input, and their decompressed text, or the records of a message without text."""

    start: int
    end: int
    text: bytes
    metrics: Sequence[Metric] = ()


class NextUnit(NamedTuple):
    """Where the next unit begins, or None.

    Where it is `undecided`, more bytes must show whether one does. Where the budget is `exhausted`, the search ended.
    """

    start: int | None
    undecided: bool = False
    exhausted: bool = False

    @property
    def is_known(self) -> bool:
        """Returns whether a unit begins at `start`."""
        return self.start is not None and not self.undecided and not self.exhausted


@dataclass(slots=True)
class SearchBudget:
    """The bytes that attempts in vain may still read in a pass, as damaged bytes may look like very many units."""

    left: int = MAX_SEARCHED

    def charge(self, read: int) -> None:
        self.left -= max(read, _MIN_SEARCHED)


def form_at(stored: bytes, at: int) -> Form | None:
    """Returns the form of the data at a position; None where too few bytes are available to decide."""
    head = stored[at : at + LENGTH + HEAD]
    for form, magic in _MAGICS.items():
        if head.startswith(magic):
            return form
        if magic.startswith(head):
            return None
    if head[:1] == _NUL:
        return _form_behind_nul(head)
    if head[:1] == _ZLIB:
        return _form_behind_x(stored, at)
    return Form.ZSTD if _is_skippable(stored, at) else Form.TEXT


def _form_behind_nul(head: bytes) -> Form | None:
    """Returns the form by the length and the content that begins behind it."""
    if len(head) >= LENGTH and not message_length(head, 0):
        return Form.TEXT
    content = head[LENGTH:]
    if content.startswith((_ZSTD, _OBJECT)) or (begins := begins_message(content)):
        return Form.OTLP
    is_open = begins is None or _ZSTD.startswith(content) or _OBJECT.startswith(content)
    return None if is_open else Form.TEXT


def _form_behind_x(stored: bytes, at: int) -> Form | None:
    """Returns the form by the second byte; where that may be a letter, by whether text and a line end follow."""
    if at + 1 >= len(stored):
        return None
    if stored[at + 1] not in _LETTERS:
        return Form.ZLIB if stored[at + 1] in _LEVELS else Form.TEXT
    head = stored[at : at + _PEEK]
    found = _CONTROL.search(head)
    control = found.start() if found else len(head)
    try:
        head[:control].decode()
    except UnicodeDecodeError as error:
        if control < len(head) or error.reason != "unexpected end of data":
            return Form.ZLIB
    if control < len(head):
        return Form.TEXT if head[control] in b"\t\r\n" else Form.ZLIB
    return Form.TEXT if len(head) == _PEEK else None


def is_full(stored: bytes, at: int) -> bool:
    """Returns whether no more bytes follow in this pass: what they don't decide is decided without them."""
    return len(stored) - at >= WINDOW - TAIL


def next_unit(stored: bytes, begin: int, end: int, budget: SearchBudget, *, is_last: bool) -> NextUnit:
    """Returns where the first unit begins, from `begin` up to `end`, that can be read as a whole.

    With `is_last` no bytes follow; otherwise an incomplete unit is undecided.
    """
    place = _behind_plain_text(stored, begin, end)
    while (mark := _MARK.search(stored, place, end + TAIL)) and mark.start() < end:
        if mark["zeros"]:
            place = mark.end() - LENGTH + 1  # a message's length may begin with fewer zeros
            continue
        place = mark.start()
        if budget.left <= 0:
            return NextUnit(place, exhausted=True)
        form, found, read = form_at(stored, place), None, 0
        if form is not Form.TEXT:
            try:
                found = read_unit(stored, place, form) if form else None
            except UnitError as error:
                read = error.looked
            else:
                if found or not is_last:
                    return NextUnit(place, undecided=not found)
                read = len(stored) - place
        budget.charge(read)
        place += 1
    length = -1 if is_last else stored.find(_NUL, max(begin, len(stored) - TAIL), end)
    return NextUnit(None) if length < 0 else NextUnit(length, undecided=True)


def line_rest(stored: bytes, *, is_last: bool) -> tuple[int, bool]:
    """Returns where the rest of an overlong line ends, or is searched further, and whether it ends there.

    It ends with the line, or where the next unit begins.
    """
    end = stored.find(b"\n") + 1
    behind = next_unit(stored, 0, end or len(stored), SearchBudget(), is_last=is_last)
    if behind.start is not None:
        return behind.start, behind.is_known
    return end or len(stored), bool(end)


def _behind_plain_text(stored: bytes, at: int, end: int) -> int:
    """Returns a position before which no unit begins, by blocks of ASCII text.

    This searches ordinary text in a tenth of the time. Blocks are small because text may be interrupted often.
    """
    while at < end and at < len(stored):
        block = stored[at : min(at + _BLOCK + 1, end)]  # includes a mark's second byte
        if not block.isascii() or _NUL in block or (b"\x01" in block and b"x\x01" in block):
            return at
        at += _BLOCK
    return min(at, end)


def read_unit(stored: bytes, at: int, form: Form) -> Unit | None:
    """Returns the compressed unit of a form at a position, or None where its end hasn't been received.

    Raises UnitError where it can't be read, or where it has more than MAX_STORED bytes.
    """
    found = _READERS.get(form, _stream)(stored, at, form)
    if (found.end - at if found else len(stored) - at) > MAX_STORED:
        raise UnitError(f"the unit has more than {MAX_STORED:,} bytes", 0, MAX_STORED)
    return found


def _stream(stored: bytes, at: int, form: Form) -> Unit | None:
    found = decompressed_stream(stored, at, form)
    return Unit(at, found[1], found[0]) if found else None


def _message(stored: bytes, at: int, _: Form) -> Unit | None:
    """Returns a message of OTLP, which may be compressed, and JSON if it is."""
    begin = at + LENGTH
    if message_length(stored, at) > MAX_STORED:
        raise UnitError(f"the message has more than {MAX_STORED:,} bytes", 0)
    end = begin + message_length(stored, at)
    if end > len(stored):
        return None
    content = stored[begin:end]
    if content.startswith(_ZSTD):
        content = decompressed_frame(content)
    if content.startswith(b"{"):
        return Unit(at, end, content)
    try:
        return Unit(at, end, b"", read_otlp_message(content))
    except MessageError as error:
        raise UnitError(str(error), 0, len(content)) from error


def _frame(stored: bytes, at: int, _: Form) -> Unit | None:
    end = _frame_end(stored, at)
    if end is None:
        return None
    is_empty = _is_skippable(stored, at) or end - at > MAX_STORED
    return Unit(at, end, b"" if is_empty else decompressed_frame(stored[at:end]))


def _is_skippable(stored: bytes, at: int) -> bool:
    """Returns whether a frame without content begins there."""
    return stored[at + 1 : at + _ZSTD_HEADER] == _SKIPPABLE and stored[at] in _SKIPPABLE_FIRST


def _frame_end(stored: bytes, at: int) -> int | None:
    """Returns the end of the zstd frame at a position; None where its end hasn't been received. Raises UnitError.

    A frame of more than MAX_BLOCKS blocks is an error, as it would take long to skip.
    """
    if _is_skippable(stored, at):
        size = stored[at + _ZSTD_HEADER : at + 2 * _ZSTD_HEADER]
        end = at + 2 * _ZSTD_HEADER + int.from_bytes(size, "little")
        return end if len(size) == _ZSTD_HEADER and end <= len(stored) else None
    if at + _ZSTD_HEADER >= len(stored):
        return None
    descriptor = stored[at + _ZSTD_HEADER]
    if descriptor & 0b1000:
        raise UnitError("a reserved bit of the frame's header is set", 0, _ZSTD_HEADER)
    is_single = descriptor >> 5 & 1
    content = max(_CONTENT_SIZE_BYTES[descriptor >> 6], is_single)
    begin = at + _ZSTD_HEADER + 1 + (not is_single) + _DICTIONARY_BYTES[descriptor & 3] + content
    return _behind_blocks(stored, at, begin, checksum=4 * (descriptor >> 2 & 1))


def _behind_blocks(stored: bytes, at: int, begin: int, checksum: int) -> int | None:
    for _ in range(MAX_BLOCKS):
        header = stored[begin : begin + _BLOCK_HEADER]
        if len(header) < _BLOCK_HEADER:
            return None
        word = int.from_bytes(header, "little")
        kind, size = word >> 1 & 3, word >> 3
        if kind == _RESERVED or size > 1 << 17:
            raise UnitError("a block of the frame is of no known kind or size", 0, begin - at)
        begin += _BLOCK_HEADER + (1 if kind == _RLE else size)
        if word & 1:
            end = begin + checksum
            return end if end <= len(stored) else None
    raise UnitError(f"the frame has more than {MAX_BLOCKS:,} blocks", 0, begin - at)


_READERS = {Form.ZSTD: _frame, Form.OTLP: _message}
