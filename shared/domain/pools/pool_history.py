"""Points of a pool's history: its numbers at the end of each step, and the interruptions within it.

Gaps are those of all histories (shared/domain/history/history.py). Interruptions are counters that only grow. So a
step's number is the difference of two, even if samples in between weren't kept.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import NamedTuple

from shared.domain.core.stamps import from_milliseconds
from shared.domain.history.history import FIRST, Reading, Series, Stored, samples_at
from shared.domain.pools.pool_samples import PoolNumbers, PoolSample


class PoolPoint(NamedTuple):
    """A pool's numbers at `time`, the end of a step; all others None in a gap.

    `interruptions` are those that polls found within the step, None where the number at its start is unknown.
    """

    time: datetime
    as_of: datetime | None = None
    exact: bool | None = None
    numbers: PoolNumbers | None = None
    interruptions: int | None = None


def with_step_before(series: Series) -> Series:
    """Returns the series with one more step, which ends where the first requested one begins."""
    return replace(series, since=series.since - min(series.step, series.since - FIRST))


def pool_points_of(
    series: Series, stored: Stored, recent: Sequence[PoolSample], tolerance: timedelta, read: Reading[PoolSample]
) -> Iterator[PoolPoint]:
    """Yields the points of a series; `stored` and `recent` are those of `with_step_before(series)`."""
    first = series.ends()[:1]
    before: tuple[int, PoolSample | None] | None = None
    for end, sample in samples_at(with_step_before(series), stored, recent, tolerance, read):
        if first and end >= first[0]:
            yield _point(end, sample, before)
        before = end, sample


def _point(end: int, sample: PoolSample | None, before: tuple[int, PoolSample | None] | None) -> PoolPoint:
    time = from_milliseconds(end)
    if sample is None:
        return PoolPoint(time)
    as_of = from_milliseconds(min(end, sample.through))
    return PoolPoint(time, as_of, sample.exact, sample.numbers, _since(sample.numbers, before))


def _since(numbers: PoolNumbers, before: tuple[int, PoolSample | None] | None) -> int | None:
    """Returns the interruptions since the previous end; a counter that began later contains them all."""
    if before is None:
        return None
    begun, earlier = before
    if numbers.counted_since > begun:
        return numbers.interruptions
    if earlier is None or earlier.numbers.counted_since != numbers.counted_since:
        return None
    return numbers.interruptions - earlier.numbers.interruptions
