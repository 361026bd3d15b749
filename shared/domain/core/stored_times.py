"""Checks of times that hosts store for each other, which may lie in the future.

All hosts use one clock (`shared/clock.py`). A future time, written without it, counts as missing, so that work happens
once too often rather than not at all.
"""

from datetime import datetime, timedelta

_APART = timedelta(minutes=1)  # tolerance: clocks set by the same dates, less the time that responses took


def is_over(began: datetime, lasts: timedelta, now: datetime) -> bool:
    """Returns whether `lasts` has passed since `began`, or `began` lies in the future."""
    return now >= began + lasts or _is_ahead(began, now)


def is_until(until: datetime, most: timedelta, now: datetime) -> bool:
    """Returns whether `until` lies ahead, but no further than `most`, the longest span that a host writes."""
    return now < until and not _is_ahead(until - most, now)


def _is_ahead(moment: datetime, now: datetime) -> bool:
    """Returns whether `moment` is later than any host with a correct clock can have written."""
    return moment > now + _APART
