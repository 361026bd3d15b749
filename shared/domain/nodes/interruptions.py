"""Interruptions of spot nodes, of one node or of a pool: in total since a time, and recent ones.

Only observed interruptions count. A restart between two polls that no observed state explains may or may not have been
one. It is counted separately, as the amount by which the number may be too low.
"""

from datetime import timedelta
from typing import NamedTuple

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
SPAN = 300_000  # milliseconds that are counted together
_KEPT = DAY // timedelta(milliseconds=SPAN)


class Interruptions(NamedTuple):
    """Interruptions in `total`, `latest` being the last one's time (milliseconds since 1970, 0 for none).

    `unexplained` are restarts that may have been interruptions. `recent` are numbers by spans of five minutes, counted
    since 1970, oldest first, for the day before the latest.
    """

    total: int = 0
    unexplained: int = 0
    latest: int = 0
    recent: tuple[tuple[int, int], ...] = ()

    def interrupted(self, at: int) -> "Interruptions":
        """Returns the interruptions after one more; the order of additions doesn't matter."""
        numbers = dict(self.recent)
        numbers[at // SPAN] = numbers.get(at // SPAN, 0) + 1
        first = max(numbers) - _KEPT
        recent = tuple((span, numbers[span]) for span in sorted(numbers) if span >= first)
        return self._replace(total=self.total + 1, latest=max(self.latest, at), recent=recent)

    def restarted(self) -> "Interruptions":
        """Returns the interruptions after a restart that no observed state explains."""
        return self._replace(unexplained=self.unexplained + 1)

    def within(self, window: timedelta, now: int) -> int:
        """Returns how many there were since `window` ago, or up to five minutes earlier, as spans aren't divided."""
        first = (now - window // timedelta(milliseconds=1)) // SPAN
        return sum(number for span, number in self.recent if span >= first)


NONE = Interruptions()


class InterruptionCount(NamedTuple):
    """A pool's interruptions `since` a time in milliseconds since 1970, including those of removed nodes."""

    since: int
    interruptions: Interruptions = NONE
