"""What is kept of a series: a minute's values in five numbers, which add up to those of an hour.

Rollups merge in any order and grouping to the same one, sums of fractions to rounding.
"""

from collections.abc import Iterable, Mapping

import msgspec

from shared.domain.telemetry.catalog.series import Series

MINUTE = 60_000_000_000  # nanoseconds
MINUTES_AN_HOUR = 60


class Rollup(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """Of a gauge: how many values, the smallest, the largest, their sum, and the last with its time.

    Of a counter: how many steps from one reading to the next, the slowest and the fastest growth a second, the growth
    itself as the sum, and the growth a second of the last step. A step counts in the minute in which it ends.
    `last_at` is in nanoseconds since 1970.
    """

    count: int
    min: float
    max: float
    sum: float
    last: float
    last_at: int

    def merged(self, other: "Rollup") -> "Rollup":
        """Both together; of two last values at the same time the larger one counts as last."""
        last_at, last = max((self.last_at, self.last), (other.last_at, other.last))
        return Rollup(
            self.count + other.count, min(self.min, other.min), max(self.max, other.max), self.sum + other.sum,
            last, last_at,
        )  # fmt: skip


type Rollups = dict[Series, dict[int, Rollup]]
"""By series, and by minute or hour since 1970."""


def add(periods: dict[int, Rollup], period: int, rollup: Rollup) -> None:
    """Merges one into those of a series."""
    before = periods.get(period)
    periods[period] = before.merged(rollup) if before else rollup


def merged(parts: Iterable[Mapping[Series, Mapping[int, Rollup]]]) -> Rollups:
    """All together."""
    found: Rollups = {}
    for part in parts:
        merge(found, part)
    return found


def merge(found: Rollups, part: Mapping[Series, Mapping[int, Rollup]]) -> None:
    """Adds a part to what was found before."""
    for series, periods in part.items():
        together = found.setdefault(series, {})
        for period, rollup in periods.items():
            add(together, period, rollup)


def hours(minutes: Mapping[Series, Mapping[int, Rollup]]) -> Rollups:
    """The rollups of hours since 1970 that minutes since 1970 add up to."""
    found: Rollups = {}
    for series, periods in minutes.items():
        together = found.setdefault(series, {})
        for minute, rollup in periods.items():
            add(together, minute // MINUTES_AN_HOUR, rollup)
    return found
