"""Forms of generated content: text in several encodings, bytes, archives."""

from collections.abc import Callable, Mapping

from local.batch_emulator.contents.content import (
    EMPTY,
    Content,
    ContentRange,
    FixedContent,
    RandomContent,
    Utf16Content,
    join,
)
from local.batch_emulator.contents.log_lines import PAIR_SIZE, LogLines
from local.batch_emulator.core.stamps import SECOND

_ZIP_HEADER = b"PK\x03\x04\x14\x00\x00\x00\x00\x00\x00\x00\x21\x00"
_LINES_PER_SECOND = 1000


def generate(form: str, size: int, seed: str, moment: int) -> Content:
    """Returns content of one of FORMS: `size` bytes, of UTF-16 one less if that is odd, written at a moment."""
    return FORMS[form](size, seed, moment) if size else EMPTY


def _text(size: int, seed: str, moment: int, charset: str = "ascii") -> Content:
    lines = 2 * -(-size // PAIR_SIZE)
    return ContentRange(LogLines(seed, moment, SECOND / _LINES_PER_SECOND, 0, lines, charset), 0, size)


def _latin(size: int, seed: str, moment: int) -> Content:
    return _text(size, seed, moment, "latin-1")


def _utf8(size: int, seed: str, moment: int) -> Content:
    return _text(size, seed, moment, "utf-8")


def _utf16(size: int, seed: str, moment: int) -> Content:
    return Utf16Content(_text(max(0, size - 2) // 2, seed, moment))


def _bytes(size: int, seed: str, _: int) -> Content:
    return RandomContent(seed, size)


def _zip(size: int, seed: str, _: int) -> Content:
    """Returns content that begins as an archive does; the rest is no archive."""
    header = _ZIP_HEADER[:size]
    return join((FixedContent(header), RandomContent(seed, size - len(header))))


FORMS: Mapping[str, Callable[[int, str, int], Content]] = {
    "text": _text,
    "utf-8": _utf8,
    "latin-1": _latin,
    "utf-16": _utf16,
    "bytes": _bytes,
    "zip": _zip,
}
