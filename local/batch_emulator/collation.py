"""The order of ids. The service documents none, so knobs make it odd, and clients that rely on one are found out."""

from collections.abc import Callable, Mapping
from typing import Any
from zlib import crc32

from local.batch_emulator.settings import Knobs

type Key = Callable[[str], Any]


def fold(name: str) -> str:
    """Ids are the same whatever their case."""
    return name.lower()


def comparison_key(knobs: Knobs) -> Key:
    """How filters such as `id ge 'x'` compare."""
    return _linguistic if knobs.idCollation == "linguistic" else fold


def order_name(knobs: Knobs) -> str:
    """The order, one of ORDERS, of lists that begin now. A list keeps it to its end, whatever is turned meanwhile."""
    return "scattered" if knobs.unorderedLists else knobs.idCollation


def _linguistic(name: str) -> tuple[str, str]:
    """As cultures sort: hyphens and underscores count only between names that are equal without them."""
    folded = fold(name)
    return folded.replace("-", "").replace("_", ""), folded


def _reversed(name: str) -> list[int]:
    return [-ord(letter) for letter in fold(name)] + [1]


def _scattered(name: str) -> tuple[int, str]:
    folded = fold(name)
    return crc32(folded.encode()), folded


ORDERS: Mapping[str, Key] = {"ordinal": fold, "linguistic": _linguistic, "reversed": _reversed, "scattered": _scattered}
