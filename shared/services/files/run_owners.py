"""What has the files of failed runs: the tasks of a job, and the nodes of a pool with their start tasks."""

from dataclasses import dataclass
from typing import Protocol

from shared.domain.jobs.jobs import Job
from shared.domain.outputs.failed_runs import FailedRun
from shared.domain.outputs.failed_starts import FOLDER, FailingPool
from shared.stores.batch.batch_files import FileOwner, files_of_node, files_of_task


class RunOwner(Protocol):
    """A job or a pool: the key of its outputs, and the folder of the streams among the files of a run."""

    @property
    def key(self) -> str: ...

    @property
    def folder(self) -> str: ...

    def files(self, run: FailedRun) -> FileOwner: ...


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
