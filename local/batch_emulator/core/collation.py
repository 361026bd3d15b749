"""The order of ids. The service documents none, so settings can vary it, which reveals clients that rely on one."""

from collections.abc import Callable, Mapping
from typing import Any
from zlib import crc32

from local.batch_emulator.core.settings import EmulatorSettings

type Key = Callable[[str], Any]


def fold(name: str) -> str:
    """Returns the id in lower case, as ids are case-insensitive."""
    return name.lower()


def comparison_key(settings: EmulatorSettings) -> Key:
    """Returns the comparison of filters such as `id ge 'x'`."""
    return _linguistic if settings.idCollation == "linguistic" else fold


def order_name(settings: EmulatorSettings) -> str:
    """Returns the order, one of ORDERS, of lists that begin now. A list keeps it despite later changes of settings."""
    return "scattered" if settings.unorderedLists else settings.idCollation


def _linguistic(name: str) -> tuple[str, str]:
    """Sorts as cultures do: hyphens and underscores only decide between names that are otherwise equal."""
    folded = fold(name)
    return folded.replace("-", "").replace("_", ""), folded


def _reversed(name: str) -> list[int]:
    return [-ord(letter) for letter in fold(name)] + [1]


def _scattered(name: str) -> tuple[int, str]:
    folded = fold(name)
    return crc32(folded.encode()), folded


ORDERS: Mapping[str, Key] = {"ordinal": fold, "linguistic": _linguistic, "reversed": _reversed, "scattered": _scattered}
