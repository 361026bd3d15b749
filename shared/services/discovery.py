"""Which jobs there are: a delta of the job list, now and then the whole list, and a GET where one is missing.

Absence from a list is only a hint. A job counts as deleted when a GET of it answered 404, never otherwise.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from shared.domain.jobs import COMPLETED, Job, JobFacts
from shared.domain.rounds import Round
from shared.errors import BatchAnswerError, BatchMissingError, BatchRefusedError
from shared.stores.batch import BatchAccount


@dataclass(frozen=True, slots=True)
class Discovery:
    """Jobs by key: all that are known, as they are now; `changed` are the keys that differ from what is stored.

    `date` is that of the list's first response: the T0 of the reads that follow it.
    """

    jobs: Mapping[str, Job]
    changed: frozenset[str]
    date: datetime | None
    was_full: bool

    def live(self) -> list[Job]:
        """Jobs whose tasks may still change."""
        return [job for job in self.jobs.values() if not job.deleted and not job.sealed]


async def discover(
    source: BatchAccount,
    known: Mapping[str, Job],
    last: Round | None,
    *,
    full: bool,
    overlap: timedelta,
    horizon: timedelta,
) -> Discovery:
    """Lists jobs and works out what became of each. Raises BatchError, and then nothing is known."""
    since = last.jobs_as_of - overlap if last and last.jobs_as_of and not full else None
    page = await source.fetch_jobs(changed_since=since)
    oldest = page.date - horizon if page.date else None
    jobs = dict(known)
    for facts in page.jobs:
        job = jobs.get(facts.key)
        if job is not None:
            jobs[facts.key] = job.seen(facts)
        elif not _is_past(facts, oldest):
            jobs[facts.key] = Job(facts)
    if since is None:
        missing = known.keys() - {facts.key for facts in page.jobs}
        for key in sorted(missing):
            jobs[key] = await _looked_up(source, jobs[key], page.date)
    changed = frozenset(key for key, job in jobs.items() if job != known.get(key))
    return Discovery(jobs, changed, page.date, was_full=since is None)


def _is_past(facts: JobFacts, oldest: datetime | None) -> bool:
    return facts.state == COMPLETED and oldest is not None and facts.state_transition_time < oldest


async def _looked_up(source: BatchAccount, job: Job, date: datetime | None) -> Job:
    if job.deleted:
        return job
    try:
        return job.seen(await source.fetch_job(job.facts.id))
    except BatchMissingError:
        return job.gone(date or job.facts.state_transition_time)
    except (BatchAnswerError, BatchRefusedError):  # one job that can't be looked up spoils nothing else
        return job
