"""Content codings: chooses the one that a client prefers (RFC 9110, 12.5.3) and encodes answers.

The codecs load when a client first asks for them: a cold start needs none.
"""

import re
import zlib
from collections.abc import Iterable

IDENTITY = "identity"
CODINGS = ("zstd", "gzip")
"""Codings of answers, best first."""
_QUALITY = re.compile(r"q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)", re.IGNORECASE)
_GZIP = 16 + zlib.MAX_WBITS
_LARGE = 1024 * 1024  # bytes; larger bodies use a faster, weaker level, so that no answer takes a second of a core


def chosen(header: str | None, offered: Iterable[str], *, plain_is_better: bool) -> str | None:
    """Returns the best accepted coding among `offered` (best first) and identity, or None where none is accepted.

    With `plain_is_better`, identity wins among equal preferences.
    """
    wishes = _wishes(header or "")
    others = wishes.get("*", 0.0)
    plain = wishes.get(IDENTITY, others if "*" in wishes and not others else None)
    codings = [(wishes.get(coding, others), coding) for coding in offered]
    best, coding = max(codings, key=lambda one: one[0], default=(0.0, IDENTITY))
    if plain is None:  # identity isn't named: it is accepted, but ranks below any accepted coding
        return coding if best and not plain_is_better else IDENTITY
    if not plain and not best:
        return None
    return IDENTITY if plain > best or (plain_is_better and plain) else coding


def _wishes(header: str) -> dict[str, float]:
    """Returns the client's weight of each coding, from 0 (refused) to 1; a malformed weight counts as 0."""
    wishes = dict[str, float]()
    for part in filter(None, (part.strip() for part in header.lower().split(","))):
        coding, _, weight = (text.strip() for text in part.partition(";"))
        found = _QUALITY.fullmatch(weight)
        wishes[coding.removeprefix("x-")] = float(found[1]) if found else 0.0 if weight else 1.0
    return wishes


def encoded(body: bytes, coding: str) -> bytes:
    """Returns the body in one of CODINGS."""
    is_large = len(body) > _LARGE
    if coding == "gzip":
        return zlib.compress(body, 1 if is_large else 6, _GZIP)
    from zstandard import ZstdCompressor  # noqa: PLC0415 - see the module's docstring

    return ZstdCompressor(1 if is_large else 3).compress(body)
