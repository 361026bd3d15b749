"""The common form of all sources' values: series with OpenTelemetry names and UCUM units.

Names follow the semantic conventions for `system.*`, `process.*`, `container.*` and `hw.*`, or the OpenTelemetry
Collector's host and Docker metrics where these cover more. Names that neither defines begin with `batchscope.`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from hashlib import blake2b

import msgspec
from msgspec.structs import force_setattr

CUSTOM, CUSTOM_ID = "custom.", "~"
"""How names and ids of series begin that hold metrics which the catalog lacks."""


class Kind(StrEnum):
    """How values aggregate: a gauge is a measured value, a counter only grows until it resets."""

    GAUGE = "gauge"
    COUNTER = "counter"


class ReadingKind(StrEnum):
    """What a reading of a counter is: its total, its growth since the last reading, or its growth per second."""

    TOTAL = "total"
    DELTA = "delta"
    RATE = "rate"


type Attributes = tuple[tuple[str, str], ...]


class Series(msgspec.Struct, frozen=True, cache_hash=True, gc=False):
    """One line of a chart: a name from `instruments`, and attributes sorted by name.

    `id` is 16 hexadecimal digits, derived from name and attributes alone, after CUSTOM_ID where the name calls for it.
    It is a struct so that dictionaries by series, which each sample passes, hash and compare without Python code.
    """

    name: str
    attributes: Attributes = ()
    id: str = ""

    def __post_init__(self) -> None:
        text = "\0".join((self.name, *(part for pair in self.attributes for part in pair)))
        mark = CUSTOM_ID if self.name.startswith(CUSTOM) else ""
        force_setattr(self, "id", mark + blake2b(text.encode(), digest_size=8).hexdigest())


@lru_cache(maxsize=4096)  # a blob of endless names fills it, with some 700 bytes each
def series_of(name: str, attributes: Attributes) -> Series:
    """Returns a series; packed rollups name the same ones again and again."""
    return Series(name, attributes)


@dataclass(frozen=True, slots=True)
class Rule:
    """How a field becomes a series: the value is `value * factor + offset`; `reading` concerns counters only."""

    name: str
    unit: str
    kind: Kind = Kind.GAUGE
    factor: int | float = 1
    offset: int | float = 0
    attributes: Attributes = ()
    reading: ReadingKind = ReadingKind.TOTAL


@dataclass(frozen=True, slots=True)
class Plugin:
    """A known measurement: its fields by name, and the tags and fields (`keys`) that distinguish series.

    `named_by` is a tag whose value prefixes field names, as in `NAME/field`. `whole` is a tag and the value of it that
    stands for all parts together and becomes no attribute; where such records follow from others, `without` omits them.
    With `counts_whole`, a fraction is no reading of a counter. `values` renames values of attributes.
    """

    fields: Mapping[str, Rule]
    tags: Mapping[str, str] = field(default_factory=dict)
    keys: Mapping[str, str] = field(default_factory=dict)
    fixed: Attributes = ()
    named_by: str = ""
    whole: tuple[str, str] = ("", "")
    without: tuple[str, str] = ("", "")
    counts_whole: bool = False
    values: Mapping[str, str] = field(default_factory=dict)
