"""Counts of a job's tasks, updated with each state change, and their past values for a lagging Get Task Counts."""

from dataclasses import dataclass, field

from local.batch_emulator.core.lagged_value import LaggedValue

KINDS = ("active", "preparing", "running", "succeeded", "failed")


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


class TaskCounts:
    """A job's counts; `lag` is in ticks. Without a lag no past is stored."""

    def __init__(self) -> None:
        self.counts = Counts()
        self._lagged = LaggedValue[Counts]()

    def move(self, slots: int, *, before: str | None, after: str | None, now: int, lag: int) -> None:
        self._lagged.record(self.counts.copy, now=now, lag=lag)
        for kind, sign in ((before, -1), (after, 1)):
            if kind is not None:
                self.counts.tasks[kind] += sign
                self.counts.slots[kind] += sign * slots

    def lagged(self, now: int, lag: int) -> Counts:
        """Returns the counts from `lag` ago."""
        return self._lagged.read(lambda: self.counts, now=now, lag=lag)
