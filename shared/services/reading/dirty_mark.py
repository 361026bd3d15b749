"""The note in a job's row that its leaves are about to change, made before the first of them does.

The picture that tells of the change takes it away again. Where a poll breaks off in between, what it took in may be
gone from Batch before the next one, and then no delta shows it any more: so whoever finds the note sums the leaves up
anew, as storage has them.
"""

from dataclasses import replace

from shared.domain.jobs.jobs import Job
from shared.services.jobs.job_records import JobRecords


class DirtyMark:
    """That of one poll; `job` is the job as it is stored by now."""

    def __init__(self, records: JobRecords, account_key: str, job: Job) -> None:
        self.job = job
        self._records = records
        self._account_key = account_key

    async def make(self) -> None:
        """Before leaves are written; but once it costs nothing. Raises CacheConflictError, StorageError."""
        if not self.job.dirty:
            self.job = await self._records.save(self._account_key, replace(self.job, dirty=True))
