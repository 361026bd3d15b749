"""A check that the tasks of a read belong to the job with the known facts.

A job can be deleted and re-created between any two requests, and a task list doesn't identify its job. Tasks of the new
job were created after the last moment at which the old one certainly existed. So only such tasks require a GET of the
job.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from shared.domain.core.stamps import to_milliseconds
from shared.domain.jobs.jobs import Job, JobFacts
from shared.domain.tasks.tasks import Task
from shared.errors import CacheConflictError
from shared.stores.batch.batch import BatchAccount


class RecreatedError(CacheConflictError):
    """Another job has the id now, with these `facts`; the tasks that were read may belong to either job."""

    def __init__(self, facts: JobFacts) -> None:
        super().__init__(f"The job '{facts.id}' was re-created while it was read.")
        self.facts = facts


@dataclass(frozen=True, slots=True)
class Incarnation:
    """A job from its creation to its deletion; it existed at `known_until`."""

    source: BatchAccount
    job: Job
    known_until: datetime

    async def confirm(self, received: Sequence[Task]) -> None:
        """Checks tasks before they are folded in. Raises RecreatedError, BatchError."""
        known_until = to_milliseconds(self.known_until)
        if any(task.creation >= known_until for task in received):
            await refuse_another(self.source, self.job)


async def refuse_another(source: BatchAccount, job: Job) -> None:
    """Raises RecreatedError if another job has the id now, BatchError.

    The comparison of counts misses that if both jobs have equal counts.
    """
    facts = await source.fetch_job(job.facts.id)
    if facts.creation_time != job.facts.creation_time:
        raise RecreatedError(facts)
