"""The stored remainder of a read that takes several function calls, from which any process can continue."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from shared.domain.reads.id_ranges import IdRange

_LINKS_LAST = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class ReadPlan:
    """A read into a generation.

    `begun_at` is the T0 of the read, `as_of` that of its current list, which shows changes `since` then or all tasks
    (None). `ranges` are those not fully listed. `tasks` counts the tasks read so far, of about `expected`. `newest` is
    the date of the last page received.
    """

    generation: str
    begun_at: datetime
    as_of: datetime
    since: datetime | None = None
    ranges: tuple[IdRange, ...] = (IdRange(),)
    tasks: int = 0
    expected: int = 0
    newest: datetime | None = None
    etag: str | None = None

    def has_stalled(self, now: datetime | None) -> bool:
        """Returns whether no page was received for so long that the next links may have expired."""
        return now is not None and now - (self.newest or self.as_of) >= _LINKS_LAST

    def leads(self, as_of: datetime) -> bool:
        """Returns whether it lists changes that counts as of then lack; False if it lists all tasks."""
        return self.since is not None and self.as_of > as_of

    def catching_up(self, overlap: timedelta) -> "ReadPlan":
        """Returns the plan for the changes since this list was requested, for use after it was received."""
        later = max(self.as_of, self.newest or self.as_of)
        return replace(self, since=self.as_of - overlap, as_of=later, ranges=(IdRange(),), tasks=0)


@dataclass(frozen=True, slots=True)
class Progress:
    """The number of tasks that a first read has read, and the approximate total.

    After listing all tasks it reads those that changed meanwhile: `expected` is None then, because it is unknown.
    """

    tasks: int
    expected: int | None
