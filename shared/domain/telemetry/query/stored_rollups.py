"""Stored minutes and hours of a node, and the choice between them for hours that have both.

Both exist for one hour while a rollup to hours is in progress, or where a blob was read later than others.
"""

from dataclasses import dataclass

from shared.domain.telemetry.rollups.rollups import MINUTES_AN_HOUR, Rollups, hours, merge, merged


@dataclass(frozen=True, slots=True)
class StoredRollups:
    """A node's stored rollups: by minute since 1970, and by hour since 1970 where minutes are no longer kept.

    An hour with any hourly rollup is hourly for all series, whichever minutes of it are stored.
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
        hourly = self.hourly
        return {
            series: {minute: one for minute, one in minutes.items() if minute // MINUTES_AN_HOUR not in hourly}
            for series, minutes in self.minutes.items()
        }

    @property
    def coarse(self) -> Rollups:
        """Returns the hourly hours, merged with their minutes."""
        hourly = self.hourly
        rest = {
            series: {minute: one for minute, one in minutes.items() if minute // MINUTES_AN_HOUR in hourly}
            for series, minutes in self.minutes.items()
        }
        return merged((self.hours, hours(rest)))
