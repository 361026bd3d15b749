"""Counts of a job's tasks, kept as states change, and what the lagging Get Task Counts sees of them."""

from collections import deque
from dataclasses import dataclass, field

from local.batch_emulator.stamps import SECOND

KINDS = ("active", "preparing", "running", "succeeded", "failed")
_GRAIN = SECOND // 20


@dataclass(slots=True)
class Counts:
    """Tasks and their slots by kind."""

    tasks: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))
    slots: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))

    def copy(self) -> "Counts":
        return Counts(dict(self.tasks), dict(self.slots))

    @property
    def unfinished(self) -> int:
        return self.tasks["active"] + self.tasks["preparing"] + self.tasks["running"]


class Tally:
    """`lag` is in ticks. Without one nothing of the past is kept."""

    def __init__(self) -> None:
        self.counts = Counts()
        self._past: deque[tuple[int, Counts]] = deque()

    def move(self, slots: int, *, before: str | None, after: str | None, now: int, lag: int) -> None:
        self._remember(now, lag)
        for kind, sign in ((before, -1), (after, 1)):
            if kind is not None:
                self.counts.tasks[kind] += sign
                self.counts.slots[kind] += sign * slots

    def seen(self, now: int, lag: int) -> Counts:
        """The counts as they were `lag` ago."""
        for until, counts in self._past if lag else ():
            if until > now - lag:
                return counts
        return self.counts

    def _remember(self, now: int, lag: int) -> None:
        if not lag:
            self._past.clear()
            return
        while self._past and self._past[0][0] <= now - lag:
            self._past.popleft()
        if not self._past or self._past[-1][0] < now - _GRAIN:
            self._past.append((now, self.counts.copy()))
