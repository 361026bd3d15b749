"""What is stored of a job is loaded and saved here by whoever changes it, so that its history is complete.

The samples that a picture showed go with the job's row: the last one that ended stands in it, beside the picture that
followed, and gets into the history before the next one takes its place. So a sample ends with the row's ETag and not
with who was first to notice, a crash between history and row leaves the row to the next poll, which writes the same
once more, and a row that only changes otherwise costs nothing here.
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
        """Every job known of an account by its key, deleted ones too, as the round `last` confirmed them."""
        confirmations = last.confirmations if last else {}
        known = await self._jobs.load_known(account_key)
        jobs = {key: job.confirmed(confirmations.get(key)) for key, job in known.jobs.items()}
        return replace(known, jobs=jobs)

    async def load(self, account_key: str, job_id: str) -> Job | None:
        """A job as the last round confirmed it, or None. Raises StorageError."""
        last = await self._rounds.load(account_key)
        job = await self._jobs.load(account_key, job_id)
        return job.confirmed(last.confirmations.get(job.key)) if job and last else job

    async def confirmed(self, account_key: str, job: Job) -> Job:
        """A job that was loaded a while ago, as rounds have confirmed it since. Raises StorageError."""
        last = await self._rounds.load(account_key)
        return job.confirmed(last.confirmations.get(job.key)) if last else job

    async def save(self, account_key: str, job: Job) -> Job:
        """Writes a job as it was loaded, or new where its ETag is None; the job as it is stored then.

        What ended before the last sample that did is in its history by then. Raises CacheConflictError, StorageError.
        """
        if job.ended[:-1]:
            rows = rows_of(job.ended[:-1], job.ended[-1], self._retention)
            await self._history.save(account_key, job.key, rows)
            job = replace(job, ended=job.ended[-1:])
        return replace(job, etag=await self._jobs.save(account_key, job))

    async def forget(self, account_key: str, job: Job) -> None:
        """Deletes a job's row after the last of its samples got into its history, which stays for its own time.

        Where it was created anew since it was loaded, later samples may stand where the last one would. Raises
        CacheConflictError, StorageError.
        """
        if job.samples and await self._jobs.is_stored(account_key, job):
            await self._history.save(account_key, job.key, rows_of(job.samples, None, self._retention))
        await self._jobs.delete(account_key, job)
