"""Waiting tasks of other jobs that are ahead of a job's own: higher-priority ones on its pool take free slots first.

They are counted from stored jobs, without the dependencies that an explanation checks. A job that uses dependencies
counts as held where a task failed and none runs. Source: "Jobs and tasks in Azure Batch", job priority.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

from shared.domain.core.keys import key_of
from shared.domain.jobs.jobs import Job

type WaitingTasks = Mapping[str, Counter[int]]


def waiting_tasks(jobs: Iterable[Job]) -> WaitingTasks:
    """Returns the number of waiting tasks that may start, by pool key and job priority."""
    found: dict[str, Counter[int]] = {}
    for job in jobs:
        if job.facts.pool_id and (tasks := _may_start(job)):
            found.setdefault(key_of(job.facts.pool_id), Counter())[job.facts.priority or 0] += tasks
    return found


def tasks_ahead(job: Job, waiting: WaitingTasks) -> int:
    """Returns how many of the `waiting` tasks are ahead of a job's own."""
    on_pool = waiting.get(key_of(job.facts.pool_id)) if job.facts.pool_id else None
    own = job.facts.priority or 0
    return sum(tasks for priority, tasks in on_pool.items() if priority > own) if on_pool else 0


def _may_start(job: Job) -> int:
    """Returns how many waiting tasks of an active job may start within its limit on parallel tasks, 0 if held."""
    if job.deleted or job.facts.state != "active" or job.snapshot is None:
        return 0
    counts, rules = job.snapshot.counts, job.facts.rules
    runs, most = counts.running + counts.preparing, rules.max_parallel_tasks
    if rules.uses_task_dependencies and counts.failed and not runs:
        return 0
    return counts.active if most is None else min(counts.active, max(most - runs, 0))
