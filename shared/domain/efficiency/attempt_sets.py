"""Sets of measured runs: those of one job, blob and day (UTC), each under its task and start.

A set doesn't depend on the order or the repetition of what is added. A blob has at most 1,000 sessions, and a session
is of one run, so that a set always fits into a row.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from shared.domain.core.keys import key_of
from shared.domain.efficiency.task_groups import TaskGroups, groups_of
from shared.domain.telemetry.sessions.attempt_records import MeasuredAttempt

DAY = 86_400  # seconds
type RunKey = tuple[str, int]
"""The key of a task, and the start of the run."""
_STORED = list[MeasuredAttempt]


@dataclass(frozen=True, slots=True)
class AttemptSet:
    """Runs by key."""

    runs: Mapping[RunKey, MeasuredAttempt] = field(default_factory=dict)

    def with_runs(self, attempts: Iterable[MeasuredAttempt]) -> "AttemptSet":
        """Returns the set with further runs, the same object where it has all of them."""
        new = {(key_of(one.task), one.start): one for one in attempts}
        if all(self.runs.get(key) == one for key, one in new.items()):
            return self
        return AttemptSet({**self.runs, **new})

    def groups(self, since: int = 0) -> TaskGroups:
        """Returns the groups of its runs that started at `since`, in seconds since 1970, or later."""
        return groups_of(one for one in self.runs.values() if one.start >= since)

    def plain(self) -> list[list[Any]]:
        """Returns lists, for storage; equal sets have equal ones."""
        return [list(self.runs[key]) for key in sorted(self.runs)]

    @classmethod
    def of_plain(cls, stored: Any) -> "AttemptSet":
        """Returns the inverse of `plain`. Raises ValueError, TypeError."""
        attempts = msgspec.convert(stored, _STORED)
        return cls({(key_of(one.task), one.start): one for one in attempts})


def day_of(attempt: MeasuredAttempt) -> int:
    """Returns the day of a run's start, in days since 1970."""
    return attempt.start // DAY
