"""Secrets in files replaced by signs of the same length, so that all offsets stay what they are in the file."""

from shared.domain.redaction.redaction import secret_spans

_SIGN = "*"


def masked(content: bytes, encoding: str = "utf-8") -> bytes:
    """Returns a part of a text file with each apparent secret replaced, by as many bytes as it has.

    Bytes that aren't valid in the encoding stay. The encoding is UTF-8 or one of two bytes a sign.
    """
    errors = "surrogateescape" if encoding == "utf-8" else "surrogatepass"
    whole = len(content) if encoding == "utf-8" else len(content) // 2 * 2
    text = content[:whole].decode(encoding, errors)
    parts, last, sign = list[bytes](), 0, _SIGN.encode(encoding)
    for start, end in secret_spans(text):
        hidden = len(text[start:end].encode(encoding, errors)) // len(sign)
        parts += (text[last:start].encode(encoding, errors), sign * hidden)
        last = end
    return b"".join((*parts, text[last:].encode(encoding, errors), content[whole:]))
