"""The dependencies of a job's waiting tasks as they were read last, and for how long they count."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from shared.domain.dependencies.dependencies import Dependencies

_HOLDS = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class StoredDependencies:
    """Dependencies as of the job's counts then."""

    as_of: datetime
    dependencies: Dependencies

    def holds(self, *, moved_at: datetime, as_of: datetime) -> bool:
        """Returns whether they still count for tasks that last moved at `moved_at`, and whose counts are as of `as_of`.

        They do while no task has moved since, and for five minutes in any case.
        """
        return moved_at <= self.as_of or as_of - self.as_of <= _HOLDS
