"""When a time limit is far too long for what it bounds, and how long a limit would have sufficed."""

from datetime import timedelta

from shared.domain.findings.thresholds import LIMIT_HEADROOM, MIN_LIMIT_EXCESS, MIN_LIMIT_RATIO

_ROUNDED = timedelta(minutes=10)


def ends_in_time(limit: timedelta, took: timedelta) -> bool:
    """Returns whether a limit is less than ten times what it bounds took, or exceeds that by less than an hour."""
    return limit < took * MIN_LIMIT_RATIO or limit - took < MIN_LIMIT_EXCESS


def sufficient_limit(took: timedelta) -> timedelta:
    """Returns twice the time, as the next whole ten minutes, ten at least."""
    return max(-(-took * LIMIT_HEADROOM // _ROUNDED), 1) * _ROUNDED
