"""What has the files of failed runs: the tasks of a job, and the nodes of a pool with their start tasks."""

from dataclasses import dataclass
from typing import Protocol

from shared.domain.jobs.jobs import Job
from shared.domain.outputs.failed_runs import FailedRun
from shared.domain.outputs.failed_starts import FOLDER, FailingPool, start_of
from shared.stores.batch.batch import BatchAccount
from shared.stores.batch.batch_files import FileOwner, files_of_node, files_of_task
from shared.stores.batch.batch_pools import BatchPools


class RunOwner(Protocol):
    """A job or a pool: the key of its outputs, and the folder of the streams among the files of a run."""

    @property
    def key(self) -> str: ...

    @property
    def folder(self) -> str: ...

    def files(self, run: FailedRun) -> FileOwner: ...

    async def is_latest(self, source: BatchAccount, run: FailedRun) -> bool:
        """Returns whether Batch has no later run, whose files would be in the place of these. Raises BatchError."""
        ...


@dataclass(frozen=True, slots=True)
class TasksOfJob:
    job: Job

    @property
    def key(self) -> str:
        return self.job.key

    @property
    def folder(self) -> str:
        return ""

    def files(self, run: FailedRun) -> FileOwner:
        return files_of_task(self.job.facts.id, run.task_id)

    async def is_latest(self, source: BatchAccount, run: FailedRun) -> bool:
        """Raises BatchMissingError if the job was deleted, BatchError."""
        task = await source.fetch_task(self.job.facts.id, run.task_id)
        return task is None or FailedRun.of(task).ended == run.ended


@dataclass(frozen=True, slots=True)
class NodesOfPool:
    pool: FailingPool

    @property
    def key(self) -> str:
        return self.pool.key

    @property
    def folder(self) -> str:
        return f"{FOLDER}/"

    def files(self, run: FailedRun) -> FileOwner:
        return files_of_node(self.pool.id, run.node[1])

    async def is_latest(self, source: BatchAccount, run: FailedRun) -> bool:
        """Raises BatchError."""
        node = await BatchPools(source).fetch_node(self.pool.id, run.node[1])
        return node is None or node.start is None or node.start.start == start_of(run)
