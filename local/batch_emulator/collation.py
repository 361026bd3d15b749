"""The order of lists. The service documents none; knobs make it odd, so that clients that rely on one are found out."""

from collections.abc import Callable
from hashlib import blake2b
from typing import Any

from local.batch_emulator.settings import Knobs


def order_of(knobs: Knobs) -> Callable[[str], Any]:
    if knobs.unorderedLists or knobs.idCollation == "hashed":
        return lambda key: blake2b(key.encode(), digest_size=8).digest()
    if knobs.idCollation == "reversed":
        return lambda key: [-ord(character) for character in key] + [1]
    return lambda key: key
