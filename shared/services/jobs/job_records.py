"""Loads and saves job rows for all writers, so that their history is complete.

A job's row holds its snapshot and the last sample that ended, which goes into the history before the next replaces it.
So a sample ends with the row's ETag, whoever noticed first. After a crash between history and row, the next poll writes
the same again; other changes to a row cost nothing here.
"""

from dataclasses import replace

from shared.domain.history.grains import HistoryRetention
from shared.domain.history.samples import rows_of
from shared.domain.jobs.jobs import Job
from shared.domain.polling.rounds import Round
from shared.stores.accounts.rounds import RoundStore
from shared.stores.jobs.history import HistoryStore
from shared.stores.jobs.jobs import JobStore, KnownJobs


class JobRecords:
    def __init__(self, jobs: JobStore, rounds: RoundStore, history: HistoryStore, retention: HistoryRetention) -> None:
        self._jobs = jobs
        self._rounds = rounds
        self._history = history
        self._retention = retention

    async def load_all(self, account_key: str, last: Round | None) -> KnownJobs:
        """Returns every known job of an account by key, also deleted ones, as confirmed by the round `last`."""
        confirmations = last.confirmations if last else {}
        known = await self._jobs.load_known(account_key)
        jobs = {key: job.confirmed(confirmations.get(key)) for key, job in known.jobs.items()}
        return replace(known, jobs=jobs)

    async def load(self, account_key: str, job_id: str) -> Job | None:
        """Returns a job as confirmed by the last round, or None. Raises StorageError."""
        last = await self._rounds.load(account_key)
        job = await self._jobs.load(account_key, job_id)
        return job.confirmed(last.confirmations.get(job.key)) if job and last else job

    async def confirmed(self, account_key: str, job: Job) -> Job:
        """Returns a job that was loaded a while ago, with the confirmations of later rounds. Raises StorageError."""
        last = await self._rounds.load(account_key)
        return job.confirmed(last.confirmations.get(job.key)) if last else job

    async def save(self, account_key: str, job: Job) -> Job:
        """Writes a job under its ETag, or as new if that is None; returns the job as stored.

        Samples that ended before the last one are written to its history first. Raises CacheConflictError,
        StorageError.
        """
        if job.ended[:-1]:
            rows = rows_of(job.ended[:-1], job.ended[-1], self._retention)
            await self._history.save(account_key, job.key, rows)
            job = replace(job, ended=job.ended[-1:])
        return replace(job, etag=await self._jobs.save(account_key, job))

    async def forget(self, account_key: str, job: Job) -> None:
        """Deletes a job's row after writing its last samples to its history, which has its own retention.

        If the job was re-created since, these samples aren't written over later ones. Raises CacheConflictError,
        StorageError.
        """
        if job.samples and await self._jobs.is_stored(account_key, job):
            await self._history.save(account_key, job.key, rows_of(job.samples, None, self._retention))
        await self._jobs.delete(account_key, job)
