"""Evidence that several explanations of one account share, so that nothing is requested or decoded twice for them."""

from collections.abc import Awaitable, Callable
from typing import override

from shared.domain.jobs.observations import Preparation
from shared.domain.reports.reports import JobReport
from shared.stores.batch.batch import BatchAccount
from shared.stores.batch.batch_evidence import BatchEvidence, LiveJob
from shared.stores.jobs.dependencies import DependencyStore


class SharedEvidence(BatchEvidence):
    """Requests each job and its preparation once; `dependencies` are stored ones, also for the queue. Errors repeat."""

    def __init__(self, source: BatchAccount, dependencies: DependencyStore) -> None:
        super().__init__(source)
        self.dependencies = dependencies
        self._jobs: dict[str, LiveJob] = {}
        self._preparations: dict[str, tuple[Preparation, bool]] = {}
        self._reports: list[JobReport] | None = None

    async def reports(self, load: Callable[[], Awaitable[list[JobReport]]]) -> list[JobReport]:
        """Returns all jobs of the account, which `load` reads once."""
        if self._reports is None:
            self._reports = await load()
        return self._reports

    @override
    async def fetch_job(self, job_id: str) -> LiveJob:
        if job_id not in self._jobs:
            self._jobs[job_id] = await super().fetch_job(job_id)
        return self._jobs[job_id]

    @override
    async def fetch_preparation(self, job_id: str) -> tuple[Preparation, bool]:
        if job_id not in self._preparations:
            self._preparations[job_id] = await super().fetch_preparation(job_id)
        return self._preparations[job_id]
