"""What was kept of the outputs of failed tasks, or why it wasn't; storage alone answers."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace

from shared.domain.accounts.accounts import Account
from shared.domain.core.keys import key_of
from shared.domain.core.stamps import from_milliseconds, to_milliseconds
from shared.domain.jobs.jobs import Job
from shared.domain.outputs.failed_runs import FailedRun
from shared.domain.outputs.kept_outputs import JobOutputs, KeptOutput
from shared.domain.outputs.known_errors import known_error
from shared.domain.outputs.output_groups import OutputExample, OutputGroups
from shared.domain.outputs.output_limits import OutputLimits
from shared.domain.outputs.unkept_outputs import why_without_row
from shared.domain.tasks.tasks import Task
from shared.errors import NotFoundError
from shared.services.accounts.registry import Registry, found
from shared.services.files.keeping_conditions import keeping_conditions
from shared.services.queries.queries import Queries
from shared.services.tasks.task_queries import TaskQueries
from shared.stores.jobs.outputs import OutputStore


@dataclass(frozen=True, slots=True)
class OutputReport:
    """What was kept of a task's output, or the code of why nothing was.

    `is_latest` is False where the task has run again since, True also where it is gone.
    """

    task_id: str
    kept: KeptOutput | None
    reason: str = ""
    is_latest: bool = True


@dataclass(frozen=True, slots=True)
class KeptOutputs:
    accounts: Mapping[str, Account]
    registry: Registry
    queries: Queries
    tasks: TaskQueries
    store: OutputStore
    limits: OutputLimits

    async def output(self, account_id: str, job_id: str, task_id: str) -> OutputReport:
        """Returns what was kept of a task's output, also where the task is gone. Raises NotFoundError, StorageError."""
        job = (await self.queries.job(account_id, job_id)).job
        account = found(self.accounts, account_id)
        kept = await self.store.load(account.key, job.key, key_of(task_id))
        task = await self.tasks.task(account_id, job_id, key_of(task_id))
        if kept and await self._has_some(account, job):
            is_latest = task is None or FailedRun.of(task).ended == kept.run.ended
            return OutputReport(kept.run.task_id, kept, is_latest=is_latest)
        if task is None:
            raise NotFoundError("task", task_id, f" in the job '{job.facts.id}'")
        return OutputReport(task.id, None, await self._why(account, job, task))

    async def groups(self, account_id: str, job_id: str) -> dict[str, OutputGroups]:
        """Returns what kept outputs of a job say, by the id of their failure group.

        Raises NotFoundError, StorageError.
        """
        job = (await self.queries.job(account_id, job_id)).job
        account, examples = found(self.accounts, account_id), defaultdict[str, list[OutputExample]](list)
        if not await self._has_some(account, job):
            return {}
        for run, excerpt in await self.store.load_examples(account.key, job.key):
            known, ended = known_error(excerpt, run.exit_code), from_milliseconds(run.ended)
            example = OutputExample(ended, job_id, run.task_id, run.node, excerpt, known.id if known else "")
            examples[run.group].append(example)
        return {group: OutputGroups.of(some) for group, some in examples.items()}

    async def delete(self, account_id: str, job_id: str) -> None:
        """Deletes what was kept of a job; later failures are kept again. Raises NotFoundError, CacheConflictError."""
        job = (await self.queries.job(account_id, job_id)).job
        account, now = found(self.accounts, account_id), to_milliseconds(await self.registry.clock.now())
        stored = await self.store.load_job(account.key, job.key)
        mark = replace(stored.mark, created=job.facts.creation_time, since=now, after=now)
        await self.store.save_mark(account.key, job.key, mark, stored.etag)
        await self.store.delete_job(account.key, job.key, keep_mark=True)

    async def _has_some(self, account: Account, job: Job) -> bool:
        """Returns whether what is stored is of this job, not of an earlier one of its id."""
        return (await self.store.load_mark(account.key, job.key)).created == job.facts.creation_time

    async def _why(self, account: Account, job: Job, task: Task) -> str:
        stored = await self.store.load_job(account.key, job.key)
        if stored.mark.created != job.facts.creation_time:
            stored = JobOutputs()
        conditions = await keeping_conditions(self.registry, self.store, self.limits, account, task.node[0])
        return why_without_row(task, stored, conditions)
