"""Whether the tasks that a read shows belong to the job whose facts they are to stand beside.

A job can be deleted and created anew between any two requests, and no list of tasks says whose they are. Tasks of the
job that came later are all younger than the last moment at which the one before was surely there: only where such
young ones come is the job asked for.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from shared.domain.core.stamps import to_milliseconds
from shared.domain.jobs.jobs import Job
from shared.domain.tasks.tasks import Task
from shared.errors import RecreatedError
from shared.stores.batch.batch import BatchAccount


@dataclass(frozen=True, slots=True)
class Incarnation:
    """A job from its creation to its deletion; it was there at `known_until`."""

    source: BatchAccount
    job: Job
    known_until: datetime

    async def confirm(self, received: Sequence[Task]) -> None:
        """Before tasks are taken in. Raises RecreatedError, BatchError."""
        known_until = to_milliseconds(self.known_until)
        if any(task.creation >= known_until for task in received):
            await refuse_another(self.source, self.job)


async def refuse_another(source: BatchAccount, job: Job) -> None:
    """Raises RecreatedError where another job has the id now, BatchError.

    Counts wouldn't tell where both have as many tasks in each state.
    """
    facts = await source.fetch_job(job.facts.id)
    if facts.creation_time != job.facts.creation_time:
        raise RecreatedError(facts)
