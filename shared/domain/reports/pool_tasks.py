"""Tasks of all jobs of a pool: how many failed, by category, and counters that never decrease."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from shared.domain.core.keys import key_of
from shared.domain.jobs.deleted_job_counters import DeletedJobCounters
from shared.domain.jobs.job_counters import NO_POOL
from shared.domain.jobs.jobs import Job
from shared.domain.tasks.failure_categories import FailedTasks, summed_failed_tasks
from shared.domain.tasks.task_counters import NOTHING, TaskCounters


@dataclass(frozen=True, slots=True)
class PoolTasks:
    """Failed tasks of jobs that aren't deleted, and counters of the tasks of all jobs that there ever were."""

    failed: FailedTasks = field(default_factory=dict)
    counters: TaskCounters = NOTHING


@dataclass(frozen=True, slots=True)
class AccountTasks:
    """Tasks by the key of their job's pool; NO_POOL for those of jobs without one, and of pools that are gone."""

    pools: Mapping[str, PoolTasks] = field(default_factory=dict)

    @property
    def all(self) -> PoolTasks:
        many = self.pools.values()
        return PoolTasks(summed_failed_tasks(one.failed for one in many), sum((one.counters for one in many), NOTHING))

    def of_pool(self, key: str) -> PoolTasks:
        return self.pools.get(key, PoolTasks())


NO_TASKS = AccountTasks()


def account_tasks(jobs: Iterable[Job], deleted: DeletedJobCounters) -> AccountTasks:
    """Returns the tasks of an account; `jobs` are all stored ones, read before `deleted`."""
    many = list(jobs)
    counters = deleted.with_jobs({job.key: job.counters for job in many if job.counters})
    failed = defaultdict[str, list[FailedTasks]](list)
    for job in many:
        if not job.deleted:
            failed[key_of(job.facts.pool_id) if job.facts.pool_id else NO_POOL].append(failed_tasks(job))
    return AccountTasks({
        pool: PoolTasks(summed_failed_tasks(failed[pool]), counters.get(pool, NOTHING))
        for pool in sorted(failed.keys() | counters.keys())
    })  # fmt: skip


def failed_tasks(job: Job) -> FailedTasks:
    """Returns a job's failed tasks; all are `other` where leaves of an older version don't show causes."""
    if job.snapshot is None:
        return {}
    known, failed = job.snapshot.failed_tasks, job.snapshot.counts.failed
    return known if known is not None else {"other": failed} if failed else {}
