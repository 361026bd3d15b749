"""Clipping of a blob's samples to a task's run: an agent continues to write to its blob until the next task begins."""

from collections.abc import Mapping
from datetime import datetime

from shared.domain.core.stamps import to_milliseconds
from shared.domain.telemetry.catalog.series import Series
from shared.domain.telemetry.rollups.rollups import MINUTE, Rollup, Rollups

_NANOSECONDS = 1_000_000


def clipped(
    minutes: Mapping[Series, Mapping[int, Rollup]], *, start: datetime | None = None, end: datetime | None = None
) -> Rollups:
    """Returns the minutes since 1970 that overlap a task's run; None is no bound.

    Minutes in which the run starts or ends are returned whole, as their samples can't be separated.
    """
    first = to_milliseconds(start) * _NANOSECONDS // MINUTE if start else None
    last = -(-to_milliseconds(end) * _NANOSECONDS // MINUTE) if end else None
    return {
        series: {
            minute: rollup
            for minute, rollup in periods.items()
            if (first is None or minute >= first) and (last is None or minute < last)
        }
        for series, periods in minutes.items()
    }
