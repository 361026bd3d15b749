"""Metrics that the catalog doesn't know: a training's loss, counts of an application, exporters of any kind.

All of them share two stored series names, as a row has a column for each name and may hold only some hundred. The
metric's own name and unit are attributes of the stored series; answers show them as `custom.NAME` and as the unit.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from shared.domain.telemetry.catalog.series import CUSTOM, Attributes, Kind, ReadingKind, Rule, Series

NAME, UNIT = "__name__", "__unit__"
"""Attributes of a stored series; UNIT is also the tag by which a decoder passes on the unit of a record."""
STORED: Mapping[Kind, str] = {kind: f"{CUSTOM}{kind}" for kind in Kind}
VALUE = "value"
SINGLE = frozenset((VALUE, "gauge", "counter", "delta"))
"""Names of fields that add nothing to the name of their measurement; the last two also state that it is a counter."""
_READINGS = {"counter": ReadingKind.TOTAL, "delta": ReadingKind.DELTA}
_UNITS = (
    ("seconds", "s"), ("milliseconds", "ms"), ("bytes", "By"), ("celsius", "Cel"), ("ratio", "1"), ("percent", "%"),
    ("joules", "J"), ("watts", "W"), ("volts", "V"), ("amperes", "A"), ("hertz", "Hz"), ("meters", "m"), ("grams", "g"),
)  # fmt: skip

_ENDS = re.compile(r"_total$|[_.]sum$")
"""Ends of names that have the unit of what they end: of counters, and of the sum of a distribution."""


class ShownName(NamedTuple):
    """A series as answers show it."""

    name: str
    attributes: Attributes
    unit: str


def custom_rule(metric: str, field: str, unit: str) -> Rule:
    """Returns the rule of a metric's field, whose unit follows from the name where none is given."""
    reading = _READINGS.get(field)
    kind = Kind.COUNTER if reading else Kind.GAUGE
    attributes = ((NAME, metric), (UNIT, unit or unit_of(metric)))
    return Rule(STORED[kind], "", kind, attributes=attributes, reading=reading or ReadingKind.TOTAL)


def unit_of(metric: str) -> str:
    """Returns the UCUM unit at the end of a name, as Prometheus recommends to write it; empty if there is none."""
    word = _ENDS.sub("", metric).rpartition("_")[2]
    return next((unit for name, unit in _UNITS if word == name), "")


def is_custom(series: Series) -> bool:
    return series.name in STORED.values()


def metric_of(series: Series) -> str:
    """Returns the name of a custom series' metric."""
    return dict(series.attributes).get(NAME, "")


def shown_name(series: Series, unit: str) -> ShownName:
    """Returns a series as answers show it; `unit` is that of its stored name."""
    if not is_custom(series):
        return ShownName(series.name, series.attributes, unit)
    own = dict(series.attributes)
    name, unit = own.pop(NAME, ""), own.pop(UNIT, "")
    return ShownName(f"{CUSTOM}{name}", tuple(own.items()), unit)
