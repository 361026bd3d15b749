"""Rollups: a minute's values of a series as five numbers, which merge into those of an hour.

Rollups merge in any order and grouping with the same result, up to rounding of fractional sums.
"""

from collections.abc import Iterable, Mapping

import msgspec

from shared.domain.telemetry.catalog.series import Series

MINUTE = 60_000_000_000  # nanoseconds
MINUTES_AN_HOUR = 60


class Rollup(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """Values of a series in a period; `last_at` is in nanoseconds since 1970.

    Of a gauge: the number of values, minimum, maximum, sum, and the last value. Of a counter: the number of steps
    between readings, the slowest and the fastest growth per second, the growth as the sum, and the growth per second of
    the last step. A step counts in the minute in which it ends.
    """

    count: int
    min: float
    max: float
    sum: float
    last: float
    last_at: int

    def merged(self, other: "Rollup") -> "Rollup":
        """Returns both merged; of two last values at the same time the larger one is last."""
        last_at, last = max((self.last_at, self.last), (other.last_at, other.last))
        return Rollup(
            self.count + other.count, min(self.min, other.min), max(self.max, other.max), self.sum + other.sum,
            last, last_at,
        )  # fmt: skip


type Rollups = dict[Series, dict[int, Rollup]]
"""Rollups by series, and by minute or hour since 1970."""


def add(periods: dict[int, Rollup], period: int, rollup: Rollup) -> None:
    """Merges a rollup into a period of a series."""
    before = periods.get(period)
    periods[period] = before.merged(rollup) if before else rollup


def merged(parts: Iterable[Mapping[Series, Mapping[int, Rollup]]]) -> Rollups:
    """Returns all parts merged."""
    found: Rollups = {}
    for part in parts:
        merge(found, part)
    return found


def merge(found: Rollups, part: Mapping[Series, Mapping[int, Rollup]], fold: int = 1) -> int:
    """Merges a part into `found`, by the first of `fold` periods; returns the number of new periods of series."""
    more = 0
    for series, periods in part.items():
        together = found.setdefault(series, {})
        before = len(together)
        for period, rollup in periods.items():
            add(together, period // fold * fold, rollup)
        more += len(together) - before
    return more


def hours_of(minutes: Mapping[Series, Mapping[int, Rollup]]) -> Rollups:
    """Returns hours since 1970, merged from minutes since 1970."""
    found: Rollups = {}
    for series, periods in minutes.items():
        together = found.setdefault(series, {})
        for minute, rollup in periods.items():
            add(together, minute // MINUTES_AN_HOUR, rollup)
    return found
