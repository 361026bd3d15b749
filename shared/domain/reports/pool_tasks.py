"""Tasks of all jobs of a pool: how many failed, by category, and counters that never decrease."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from shared.domain.core.keys import key_of
from shared.domain.jobs.job_counters import NO_POOL, CountersByPool
from shared.domain.jobs.jobs import Job
from shared.domain.jobs.waiting_causes import ByCause, WaitingCauses, waiting_tasks
from shared.domain.tasks.failure_categories import FailedTasks, summed_failed_tasks
from shared.domain.tasks.task_counters import NOTHING, TaskCounters


@dataclass(frozen=True, slots=True)
class PoolTasks:
    """Failed and waiting tasks of jobs that aren't deleted, and counters of the tasks of all jobs that there ever were.

    `waiting` are numbers of waiting tasks by cause, `waited` milliseconds that tasks waited, by cause. The oldest
    of these causes was found at `explained_at`, None where none was found.
    """

    failed: FailedTasks = field(default_factory=dict)
    counters: TaskCounters = NOTHING
    waiting: ByCause = field(default_factory=dict)
    waited: ByCause = field(default_factory=dict)
    explained_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class AccountTasks:
    """Tasks by the key of their job's pool; NO_POOL for those of jobs without one, and of too many pools that are gone.

    Time waited for a pool that is gone is in NO_POOL, too.
    """

    pools: Mapping[str, PoolTasks] = field(default_factory=dict)

    @property
    def all(self) -> PoolTasks:
        many = self.pools.values()
        return PoolTasks(
            summed_failed_tasks(one.failed for one in many),
            sum((one.counters for one in many), NOTHING),
            _summed(one.waiting for one in many),
            _summed(one.waited for one in many),
            _oldest(one.explained_at for one in many),
        )

    def of_pool(self, key: str) -> PoolTasks:
        return self.pools.get(key, PoolTasks())


NO_TASKS = AccountTasks()


def account_tasks(jobs: Iterable[Job], counters: CountersByPool, causes: WaitingCauses | None = None) -> AccountTasks:
    """Returns the tasks of an account; `jobs` are those that can be read, `counters` those of all that there ever were.

    The latter may be of jobs whose rows can't be read.
    """
    causes = causes or WaitingCauses()
    many = list(jobs)
    failed, waiting = defaultdict[str, list[FailedTasks]](list), defaultdict[str, list[ByCause]](list)
    explained = defaultdict[str, list[datetime | None]](list)
    for job in many:
        pool = key_of(job.facts.pool_id) if job.facts.pool_id else NO_POOL
        if not job.deleted:
            failed[pool].append(failed_tasks(job))
        if cause := causes.of_job(job):
            waiting[pool].append({cause.cause: waiting_tasks(job)})
            explained[pool].append(cause.at)
    return AccountTasks({
        pool: PoolTasks(
            summed_failed_tasks(failed[pool]),
            counters.get(pool, NOTHING),
            _summed(waiting[pool]),
            causes.waited.get(pool, {}),
            _oldest(explained[pool]),
        )
        for pool in sorted(failed.keys() | counters.keys() | causes.waited.keys())
    })  # fmt: skip


def _summed(many: Iterable[ByCause]) -> ByCause:
    sums = Counter[str]()
    for one in many:
        sums.update(one)
    return dict(sorted(sums.items()))


def _oldest(many: Iterable[datetime | None]) -> datetime | None:
    return min((one for one in many if one), default=None)


def failed_tasks(job: Job) -> FailedTasks:
    """Returns a job's failed tasks; all are `other` where leaves of an older version don't show causes."""
    if job.snapshot is None:
        return {}
    known, failed = job.snapshot.failed_tasks, job.snapshot.counts.failed
    return known if known is not None else {"other": failed} if failed else {}
