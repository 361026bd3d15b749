"""The largest use of each quota on each of the last days, and when it reaches the limit at that rate."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from shared.domain.quotas.quota_use import QuotaKey, QuotaUse

KEPT_DAYS, MIN_DAYS = 8, 3
_DAY_HOURS = 24
MAX_AHEAD = timedelta(days=365)
"""Later dates aren't estimated."""
type UseByDay = Mapping[int, Mapping[QuotaKey, int]]
"""By day since 1970 (UTC)."""


def with_use(days: UseByDay, use: QuotaUse, day: int) -> dict[int, Mapping[QuotaKey, int]]:
    """Returns the days after one more look at the use, the last eight of them."""
    before = days.get(day, {})
    largest = {key: max(use.of(key), before.get(key, 0)) for key in use.numbers.keys() | before.keys()}
    found = {**days, day: largest}
    return {one: found[one] for one in sorted(found)[-KEPT_DAYS:] if one > day - KEPT_DAYS}


def reached_at(days: UseByDay, key: QuotaKey, *, used: int, limit: int, now: datetime) -> datetime | None:
    """Returns the hour in which use reaches a limit at the rate of the last days.

    None before three days, where it doesn't grow, and where that takes more than a year. A limit that is reached is
    reached now.
    """
    now = now.replace(minute=0, second=0, microsecond=0)
    if used >= limit:
        return now
    if len(days) < MIN_DAYS:
        return None
    points = [(day, numbers.get(key, 0)) for day, numbers in sorted(days.items())]
    mean_day, mean_use = (sum(values) / len(points) for values in zip(*points, strict=True))
    spread = sum((day - mean_day) ** 2 for day, _ in points)
    slope = sum((day - mean_day) * (use - mean_use) for day, use in points) / spread
    if slope <= 0 or (limit - used) / slope > MAX_AHEAD / timedelta(days=1):
        return None
    return now + timedelta(hours=int(_DAY_HOURS * (limit - used) / slope))
