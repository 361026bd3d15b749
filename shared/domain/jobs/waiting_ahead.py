"""Waiting tasks of other jobs that are ahead of a job's own: those of jobs that go first on its pool.

Jobs of a higher priority do, and those of the same where the pool takes the oldest first. Tasks are counted from stored
jobs, without the dependencies that an explanation checks. A job that uses dependencies counts as held where a task
failed and none runs. Source: "Jobs and tasks in Azure Batch" (priority), the reference of TaskSchedulingPolicy.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate

from shared.domain.core.keys import key_of
from shared.domain.jobs.jobs import Job


@dataclass(frozen=True, slots=True)
class WaitingTasks:
    """Waiting tasks that may start on a pool: `before[i]` are those of jobs that go before the job of rank `ranks[i]`.

    Ranks are in order: the negative priority, and when the job was created.
    """

    ranks: tuple[tuple[int, float], ...]
    before: tuple[int, ...]

    def ahead_of(self, job: Job, *, oldest_first: bool) -> int:
        priority, created = _rank(job)
        return self.before[bisect_left(self.ranks, (priority, created) if oldest_first else (priority,))]


def waiting_tasks(jobs: Iterable[Job]) -> Mapping[str, WaitingTasks]:
    """Returns the waiting tasks that may start by pool key."""
    found: dict[str, list[tuple[tuple[int, float], int]]] = {}
    for job in jobs:
        if job.facts.pool_id and (tasks := _may_start(job)):
            found.setdefault(key_of(job.facts.pool_id), []).append((_rank(job), tasks))
    for ranked in found.values():
        ranked.sort()
    return {
        pool: WaitingTasks(
            tuple(rank for rank, _ in ranked), tuple(accumulate((tasks for _, tasks in ranked), initial=0))
        )
        for pool, ranked in found.items()
    }


def tasks_ahead(job: Job, waiting: Mapping[str, WaitingTasks], *, oldest_first: bool) -> int:
    """Returns how many of the `waiting` tasks are ahead of a job's own; `oldest_first` is its pool's order."""
    on_pool = waiting.get(key_of(job.facts.pool_id)) if job.facts.pool_id else None
    return on_pool.ahead_of(job, oldest_first=oldest_first) if on_pool else 0


def _rank(job: Job) -> tuple[int, float]:
    return -(job.facts.priority or 0), job.facts.creation_time.timestamp()


def _may_start(job: Job) -> int:
    """Returns how many waiting tasks of an active job may start within its limit on parallel tasks, 0 if held."""
    if job.deleted or job.facts.state != "active" or job.snapshot is None:
        return 0
    counts, rules = job.snapshot.counts, job.facts.rules
    runs, most = counts.running + counts.preparing, rules.max_parallel_tasks
    if rules.uses_task_dependencies and counts.failed and not runs:
        return 0
    return counts.active if most is None else min(counts.active, max(most - runs, 0))
