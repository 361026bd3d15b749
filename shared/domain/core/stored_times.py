"""Times that hosts leave each other in storage, and what one that lies in the future is worth.

Hosts go by one clock (`shared/clock.py`). Should one have written without it, its word counts as not being there, so
that others work once too often rather than not at all.
"""

from datetime import datetime, timedelta

_APART = timedelta(minutes=1)  # clocks that go by the same dates, and answers that took their time


def is_over(began: datetime, lasts: timedelta, now: datetime) -> bool:
    """True when `lasts` has passed since something `began`, or that can't have been."""
    return now >= began + lasts or _is_ahead(began, now)


def is_until(until: datetime, most: timedelta, now: datetime) -> bool:
    """True before `until`, which is `most` away from when it was written at most; never where it is further away."""
    return now < until and not _is_ahead(until - most, now)


def _is_ahead(moment: datetime, now: datetime) -> bool:
    """True where nobody whose clock is right can have written that it is that late."""
    return moment > now + _APART
