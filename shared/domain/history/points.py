"""Points of a history: the requested times, and the known numbers at each.

A point describes the end of its step. It is the last sample by then, if that held until then or until at most one step
or three polls before. Otherwise it is a gap, because nothing was polled; so is an unreadable sample. Nothing is
interpolated.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from shared.domain.core.stamps import format_stamp, from_milliseconds, to_milliseconds
from shared.domain.history.grains import MINUTES, QUARTERS, Grain, HistoryRetention, HistorySample
from shared.domain.history.samples import Increase
from shared.errors import HistoryRangeError

MAX_POINTS = 5_000
_POINTS = 500  # at most, where the request has no step
_FIRST, _LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
_DAY = timedelta(days=1)
_MILLISECOND = timedelta(milliseconds=1)
_MINUTE = timedelta(minutes=1)
_QUARTER = timedelta(minutes=15)
_LADDER = tuple(
    timedelta(minutes=minutes) for minutes in (1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 10080, 43200)
)
_POLLS = 3  # that may be missed


class Point[N](NamedTuple):
    """A resource's numbers at `time`, the end of a step; all others None in a gap.

    `exact` is True where nothing contradicts these numbers, or a confirmation as of then or later agreed with them.
    `increase` is that of their counter within the step, None without one, or where the number at its start is unknown.
    """

    time: datetime
    as_of: datetime | None = None
    exact: bool | None = None
    numbers: N | None = None
    increase: int | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """The requested points: the ends of steps after `since` up to `until`, and not after `now`.

    Steps end at whole multiples of their length since 1970.
    """

    since: datetime
    until: datetime
    step: timedelta
    now: datetime

    @property
    def grain(self) -> Grain:
        """The rows that cover every point."""
        return MINUTES if self.step % _QUARTER else QUARTERS

    def ends(self) -> range:
        """Returns the ends of the steps in milliseconds since 1970."""
        step = self.step // _MILLISECOND
        first, last = to_milliseconds(self.since), to_milliseconds(min(self.until, self.now))
        return range((first // step + 1) * step, (last // step) * step + 1, step)

    def with_step_before(self) -> "Series":
        """Returns the series with one more step, which ends where the first requested one begins."""
        return replace(self, since=self.since - min(self.step, self.since - _FIRST))

    def tolerance(self, interval: timedelta) -> timedelta:
        """Returns how long a sample stands in for missing polls of an account that is polled every `interval`."""
        return max(self.step, _POLLS * interval)

    def rows(self, tolerance: timedelta) -> tuple[str, str] | None:
        """Returns the keys of the first and last row needed, None where no point is requested."""
        ends, grain = self.ends(), self.grain
        if not ends:
            return None
        earliest = ends[0] - tolerance // _MILLISECOND
        return grain.row(grain.slot(earliest)), grain.row(grain.slot(ends[-1]))


def series_of(
    since: datetime | None,
    until: datetime | None,
    step: timedelta | None,
    *,
    now: datetime,
    retention: HistoryRetention,
) -> Series:
    """Returns the series that a client requests, by default the last day in at most 500 points.

    Raises HistoryRangeError with a sentence.
    """
    until = _clamped(until) if until else now
    since = _clamped(since) if since else until - min(_DAY, until - _FIRST)
    if since > until:
        raise HistoryRangeError(
            f"The range begins at {format_stamp(since)}, after it ends at {format_stamp(until)}.", target="from"
        )
    has_minutes = to_milliseconds(since) >= retention.oldest(MINUTES, to_milliseconds(now))
    if step is None:
        return _coarse_enough(since, until, now, has_minutes=has_minutes)
    if step < _MINUTE or step % _MINUTE:
        raise HistoryRangeError("A step is a whole number of minutes, like PT1M or PT15M.", target="step")
    if step % _QUARTER and not has_minutes:
        raise HistoryRangeError(
            f"Minutes are kept for {retention.minutes / _DAY:g} days: a range that begins earlier takes a step of "
            "PT15M or a multiple of it.",
            target="step",
        )
    series = Series(since, until, step, now)
    if len(series.ends()) > MAX_POINTS:
        raise HistoryRangeError(
            f"That would be {len(series.ends()):,} points, and {MAX_POINTS:,} are the most: take a longer step.",
            target="step",
        )
    return series


def _clamped(moment: datetime) -> datetime:
    """Returns the time in UTC, clamped to the calendar, whose ends some time zones would exceed."""
    return from_milliseconds(min(max(to_milliseconds(moment), to_milliseconds(_FIRST)), to_milliseconds(_LAST)))


def _coarse_enough(since: datetime, until: datetime, now: datetime, *, has_minutes: bool) -> Series:
    steps = [step for step in _LADDER if has_minutes or not step % _QUARTER]
    found = (series for step in steps if len((series := Series(since, until, step, now)).ends()) <= _POINTS)
    longest = Series(since, until, _LADDER[-1], now)
    return next(found, None) or replace(longest, step=longest.step * -(-len(longest.ends()) // _POINTS))


type Stored = Sequence[tuple[int, str]]
type Reading[N] = Callable[[int, str], HistorySample[N] | None]
"""Decodes a slot's number and text to its sample; None where it is unreadable."""


def points_of[N](
    series: Series,
    stored: Stored,
    recent: Sequence[HistorySample[N]],
    tolerance: timedelta,
    read: Reading[N],
    *,
    increase: Increase[N] | None = None,
) -> Iterator[Point[N]]:
    """Yields the points of a series.

    `stored` are slots of the series' grain with their texts, in order; `recent` are the samples after those, the latest
    first. Where there is an `increase`, both are those of `series.with_step_before()`.
    """
    first, lag = series.ends()[:1], tolerance // _MILLISECOND
    wanted = series.with_step_before() if increase else series
    before: tuple[int, N | None] | None = None
    for end, sample in _samples_at(wanted, stored, recent, lag, read):
        if first and end >= first[0]:
            known = increase(sample.numbers, *before) if increase and sample and before else None
            yield _point(end, sample, lag, known)
        before = end, sample.numbers if sample else None


def _samples_at[N](
    series: Series, stored: Stored, recent: Sequence[HistorySample[N]], lag: int, read: Reading[N]
) -> Iterator[tuple[int, HistorySample[N] | None]]:
    """Yields the end of each step with the last sample by then, None where it didn't hold that long."""
    slots, slot_of = [slot for slot, _ in stored], series.grain.slot
    for end in series.ends():
        sample = None
        if recent and recent[-1].at <= end:
            sample = next(sample for sample in recent if sample.at <= end)
        elif place := bisect_right(slots, slot_of(end)):
            sample = read(*stored[place - 1])
        yield end, sample if sample and sample.through >= end - lag else None


def _point[N](end: int, sample: HistorySample[N] | None, lag: int, increase: int | None) -> Point[N]:
    time = from_milliseconds(end)
    if sample is None:
        return Point(time)
    as_of, exact = sample.known_at(end, lag)
    return Point(time, from_milliseconds(as_of), exact, sample.numbers, increase)
