"""The one form that all sources' values take: series named as OpenTelemetry names them, with units of UCUM.

Names are those of the semantic conventions for `system.*`, `process.*`, `container.*` and `hw.*`, or of the
OpenTelemetry Collector's host and Docker metrics where these know more; what neither knows begins with `batchscope.`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import blake2b


class Kind(StrEnum):
    """How values add up: a gauge is measured, a counter only grows until it begins anew."""

    GAUGE = "gauge"
    COUNTER = "counter"


type Attributes = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """One line of a chart: a name of INSTRUMENTS and attributes in the order of their names.

    `id` is 16 hexadecimal digits that are the same wherever the series is met.
    """

    name: str
    attributes: Attributes = ()
    id: str = field(init=False)

    def __post_init__(self) -> None:
        text = "\0".join((self.name, *(part for pair in self.attributes for part in pair)))
        object.__setattr__(self, "id", blake2b(text.encode(), digest_size=8).hexdigest())

    def __hash__(self) -> int:
        return hash(self.id)  # which a text remembers

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Series) and (self.name, self.attributes) == (other.name, other.attributes)


@dataclass(frozen=True, slots=True)
class Rule:
    """What a field becomes: `value * factor + offset` of a series."""

    name: str
    unit: str
    kind: Kind = Kind.GAUGE
    factor: float = 1
    offset: float = 0
    attributes: Attributes = ()


@dataclass(frozen=True, slots=True)
class Plugin:
    """A measurement that is known: its fields by name, and the tags and fields (`keys`) that tell series apart.

    `named_by` is a tag whose value decides about the fields, as `NAME/field`; `whole` is a tag and its value that
    mean all parts together, and make no attribute. With `counts_whole` fractions are no readings of counters.
    """

    fields: Mapping[str, Rule]
    tags: Mapping[str, str] = field(default_factory=dict)
    keys: Mapping[str, str] = field(default_factory=dict)
    fixed: Attributes = ()
    named_by: str = ""
    whole: tuple[str, str] = ("", "")
    counts_whole: bool = False


def gauge(name: str, unit: str, factor: float = 1, offset: float = 0, **attributes: str) -> Rule:
    """Attributes are written with `_` in place of dots, and `__` in place of an underscore."""
    return Rule(name, unit, Kind.GAUGE, factor, offset, _named(attributes))


def counter(name: str, unit: str, factor: float = 1, **attributes: str) -> Rule:
    """As `gauge`."""
    return Rule(name, unit, Kind.COUNTER, factor, 0, _named(attributes))


def _named(attributes: Mapping[str, str]) -> Attributes:
    return tuple(
        (name.replace("__", "\0").replace("_", ".").replace("\0", "_"), value) for name, value in attributes.items()
    )
