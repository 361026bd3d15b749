"""Which of a node's series are asked for: by their names, or the first parts of these, and by their attributes."""

from collections.abc import Mapping
from dataclasses import dataclass

from shared.domain.telemetry.catalog import INSTRUMENTS
from shared.domain.telemetry.rollups import Rollups
from shared.domain.telemetry.series import Series
from shared.errors import HistoryRangeError


@dataclass(frozen=True, slots=True)
class Choice:
    """`names` are whole ones; of `attributes` an empty value stands for series that don't have it."""

    names: tuple[str, ...]
    attributes: Mapping[str, str]

    def of(self, rollups: Rollups) -> Rollups:
        """Those of the series that are asked for."""
        return {series: periods for series, periods in rollups.items() if self._has(series)}

    def _has(self, series: Series) -> bool:
        told = dict(series.attributes)
        return all(told.get(name, "") == value for name, value in self.attributes.items())


def choice_of(name: str | None, attributes: str | None) -> Choice:
    """As people write them: names with commas between them, None for all; NAME=VALUE with semicolons between them.

    Raises HistoryRangeError, a sentence.
    """
    names = (
        names_of(None)
        if name is None
        else tuple(dict.fromkeys(one for part in name.split(",") for one in names_of(part)))
    )
    return Choice(names, _attributes_of(attributes) if attributes else {})


def names_of(name: str | None) -> tuple[str, ...]:
    """Names of series that are `name` or begin with it and a dot; all, for None. Raises HistoryRangeError."""
    found = tuple(known for known in INSTRUMENTS if name is None or known == name or known.startswith(f"{name}."))
    if not found:
        raise HistoryRangeError(f"No series is named '{name}', and no group of series.", target="name")
    return found


def _attributes_of(text: str) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for part in text.split(";"):
        name, equals, value = part.partition("=")
        if not name or not equals or name in found:
            raise HistoryRangeError(
                f"'{text}' doesn't tell attributes: write NAME=VALUE, several with ; between them, each name once.",
                target="attributes",
            )
        found[name] = value
    return found
