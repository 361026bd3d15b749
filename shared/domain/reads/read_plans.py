"""What is left of a read that takes several function calls: it is stored, so that any process can go on with it."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from shared.domain.reads.id_ranges import IdRange

_LINKS_LAST = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class ReadPlan:
    """A read into a generation.

    `begun_at` is the T0 that it began with, `as_of` that of the list under way, which asks for changes `since` then, or
    for all tasks (None). `ranges` are those not listed to their ends; `tasks` is how many were taken in so far, of
    about `expected`; `newest` is the date of the last page received.
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
        """True where nothing was received for so long that its next links may not be good any more."""
        return now is not None and now - (self.newest or self.as_of) >= _LINKS_LAST

    def leads(self, as_of: datetime) -> bool:
        """True where it lists changes that counts as of then lack; False once a poll was faster, or for all tasks."""
        return self.since is not None and self.as_of > as_of

    def catching_up(self, overlap: timedelta) -> "ReadPlan":
        """The list of what changed since this one was asked for, once this one was received."""
        later = max(self.as_of, self.newest or self.as_of)
        return replace(self, since=self.as_of - overlap, as_of=later, ranges=(IdRange(),), tasks=0)


@dataclass(frozen=True, slots=True)
class Progress:
    """How many tasks a first read has taken in, of about how many.

    Once all were listed it goes on with those that changed meanwhile: `expected` is None then, nobody knows how many.
    """

    tasks: int
    expected: int | None
