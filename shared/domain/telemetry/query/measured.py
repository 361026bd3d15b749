"""Minutes and hours of a node side by side: which of them an answer shows where both are stored.

A roll-up that is under way, or a blob that was read later than others, leaves both of one hour.
"""

from dataclasses import dataclass

from shared.domain.telemetry.rollups.rollups import MINUTES_AN_HOUR, Rollups, hours, merge, merged


@dataclass(frozen=True, slots=True)
class Measured:
    """What is stored of a node: minutes since 1970, and hours since 1970 where these are all that is left.

    An hour of which any part is in hours is hourly for all series, whatever minutes are stored of it.
    """

    minutes: Rollups
    hours: Rollups

    @property
    def hourly(self) -> frozenset[int]:
        return frozenset(hour for hours in self.hours.values() for hour in hours)

    @property
    def is_hourly(self) -> bool:
        """Whether it is nothing but hours."""
        return bool(self.hours) and not any(self.fine.values())

    def add(self, other: "Measured") -> None:
        """Adds what is stored in another place."""
        merge(self.minutes, other.minutes)
        merge(self.hours, other.hours)

    @property
    def fine(self) -> Rollups:
        """Minutes of hours that aren't hourly."""
        hourly = self.hourly
        return {
            series: {minute: one for minute, one in minutes.items() if minute // MINUTES_AN_HOUR not in hourly}
            for series, minutes in self.minutes.items()
        }

    @property
    def coarse(self) -> Rollups:
        """The hours that are hourly, with their minutes."""
        hourly = self.hourly
        rest = {
            series: {minute: one for minute, one in minutes.items() if minute // MINUTES_AN_HOUR in hourly}
            for series, minutes in self.minutes.items()
        }
        return merged((self.hours, hours(rest)))
