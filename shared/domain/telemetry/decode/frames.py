"""Stored bytes of an append blob become units: compressed ones whole, text as it stands.

What a unit is, its first bytes tell, never a blob's name. Bytes come from the end of the last unit on; a unit whose end
isn't there yet waits for more. Where units lie doesn't depend on how the bytes were cut, but for text that seems to
hold very many.
"""

import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from shared.domain.telemetry.decode.compression import Form, UnitError, decompressed_frame, decompressed_stream
from shared.domain.telemetry.decode.zstd_frames import MAGIC, FrameError, frame_end, is_skippable
from shared.domain.telemetry.records.bounds import MOST_BLOCKS, MOST_SEARCHED, MOST_STORED, MOST_STREAMS, WINDOW
from shared.domain.telemetry.records.metrics import Rejected

_GZIP = b"\x1f\x8b\x08"
_ZLIB = b"\x78"
_LEVELS = b"\x01\x5e\x9c\xda"
_LETTERS = b"\x5e\xda"  # levels of zlib, and letters or the begin of one behind an x
_PEEK = 32
_BLOCK = 4096
_LEAST_SEARCHED = 4096
CUT_SHORT = "the blob ends within a unit"
_MAGICS = {Form.ZSTD: MAGIC, Form.GZIP: _GZIP}
_FORMS = {magic: form for form, magic in _MAGICS.items()}
_MARK = re.compile(b"|".join(map(re.escape, _MAGICS.values())))
_LETTERS_FOLLOW = rb"(?:[ -~]{30}|[ -~]{0,29}[\t\r\n])"  # as `form_at` would tell, only more slowly
_MARK_IN_TEXT = re.compile(_MARK.pattern + rb"|x[\x01\x9c\xda]|x\^(?!%b)" % _LETTERS_FOLLOW)
_CONTROL = re.compile(rb"[\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Unit:
    """Bytes `start` to `end` of what was handed over, and the text that they stand for where they were compressed."""

    start: int
    end: int
    form: Form
    text: bytes


def form_at(stored: bytes, at: int) -> Form | None:
    """How what begins at a place is stored; None where too few bytes are there to tell."""
    head = stored[at : at + 4]
    for form, magic in _MAGICS.items():
        if head.startswith(magic):
            return form
        if magic.startswith(head):
            return None
    if is_skippable(stored, at):
        return Form.ZSTD
    if head[:1] != _ZLIB:
        return Form.TEXT
    return _form_behind_x(stored, at)


def _form_behind_x(stored: bytes, at: int) -> Form | None:
    """Told by the second byte; where that may be a letter's too, by whether text and an end of line follow."""
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


@dataclass(slots=True)
class Searches:
    """What may yet be looked at in vain, in bytes, of what is read at once: damage may seem to be many large units."""

    left: int = MOST_SEARCHED

    @property
    def are_none(self) -> bool:
        return self.left == MOST_SEARCHED

    @property
    def are_enough(self) -> bool:
        return self.left <= 0

    def charge(self, stored: int) -> None:
        """For something that turned out to be nothing whole, or may: so many bytes, and some thousand more."""
        self.left -= stored + _LEAST_SEARCHED


class TextEnd(NamedTuple):
    """Up to where there is text: it ends there, whatever follows; or `waits` for more bytes to tell."""

    place: int
    is_end: bool = False
    waits: bool = False


def text_end(stored: bytes, at: int, end: int, searches: Searches, *, is_last: bool) -> TextEnd:
    """Up to where the bytes from `at` to `end` are text.

    Text ends where a whole unit begins that was compressed, as behind a line or a unit that was cut short: no text that
    makes sense holds the mark of one, but for zlib's, which may be letters. Marks of nothing whole are part of a text
    that makes none. Where there are so many that what may be looked at in vain is used up, it is text up to the end of
    a line before, or else of that line.
    """
    if searches.are_enough:
        return TextEnd(end)
    place = _behind_plain_text(stored, at, end)
    while found := _MARK_IN_TEXT.search(stored, place, min(end, len(stored))):
        begin = found.start()
        place, form = begin + 1, form_at(stored, begin)
        if form is Form.TEXT:
            continue
        unit = _compressed_unit(stored, begin, form, searches, is_last=is_last) if form else None
        if isinstance(unit, Unit):
            return TextEnd(begin, is_end=True)
        if unit is None and not is_last:
            return TextEnd(begin, waits=True)
        if searches.are_enough:
            line = stored.rfind(b"\n", at, place) + 1 or stored.find(b"\n", place, end) + 1
            return TextEnd(line or end)
    return TextEnd(end)


def _behind_plain_text(stored: bytes, at: int, end: int) -> int:
    """The place up to which no mark begins, by blocks of ASCII text, which can hold two of zlib's marks only.

    Searching nearly all text so takes a tenth of the time: one byte is found ten times as fast as two. A block is
    small, as text may end soon again and again.
    """
    while at < end and at < len(stored):
        block = stored[at : min(at + _BLOCK + 1, end)]  # includes a mark's second byte
        if not block.isascii() or (b"\x01" in block and b"x\x01" in block) or (b"^" in block and b"x^" in block):
            return at
        at += _BLOCK
    return min(at, end)


def may_wait(stored: bytes, at: int) -> bool:
    """Whether a later read may tell what can't be told yet of what begins at a place: none has more than a window."""
    return len(stored) - at < WINDOW - len(BOM_UTF8)


def units_of(stored: bytes, at: int, searches: Searches, *, is_last: bool) -> Iterator[Unit | Rejected]:
    """Units from a place on, and bytes that are none. It ends where a unit waits for more bytes, if there may be more.

    Of text there is one unit at most: all the bytes that are left, of which its reader takes what it can.
    What is behind a `Rejected` whose end is its start can't be read at all.
    """
    while at < len(stored):
        form = form_at(stored, at)
        if form is None:
            return
        if form is Form.TEXT:
            yield Unit(at, len(stored), form, b"")
            return
        found = _compressed_unit(stored, at, form, searches, is_last=is_last)
        if found is None and is_last:
            found = UnitError(CUT_SHORT, 0)
        if isinstance(found, UnitError):
            found = _passed_over(stored, at, form, found, searches, is_last=is_last)
        if found is None:
            return
        yield found
        at = found.end if found.end > at else len(stored)


def _compressed_unit(
    stored: bytes, at: int, form: Form, searches: Searches, *, is_last: bool
) -> Unit | Rejected | UnitError | None:
    """The unit; what is wrong with it, its end known or not; or None where that isn't there yet.

    What was looked at of one that isn't whole is charged for.
    """
    try:
        found = _frame(stored, at, searches, is_last=is_last) if form is Form.ZSTD else _stream(stored, at, form)
    except FrameError as error:
        found = UnitError(str(error), 0, error.place - at)
    except UnitError as error:
        found = error
    if isinstance(found, UnitError):
        searches.charge(found.looked)
    elif found is None:
        searches.charge(min(len(stored) - at, MOST_STORED))
    return found


def _stream(stored: bytes, at: int, form: Form) -> Unit | UnitError | None:
    found = decompressed_stream(stored, at, form)
    if found is None:
        return _too_long() if len(stored) - at >= MOST_STORED else None
    return Unit(at, found[1], form, found[0])


def _frame(stored: bytes, at: int, searches: Searches, *, is_last: bool) -> Unit | Rejected | UnitError | None:
    """A frame that was cut short seems to end within the next one; None where that may yet begin there."""
    end = frame_end(stored, at, MOST_BLOCKS)
    if end is None or end - at > MOST_STORED:
        return _too_long() if (end or len(stored)) - at > MOST_STORED else None
    if is_skippable(stored, at):
        return Unit(at, end, Form.ZSTD, b"")
    try:
        return Unit(at, end, Form.ZSTD, decompressed_frame(stored[at:end]))
    except UnitError as error:
        behind = stored.find(MAGIC, at + 1, end + len(MAGIC) - 1)
        if behind < 0 and not is_last and _may_begin(stored, end):
            return None
        searches.charge(end - at + error.looked)
        return Rejected(at, behind if behind >= 0 else end, error.position, error.reason, compressed=True)


def _may_begin(stored: bytes, end: int) -> bool:
    """Whether a frame's mark may begin before `end` that isn't whole yet."""
    begins = range(max(len(stored) - len(MAGIC) + 1, 0), min(end, len(stored)))
    return any(MAGIC.startswith(stored[begin:]) for begin in begins)


def _next_mark(stored: bytes, at: int, end: int) -> tuple[int, Form] | None:
    """Where the first mark of a compressed unit lies from a place on, wholly before an end, and of which form."""
    found = _MARK.search(stored, at, min(end, len(stored)))
    return (found.start(), _FORMS[found[0]]) if found else None


def _too_long() -> UnitError:
    return UnitError(f"the unit has more than {MOST_STORED:,} bytes", 0, MOST_STORED)


def _passed_over(
    stored: bytes, at: int, form: Form, error: UnitError, searches: Searches, *, is_last: bool
) -> Rejected | None:
    """The bytes up to what looks like the next unit; the blob from here on where there is none to look for."""
    most = at + MOST_STORED + len(MAGIC)
    if form is Form.ZLIB:
        behind, is_known = _behind_stream(stored, at, most, searches, is_last=is_last)
    else:
        mark = _next_mark(stored, at + 1, most)
        behind, is_known = (mark[0], True) if mark else (None, len(stored) >= most)
    if behind is not None:
        return Rejected(at, behind, error.position, error.reason, compressed=True)
    if is_known:
        reason = f"{error.reason}; where the next unit begins can't be told"
        return Rejected(at, at, error.position, reason, compressed=True)
    return Rejected(at, len(stored), error.position, error.reason, compressed=True) if is_last else None


def _behind_stream(stored: bytes, at: int, end: int, searches: Searches, *, is_last: bool) -> tuple[int | None, bool]:
    """Where the next whole unit begins behind a damaged zlib stream, and whether that is known already.

    The mark of a stream is no more than two bytes, which stand everywhere, so that only one that comes out right tells.
    """
    marks, place = re.compile(re.escape(stored[at : at + 2]) + b"|" + _MARK.pattern), at
    for _ in range(MOST_STREAMS):
        mark = marks.search(stored, place + 1, min(end, len(stored)))
        if mark is None:
            return None, len(stored) >= end
        place = mark.start()
        unit = _compressed_unit(stored, place, _FORMS.get(mark[0], Form.ZLIB), searches, is_last=is_last)
        if isinstance(unit, Unit):
            return place, True
        if unit is None and not is_last and may_wait(stored, at):
            return None, False
    return None, True
