"""How often spot nodes were taken back, of one node or of a pool: in all since a time, and lately.

Only what was seen is counted. A restart between two polls that no state seen explains may have been an interruption
and may not: it is counted apart, so that whoever reads the number knows by how much it may be too low.
"""

from datetime import timedelta
from typing import NamedTuple

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
SPAN = 300_000  # milliseconds that are counted together
_KEPT = DAY // timedelta(milliseconds=SPAN)


class Interruptions(NamedTuple):
    """Interruptions in `total`, `latest` of them at that time (milliseconds since 1970, 0 for none).

    `unexplained` are restarts that may have been some; `recent` are numbers by spans of five minutes, counted since
    1970, the oldest first, of the day before the latest.
    """

    total: int = 0
    unexplained: int = 0
    latest: int = 0
    recent: tuple[tuple[int, int], ...] = ()

    def interrupted(self, at: int) -> "Interruptions":
        """After one more, told in whatever order."""
        numbers = dict(self.recent)
        numbers[at // SPAN] = numbers.get(at // SPAN, 0) + 1
        first = max(numbers) - _KEPT
        recent = tuple((span, numbers[span]) for span in sorted(numbers) if span >= first)
        return self._replace(total=self.total + 1, latest=max(self.latest, at), recent=recent)

    def restarted(self) -> "Interruptions":
        """After a restart that nothing seen explains."""
        return self._replace(unexplained=self.unexplained + 1)

    def within(self, window: timedelta, now: int) -> int:
        """How many there were from `window` ago on, or from up to five minutes earlier: spans aren't divided."""
        first = (now - window // timedelta(milliseconds=1)) // SPAN
        return sum(number for span, number in self.recent if span >= first)


NONE = Interruptions()


class Tally(NamedTuple):
    """A pool's interruptions `since` a time in milliseconds since 1970, those of nodes that are gone included."""

    since: int
    interruptions: Interruptions = NONE
