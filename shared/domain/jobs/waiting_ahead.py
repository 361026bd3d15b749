"""Tasks of other jobs that stand before a job's own: those of a higher priority on its pool take free slots first.

Counted from what is stored of jobs: what such a task depends on isn't looked at, as an explanation does. A job of which
nothing runs and a task failed counts as held where its tasks may depend on each other.
Source: "Jobs and tasks in Azure Batch", job priority.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

from shared.domain.core.keys import key_of
from shared.domain.jobs.job_rules import JobRules
from shared.domain.jobs.jobs import Job

type WaitingTasks = Mapping[str, Counter[int]]


def waiting_tasks(jobs: Iterable[Job]) -> WaitingTasks:
    """The waiting tasks that may start, by the key of their pool and the priority of their jobs."""
    found: dict[str, Counter[int]] = {}
    for job in jobs:
        if job.facts.pool_id and (tasks := _may_start(job)):
            found.setdefault(key_of(job.facts.pool_id), Counter())[job.facts.priority or 0] += tasks
    return found


def tasks_ahead(job: Job, waiting: WaitingTasks) -> int:
    """How many of these come before the waiting tasks of a job."""
    on_pool = waiting.get(key_of(job.facts.pool_id)) if job.facts.pool_id else None
    own = job.facts.priority or 0
    return sum(tasks for priority, tasks in on_pool.items() if priority > own) if on_pool else 0


def _may_start(job: Job) -> int:
    """The waiting tasks of an active job that isn't held, as many as its bound on parallel tasks leaves."""
    if job.deleted or job.facts.state != "active" or job.picture is None:
        return 0
    counts, rules = job.picture.counts, job.facts.rules or JobRules()
    runs, most = counts.running + counts.preparing, rules.max_parallel_tasks
    if rules.uses_task_dependencies and counts.failed and not runs:
        return 0
    return counts.active if most is None else min(counts.active, max(most - runs, 0))
