"""Discovery of jobs: a delta of the job list, sometimes the whole list, and a GET for each missing job.

Absence from a list is only a hint. A job counts as deleted only when a GET answered 404 with JobNotFound. For some
minutes each round repeats that GET, so a wrong answer is corrected after a round.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from operator import itemgetter

from shared.domain.jobs.jobs import COMPLETED, Job, JobFacts
from shared.domain.jobs.snapshots import Agreement
from shared.domain.polling.rounds import Round
from shared.domain.tasks.tasks import VALIDATED_TASKS
from shared.errors import (
    BatchAnswerError,
    BatchMissingError,
    BatchRefusedError,
    BatchThrottledError,
    BatchUnreachableError,
)
from shared.stores.batch.batch import BatchAccount
from shared.stores.jobs.jobs import KnownJobs, anew

_RECHECKS = 50  # sealed jobs per full list
_LOOK_UPS = 100  # per round: after a purge of thousands of jobs, the polls of other jobs mustn't wait for all
_REPEATED = 20  # GETs per round for recently deleted jobs
_LATELY = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Discovery:
    """All known jobs by key in their current state; `changed` are the keys of those that differ from storage.

    `date` is the date of the list's first response, the T0 of the reads that follow. `was_full` means that every job
    was listed or looked up.
    """

    jobs: Mapping[str, Job]
    changed: frozenset[str]
    date: datetime | None
    was_full: bool

    def live(self) -> list[Job]:
        """Returns jobs whose tasks may still change."""
        return [job for job in self.jobs.values() if job.is_live]


async def discover(
    source: BatchAccount,
    found: KnownJobs,
    last: Round | None,
    *,
    full: bool,
    overlap: timedelta,
    horizon: timedelta,
) -> Discovery:
    """Lists jobs and updates each stored job that was `found`, including those with unreadable rows.

    An unreadable row of an unlisted job stays unchanged. Raises BatchError, and then nothing is known.
    """
    known = found.jobs
    since = last.jobs_as_of - overlap if last and last.jobs_as_of and not full else None
    page = await source.fetch_jobs(changed_since=since)
    oldest = page.date - horizon if page.date else None
    jobs = dict(known)
    for facts in page.jobs:
        job = jobs.get(facts.key)
        if job is not None:
            jobs[facts.key] = job.seen(facts)
        elif facts.key in found.unreadable and page.date:
            jobs[facts.key] = anew(found.unreadable[facts.key], facts, page.date)
        elif not _is_past(facts, oldest):
            jobs[facts.key] = Job(facts)
    listed = {facts.key for facts in page.jobs}
    unlisted = [jobs[key] for key in sorted(known) if key not in listed]
    missing = [job for job in unlisted if not job.deleted] if since is None else _deleted_lately(unlisted, page.date)
    told = await _looked_up(source, missing[:_LOOK_UPS], page.date)
    jobs |= {job.key: job for job in told}
    changed = frozenset(key for key, job in jobs.items() if job != known.get(key))
    return Discovery(jobs, changed, page.date, was_full=since is None and len(told) == len(missing))


def _deleted_lately(jobs: Iterable[Job], date: datetime | None) -> list[Job]:
    """Returns the latest of the jobs found deleted in the last minutes before `date`."""
    dated = [(job.deleted_at, job) for job in jobs if job.deleted_at and date and date - job.deleted_at <= _LATELY]
    return [job for _, job in sorted(dated, key=itemgetter(0), reverse=True)[:_REPEATED]]


def _is_past(facts: JobFacts, oldest: datetime | None) -> bool:
    return facts.state == COMPLETED and oldest is not None and facts.state_transition_time < oldest


async def _looked_up(source: BatchAccount, missing: list[Job], date: datetime | None) -> list[Job]:
    """Returns unlisted jobs after a GET each, until the service throttles or fails."""
    found: list[Job] = []
    for job in missing:
        try:
            found.append(await _look_up(source, job, date))
        except (BatchThrottledError, BatchUnreachableError):
            break
    return found


async def _look_up(source: BatchAccount, job: Job, date: datetime | None) -> Job:
    try:
        return job.seen(await source.fetch_job(job.facts.id))
    except BatchMissingError:
        return job if job.deleted else job.gone(date or job.facts.state_transition_time)
    except (BatchAnswerError, BatchRefusedError):  # a failed look-up of one job doesn't affect others
        return job


async def recheck_sealed(source: BatchAccount, found: Discovery) -> Discovery:
    """Compares some sealed jobs with Get Task Counts, the longest unchecked first, as their tasks may be deleted.

    A job that differs is polled again. Raises BatchThrottledError.
    """
    finalized = [job for job in found.jobs.values() if job.finalized and not job.deleted]
    checked: dict[str, Job] = {}
    for job in sorted(finalized, key=_agreed_order)[:_RECHECKS]:
        with suppress(BatchAnswerError, BatchMissingError, BatchRefusedError, BatchUnreachableError):
            checked[job.key] = await _rechecked(source, job)
    return replace(found, jobs={**found.jobs, **checked}, changed=found.changed | checked.keys())


async def _rechecked(source: BatchAccount, job: Job) -> Job:
    snapshot = job.snapshot
    if snapshot is None or snapshot.counts.total > VALIDATED_TASKS:
        return job
    counts, date = await source.fetch_task_counts(job.facts.id)
    if counts.as_service_counts() != snapshot.counts.as_service_counts():
        return job.unsealed()
    return replace(
        job, snapshot=replace(snapshot, agreement=Agreement(date or snapshot.agreement.at, as_of=snapshot.as_of))
    )


def _agreed_order(job: Job) -> tuple[float, str]:
    at = job.snapshot.agreement.at if job.snapshot else None
    return (at.timestamp() if at else 0.0, job.key)
