"""Short digests of hidden parts of texts: they show that a part changed, and too little of it to find it out.

A digest of full length would let whoever reads storage try out the likely values of a short secret, and no key is safe
from that reader. Twelve bits say at most twelve bits: of a million likely values some 244 remain, and one change in
4,096 isn't noticed. Never lengthen them, and never add a salt: a secret that is used in many places would have another
digest in each, which together show it.
"""

from collections.abc import Sequence
from hashlib import blake2b

from msgspec.json import encode

from shared.domain.redaction.redaction import MARK

_BITS = 12


def hidden_digest(text: str, shown: str) -> int:
    """Returns the digest of what `shown` hides of a text, the same wherever the same is hidden."""
    return int.from_bytes(blake2b(encode(_hidden(text, shown)), digest_size=8).digest()) % (1 << _BITS)


def _hidden(text: str, shown: str) -> Sequence[str]:
    """Returns the parts of a text that `shown` masks; the whole text where `shown` isn't that text with masks."""
    first, *pieces = shown.split(MARK)
    if not text.startswith(first):
        return [text]
    parts, at = list[str](), len(first)
    for number, piece in enumerate(pieces, start=1):
        end = len(text) - len(piece) if number == len(pieces) else text.find(piece, at)
        if end < at or not text.startswith(piece, end):
            return [text]
        parts.append(text[at:end])
        at = end + len(piece)
    return parts or [text]
