"""Parses the kernel's text files: lines of a name and whole numbers."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable

_MAX_DIGITS = 20


def whole_of(word: str) -> int | None:
    """Returns the whole number that a word is, None for any other word."""
    if len(word) > _MAX_DIGITS:
        return None
    try:
        return int(word)
    except ValueError:
        return None


def fraction_of(word: str) -> float | None:
    """Returns the finite number that a word is, None for any other word."""
    try:
        value = float(word[: _MAX_DIGITS + 1])
    except ValueError:
        return None
    return value if len(word) <= _MAX_DIGITS and math.isfinite(value) else None


def wholes_of(words: Iterable[str]) -> list[int]:
    """Returns whole numbers; none at all if one of the words isn't one."""
    found = [whole_of(word) for word in words]
    numbers = [number for number in found if number is not None]
    return numbers if len(numbers) == len(found) else []


def named_wholes(text: str, names: Container[str] | None = None) -> dict[str, int]:
    """Returns the numbers of lines like `name 12` or `name: 12 kB`, of all names or those that are wanted."""
    found = {}
    for line in text.splitlines():
        words = line.split(None, 2)
        name = words[0].rstrip(":") if len(words) > 1 else ""
        number = whole_of(words[1]) if name and (names is None or name in names) else None
        if number is not None:
            found[name] = number
    return found


def percent_of(part: float, whole: float) -> float:
    """Returns a share in percent, to a thousandth; 0 of nothing."""
    return round(100.0 * part / whole, 3) if whole else 0.0
