"""Secrets in files replaced by signs of the same length, so that all offsets stay what they are in the file."""

import re

from shared.domain.redaction.redaction import secret_spans

_SIGN = "*"
_WIDE = "utf-16-le"
_WIDE_SIGNS = re.compile(rb"(?:[ -~]\0){4,}")
_NARROW_SIGNS = re.compile(rb"[ -~]{4}")


def masked(content: bytes) -> bytes:
    """Returns a part of a text file with each apparent secret replaced, by as many bytes as it has.

    Programs of two encodings may write to one file. So what the bytes look like is searched: UTF-8, and signs of two
    bytes, of either order, from even and from odd places on. Bytes that are valid in none of these stay.
    """
    if b"\0" not in content:
        return _masked(content, "utf-8")
    shown = _masked(content, "utf-8") if _NARROW_SIGNS.search(content) else content
    for start in {found.start() % 2 for found in _WIDE_SIGNS.finditer(content)}:
        shown = shown[:start] + _masked(shown[start:], _WIDE)
    return shown


def _masked(content: bytes, encoding: str) -> bytes:
    errors = "surrogateescape" if encoding == "utf-8" else "surrogatepass"
    whole = len(content) if encoding == "utf-8" else len(content) // 2 * 2
    text = content[:whole].decode(encoding, errors)
    parts, last, sign = list[bytes](), 0, _SIGN.encode(encoding)
    for start, end in secret_spans(text):
        hidden = len(text[start:end].encode(encoding, errors)) // len(sign)
        parts += (text[last:start].encode(encoding, errors), sign * hidden)
        last = end
    return b"".join((*parts, text[last:].encode(encoding, errors), content[whole:]))
