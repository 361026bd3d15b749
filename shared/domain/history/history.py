"""Points of a history: which are asked for, and what is known as of each.

A point speaks of the end of its step. It is the last sample there was by then, if that held until then or not much
longer ago than one step or three polls; else it is a gap, as nobody looked. A sample that can't be read is a gap, too.
Nothing is made up between samples.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from shared.domain.core.stamps import format_stamp, from_milliseconds, to_milliseconds
from shared.domain.history.grains import MINUTES, QUARTERS, Grain, Held, HistoryRetention
from shared.domain.history.samples import Sample
from shared.domain.tasks.tasks import TaskCounts
from shared.errors import HistoryRangeError

MOST_POINTS = 5_000
_POINTS = 500  # at most, where nobody says how long a step is
FIRST, _LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
_DAY = timedelta(days=1)
_MILLISECOND = timedelta(milliseconds=1)
_MINUTE = timedelta(minutes=1)
_QUARTER = timedelta(minutes=15)
_LADDER = tuple(
    timedelta(minutes=minutes) for minutes in (1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 10080, 43200)
)
_POLLS = 3  # that may be missed


class Point(NamedTuple):
    """What is known of a job at `time`, the end of a step: its counts as of then, all None in a gap.

    `exact` is True where Get Task Counts agreed with these very counts as of then or later.
    """

    time: datetime
    as_of: datetime | None = None
    exact: bool | None = None
    counts: TaskCounts | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """The points asked for: the ends of steps after `since` up to `until`, and not after `now`.

    Steps end at whole multiples of their length since 1970.
    """

    since: datetime
    until: datetime
    step: timedelta
    now: datetime

    @property
    def grain(self) -> Grain:
        """The rows that have an answer for every point."""
        return MINUTES if self.step % _QUARTER else QUARTERS

    def ends(self) -> range:
        """When the steps end, in milliseconds since 1970."""
        step = self.step // _MILLISECOND
        first, last = to_milliseconds(self.since), to_milliseconds(min(self.until, self.now))
        return range((first // step + 1) * step, (last // step) * step + 1, step)

    def tolerance(self, interval: timedelta) -> timedelta:
        """How long a sample stands in for what wasn't polled, of an account polled every `interval`."""
        return max(self.step, _POLLS * interval)

    def rows(self, tolerance: timedelta) -> tuple[str, str] | None:
        """The keys of the first and the last row that matter; None where no point is asked for."""
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
    """The series that a client asks for; what it leaves open is the last day in at most 500 points.

    Raises HistoryRangeError, a sentence.
    """
    until = _told(until) if until else now
    since = _told(since) if since else until - min(_DAY, until - FIRST)
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
    if len(series.ends()) > MOST_POINTS:
        raise HistoryRangeError(
            f"That would be {len(series.ends()):,} points, and {MOST_POINTS:,} are the most: take a longer step.",
            target="step",
        )
    return series


def _told(moment: datetime) -> datetime:
    """The same in UTC, where the zone of a time at the very ends of the calendar may not let it be told."""
    return from_milliseconds(min(max(to_milliseconds(moment), to_milliseconds(FIRST)), to_milliseconds(_LAST)))


def _coarse_enough(since: datetime, until: datetime, now: datetime, *, has_minutes: bool) -> Series:
    steps = [step for step in _LADDER if has_minutes or not step % _QUARTER]
    found = (series for step in steps if len((series := Series(since, until, step, now)).ends()) <= _POINTS)
    longest = Series(since, until, _LADDER[-1], now)
    return next(found, None) or replace(longest, step=longest.step * -(-len(longest.ends()) // _POINTS))


type Stored = Sequence[tuple[int, str]]
type Reading[S] = Callable[[int, str], S | None]
"""What stands in a slot, by its number and text; None where that can't be read."""


def points_of(
    series: Series, stored: Stored, recent: Sequence[Sample], tolerance: timedelta, read: Reading[Sample]
) -> Iterator[Point]:
    """The points of a series; see `samples_at`."""
    lag = tolerance // _MILLISECOND
    for end, sample in samples_at(series, stored, recent, tolerance, read):
        yield _point(end, sample, lag)


def samples_at[S: Held](
    series: Series, stored: Stored, recent: Sequence[S], tolerance: timedelta, read: Reading[S]
) -> Iterator[tuple[int, S | None]]:
    """The last sample there was by the end of each step, None where it didn't hold that long.

    `stored` are slots of the series' grain and what stands in them, in order; `recent` are the samples that came after
    those, the latest first.
    """
    slots, slot_of = [slot for slot, _ in stored], series.grain.slot
    lag = tolerance // _MILLISECOND
    for end in series.ends():
        sample = None
        if recent and recent[-1].at <= end:
            sample = next(sample for sample in recent if sample.at <= end)
        elif place := bisect_right(slots, slot_of(end)):
            sample = read(*stored[place - 1])
        yield end, sample if sample and sample.through >= end - lag else None


def _point(end: int, sample: Sample | None, lag: int) -> Point:
    """Counts that wait for being confirmed once more are told as of when they were, as in the verdict on a job."""
    time = from_milliseconds(end)
    if sample is None:
        return Point(time)
    confirmed = None if sample.exact_through is None else min(end, sample.exact_through)
    if confirmed is not None and confirmed >= (end if sample.doubted else end - lag):
        return Point(time, from_milliseconds(confirmed), exact=True, counts=sample.counts)
    return Point(time, from_milliseconds(min(end, sample.through)), exact=False, counts=sample.counts)
