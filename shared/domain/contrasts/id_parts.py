"""Parts of task ids: an id is split at separators and where letters meet digits; parts are compared by their place.

`scene12-frame-0300` has `scene`, 12, `frame`, 300. Random ids have no parts.
"""

import re
from collections.abc import Sequence

MAX_PARTS = 8
_PARTS = re.compile(r"[0-9]+|[^\W\d_]+")
_RANDOM = re.compile(r"[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}|[0-9a-f]{24,}", re.IGNORECASE)
_MAX_DIGITS = 15


type Part = int | str


def parts_of(name: str) -> list[Part]:
    """Returns the first parts of an id, digits as numbers, without GUIDs and long hexadecimal digits."""
    found = _PARTS.findall(_RANDOM.sub(" ", name.lower()))[:MAX_PARTS]
    return [int(part) if part.isascii() and part.isdigit() and len(part) <= _MAX_DIGITS else part for part in found]


def part_columns(names: Sequence[str]) -> list[list[Part | None]]:
    """Returns a column for each place that ids have parts at; ids with fewer parts have None there."""
    rows = list(map(parts_of, names))
    width = max(map(len, rows), default=0)
    return [[row[place] if place < len(row) else None for row in rows] for place in range(width)]
