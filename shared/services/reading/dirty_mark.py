"""The mark `dirty` in a job's row, written before a read changes the job's leaves.

The snapshot that includes the change removes it. If a poll breaks off in between, the tasks that it folded in may be
deleted from Batch before the next poll, so no delta shows them. So a poll that finds the mark sums the stored leaves
again.
"""

from dataclasses import replace

from shared.domain.jobs.jobs import Job
from shared.services.jobs.job_records import JobRecords


class DirtyMark:
    """The mark of one poll; `job` is the job as now stored."""

    def __init__(self, records: JobRecords, account_key: str, job: Job) -> None:
        self.job = job
        self._records = records
        self._account_key = account_key

    async def make(self) -> None:
        """Writes the mark before leaves are written; only the first call costs a write.

        Raises CacheConflictError, StorageError.
        """
        if not self.job.dirty:
            self.job = await self._records.save(self._account_key, replace(self.job, dirty=True))
