"""Short digests of hidden values: they show that a value changed, and too little of it to find it out.

A digest of full length would let whoever reads storage try out the likely values of a short secret, and no key is safe
from that reader. Twelve bits say at most twelve bits: of a million likely values some 244 remain, and one change in
4,096 isn't noticed. Never lengthen them.
"""

from hashlib import blake2b

from msgspec.json import encode

_BITS = 12


def short_digest(*parts: str) -> int:
    """Returns the digest of a value and of where it stands, so that equal values elsewhere have other digests."""
    return int.from_bytes(blake2b(encode(parts), digest_size=8).digest()) % (1 << _BITS)
