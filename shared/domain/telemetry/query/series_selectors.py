"""Selectors of a node's series: by name or leading parts of a name, and by attributes."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from shared.domain.telemetry.catalog.catalog import ENDED_ATTEMPTS, instruments
from shared.domain.telemetry.catalog.custom_metrics import STORED, is_custom, metric_of
from shared.domain.telemetry.catalog.series import CUSTOM, Series
from shared.domain.telemetry.query.cpu_total import CORE, TIME, UTILIZATION, is_core, with_cpu_total, without_core
from shared.domain.telemetry.rollups.rollups import Rollups
from shared.errors import HistoryRangeError

_ALL = ("",)


@dataclass(frozen=True, slots=True)
class SeriesSelector:
    """A selector of series: `names` are complete names; an empty attribute value selects series without the attribute.

    `metrics` are the custom metrics selected, by name or leading parts of a name; an empty text selects all.

    CPU utilization may also be computed from that of the cores, or from their CPU time, so the selector reads these,
    too.
    """

    names: tuple[str, ...]
    attributes: Mapping[str, str]
    metrics: tuple[str, ...] = _ALL

    @property
    def to_read(self) -> tuple[str, ...]:
        """Returns the names of all series that the answer needs."""
        return (*self.names, TIME) if UTILIZATION in self.names and TIME not in self.names else self.names

    def of(self, rollups: Rollups) -> Rollups:
        """Returns the selected series."""
        found = with_cpu_total(rollups) if UTILIZATION in self.names else rollups
        return {series: periods for series, periods in found.items() if series.name in self.names and self._has(series)}

    def part_of(self, column: Rollups) -> Rollups:
        """Returns the part of a stored column that `of` needs.

        Where the selector excludes cores, these contribute only the periods that the total lacks.
        """
        if not self.attributes and self.metrics == _ALL:
            return column
        cores = self.attributes.get(CORE) != ""
        found: Rollups = {}
        for series, periods in column.items():
            if not cores and is_core(series) and series.name in (TIME, UTILIZATION):
                whole = without_core(series)
                totals = column.get(whole, {})
                kept = {period: one for period, one in periods.items() if period not in totals}
                if kept and (series.name == TIME or self._has(whole)):
                    found[series] = kept
            elif series.name == TIME or self._has(series):
                found[series] = periods
        return found

    def _has(self, series: Series) -> bool:
        own = dict(series.attributes)
        if is_custom(series) and not any(map(partial(_begins_with, metric_of(series)), self.metrics)):
            return False
        return all(own.get(name, "") == value for name, value in self.attributes.items())


def selector_of(name: str | None, attributes: str | None) -> SeriesSelector:
    """Parses a selector: names separated by commas (None for all), attributes as NAME=VALUE separated by semicolons.

    Raises HistoryRangeError, a sentence.
    """
    parts = name.split(",") if name is not None else [None]
    names = dict.fromkeys(one for part in parts for one in names_of(part))
    metrics = tuple(part.partition(".")[2] if part else "" for part in parts if _is_custom_name(part))
    return SeriesSelector(tuple(names), _attributes_of(attributes) if attributes else {}, metrics)


def names_of(name: str | None) -> tuple[str, ...]:
    """Returns series names that equal `name` or begin with it and a dot; for None all but those of ended attempts.

    Raises HistoryRangeError.
    """
    if name is not None and _is_custom_name(name):
        return tuple(STORED.values())
    found = tuple(known for known in instruments() if _is_selected(known, name))
    if not found:
        raise HistoryRangeError(f"No series is named '{name}', and no group of series.", target="name")
    return found


def _is_selected(known: str, name: str | None) -> bool:
    """Returns whether a name, or None for all, selects a series; those of ended attempts only by their own name."""
    if known.startswith(ENDED_ATTEMPTS) and not f"{name}.".startswith(ENDED_ATTEMPTS):
        return False
    return name is None or known == name or known.startswith(f"{name}.")


def _is_custom_name(name: str | None) -> bool:
    """Returns whether a name, or None for all, selects custom metrics, which may have any names."""
    return name is None or f"{name}.".startswith(CUSTOM)


def _begins_with(name: str, parts: str) -> bool:
    return not parts or name == parts or name.startswith(f"{parts}.")


def _attributes_of(text: str) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for part in text.split(";"):
        name, equals, value = part.partition("=")
        if not name or not equals or name in found:
            raise HistoryRangeError(
                f"'{text}' names no attributes: write NAME=VALUE, several with ; between them, each name once.",
                target="attributes",
            )
        found[name] = value
    return found
