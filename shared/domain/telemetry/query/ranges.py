"""Time ranges of telemetry queries: whole steps of minutes, or of hours where no minutes are kept."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from math import gcd

from shared.domain.core.stamps import format_stamp, from_milliseconds, to_milliseconds
from shared.domain.telemetry.catalog.catalog import instruments
from shared.domain.telemetry.catalog.custom_metrics import shown_name
from shared.domain.telemetry.catalog.series import Attributes, Kind, Series
from shared.domain.telemetry.rollups.rollups import MINUTES_AN_HOUR, Rollup, Rollups, add, hours_of, merge, merged
from shared.errors import HistoryRangeError

MAX_POINTS = 5_000
_POINTS = 500  # at most, for a query without a step
_MINUTE = timedelta(minutes=1)
_HOUR = timedelta(hours=1)
_FIRST = datetime.min.replace(tzinfo=UTC)
_MILLISECONDS = 60_000
_LADDER = (1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720)  # minutes


@dataclass(frozen=True, slots=True)
class StoredRollups:
    """A node's stored rollups: by minute since 1970, and by hour since 1970 where minutes are no longer kept.

    Both exist for one hour while a rollup to hours is in progress, or where a blob was read later than others. An hour
    with any hourly rollup is hourly for all series, whichever minutes of it are stored.
    """

    minutes: Rollups
    hours: Rollups

    @property
    def hourly(self) -> frozenset[int]:
        return frozenset(hour for hours in self.hours.values() for hour in hours)

    @property
    def is_hourly(self) -> bool:
        """Returns whether only hours are stored."""
        return bool(self.hours) and not any(self.fine.values())

    def add(self, other: "StoredRollups") -> None:
        """Adds the rollups of another partition."""
        merge(self.minutes, other.minutes)
        merge(self.hours, other.hours)

    @property
    def fine(self) -> Rollups:
        """Returns the minutes of hours that aren't hourly."""
        return self._minutes(in_hourly=False)

    @property
    def coarse(self) -> Rollups:
        """Returns the hourly hours, merged with their minutes."""
        return merged((self.hours, hours_of(self._minutes(in_hourly=True))))

    def _minutes(self, *, in_hourly: bool) -> Rollups:
        hours = self.hourly
        return {
            series: {
                minute: one for minute, one in minutes.items() if (minute // MINUTES_AN_HOUR in hours) is in_hourly
            }
            for series, minutes in self.minutes.items()
        }


@dataclass(frozen=True, slots=True)
class Range:
    """Steps of `minutes` each that overlap `since` to `until`, aligned to multiples of `minutes` since 1970."""

    since: datetime
    until: datetime
    minutes: int

    @property
    def step(self) -> timedelta:
        return self.minutes * _MINUTE

    @property
    def hours(self) -> tuple[int, int]:
        """Returns the first and last overlapping hour since 1970; the last precedes the first in an empty range."""
        first, last = to_milliseconds(self.since), to_milliseconds(self.until) - 1
        return first // _MILLISECONDS // MINUTES_AN_HOUR, last // _MILLISECONDS // MINUTES_AN_HOUR

    @property
    def fold(self) -> int:
        """Returns how many minutes of an hour may be merged without crossing a step."""
        return gcd(self.minutes, MINUTES_AN_HOUR)

    def in_hours(self) -> "Range":
        """Returns the range with steps of at least an hour."""
        return replace(self, minutes=max(self.minutes, MINUTES_AN_HOUR))

    def is_within(self, hour: int) -> bool:
        """Returns whether an hour since 1970 overlaps the range."""
        return self.since < self.until and self.hours[0] <= hour <= self.hours[1]

    def steps_of(self, measured: StoredRollups) -> Rollups:
        """Returns rollups of steps, by the minute since 1970 in which a step begins.

        Minutes in which the range begins or ends are whole, as their samples can't be separated. Hours are whole, too,
        and count in the step in which they begin, as do minutes that belong to such an hour.
        """
        if self.since >= self.until:
            return {}
        found: Rollups = {}
        first, after = to_milliseconds(self.since) // _MILLISECONDS, -(-to_milliseconds(self.until) // _MILLISECONDS)
        for series, minutes in measured.fine.items():
            for minute, rollup in minutes.items():
                if first <= minute < after:
                    self._add(found, series, minute, rollup)
        for series, periods in measured.coarse.items():
            for hour, rollup in periods.items():
                if self.is_within(hour):
                    self._add(found, series, hour * MINUTES_AN_HOUR, rollup)
        return found

    def hourly_parts(self, measured: StoredRollups) -> list[tuple[datetime, datetime]]:
        """Returns intervals, in order, for which only hours exist: whole hours that overlap the range."""
        within = {hour for hour in measured.hourly if self.is_within(hour)}
        begins, ends = within - {hour + 1 for hour in within}, {hour + 1 for hour in within} - within
        return list(zip(map(_begin_of, sorted(begins)), map(_begin_of, sorted(ends)), strict=True))

    def _add(self, found: Rollups, series: Series, minute: int, rollup: Rollup) -> None:
        add(found.setdefault(series, {}), minute // self.minutes * self.minutes, rollup)


def range_of(
    since: datetime | None, until: datetime | None, step: timedelta | None, *, now: datetime, retention: timedelta
) -> Range:
    """Returns the queried range, by default the last hour in at most 500 points.

    The range begins no earlier than the retention. Raises HistoryRangeError, a sentence.
    """
    until = min(until, now) if until else now
    since = since or until - min(_HOUR, until - _FIRST)
    if since > until:
        raise HistoryRangeError(
            f"The range begins at {format_stamp(since)}, after it ends at {format_stamp(until)}.", target="from"
        )
    oldest = now - retention
    since, until = max(since, oldest), max(until, oldest)
    length = to_milliseconds(until) - to_milliseconds(since)
    if step is None:
        minutes = next((one for one in _LADDER if length <= one * _MILLISECONDS * _POINTS), 1440)
        return Range(since, until, minutes)
    if step < _MINUTE or step % _MINUTE:
        raise HistoryRangeError("A step is a whole number of minutes, like PT1M or PT15M.", target="step")
    points = -(-length // (step // _MINUTE * _MILLISECONDS))
    if points > MAX_POINTS:
        raise HistoryRangeError(
            f"That would be {points:,} points, and {MAX_POINTS:,} are the most: take a longer step.", target="step"
        )
    return Range(since, until, step // _MINUTE)


@dataclass(frozen=True, slots=True)
class Line:
    """A series to draw: its unit (UCUM), and its rollups by the start of their step."""

    name: str
    attributes: Attributes
    unit: str
    is_counter: bool
    points: Sequence[tuple[datetime, Rollup]]


def _begin_of(hour: int) -> datetime:
    return from_milliseconds(hour * MINUTES_AN_HOUR * _MILLISECONDS)


def line_of(series: Series, steps: Mapping[int, Rollup]) -> Line:
    """Returns a series with its steps, which are given by the minute since 1970 in which each begins."""
    points = [(from_milliseconds(minute * _MILLISECONDS), rollup) for minute, rollup in sorted(steps.items())]
    instrument = instruments()[series.name]
    shown = shown_name(series, instrument.unit)
    return Line(*shown, instrument.kind is Kind.COUNTER, points)
