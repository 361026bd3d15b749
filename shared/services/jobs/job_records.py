"""Loads and saves job rows for all writers, so that their history is complete (shared/services/history.py)."""

from dataclasses import replace

from shared.domain.history.grains import HistoryRetention
from shared.domain.jobs.jobs import Job
from shared.domain.polling.rounds import Round
from shared.services.history import HistoryRecords
from shared.stores.accounts.rounds import RoundStore
from shared.stores.history import HistoryStore
from shared.stores.jobs.jobs import JobStore, KnownJobs


class JobRecords(HistoryRecords[Job]):
    def __init__(self, jobs: JobStore, rounds: RoundStore, history: HistoryStore, retention: HistoryRetention) -> None:
        super().__init__(jobs, history, retention)
        self._jobs = jobs
        self._rounds = rounds

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
        job = (await self.moved(account_key, [job])).get(job.key, job)
        return replace(job, etag=await self._jobs.save(account_key, job))
