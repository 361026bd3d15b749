"""Advice on well-known last words, from `known_errors.json`, which is checked when it is read.

Each entry has a pattern of Python's `re`, in any case of letters, a sentence, advice, the category of failures that it
refines, and its source. Entries are tried in order, on the signature alone: what stands around it, such as the words of
a launcher that ends the other ranks, may belong to something else.
"""

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import msgspec

from shared.domain.outputs.excerpts import ErrorExcerpt
from shared.domain.tasks.failure_categories import CATEGORIES, FailureCategory

_FILE = Path(__file__).with_name("known_errors.json")


class KnownError(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """An error that many programs report in like words. `exit_codes` decide where a task wrote nothing that fits."""

    id: str
    pattern: str
    sentence: str
    advice: str
    category: FailureCategory
    source: str
    exit_codes: tuple[int, ...] = ()


@cache
def known_errors() -> tuple[KnownError, ...]:
    """Returns the entries of the file, in its order. Raises ValueError where one can't be used."""
    found = msgspec.json.decode(_FILE.read_bytes(), type=tuple[KnownError, ...])
    for one in found:
        if one.category not in CATEGORIES or not one.source.startswith("https://"):
            raise ValueError(f"The known error '{one.id}' has no category or source.")
    return found


def known_error(excerpt: ErrorExcerpt, exit_code: int | None = None) -> KnownError | None:
    """Returns the known error that an excerpt, or else the exit code, shows; None where there is none."""
    found = next((one for one, pattern in _patterns() if pattern.search(excerpt.signature)), None)
    if found or exit_code is None:
        return found
    return next((one for one in known_errors() if exit_code in one.exit_codes), None)


def known_error_of(id_: str) -> KnownError | None:
    return next((one for one in known_errors() if one.id == id_), None)


@cache
def _patterns() -> Iterable[tuple[KnownError, re.Pattern[str]]]:
    return tuple((one, re.compile(one.pattern, re.IGNORECASE)) for one in known_errors())
