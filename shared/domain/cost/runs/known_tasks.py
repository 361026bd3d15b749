"""As of when the cached tasks of an account's jobs are known: until then runs without an end are known to go on.

Nodes are polled apart from tasks, so that their time may be known for longer.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from shared.domain.core.stamps import to_milliseconds
from shared.domain.jobs.jobs import COMPLETED, Job

GIVEN_UP = timedelta(days=2) // timedelta(milliseconds=1)
"""For so long hours wait for a poll of nodes or a list of jobs, which fails: then they are settled without it."""
MAX_WAIT = timedelta(hours=12) // timedelta(milliseconds=1)
"""For so long hours wait for the tasks of a job, which can't be read: each roll-up reads what changed since then."""
_SAME = timedelta(minutes=5) // timedelta(milliseconds=1)
"""Polls of nodes and of tasks that are no further apart count as one."""
_DELETING = "deleting"


@dataclass(frozen=True, slots=True)
class KnownTasks:
    """Times by key of the jobs whose tasks may change, and as of when the tasks of all jobs are known.

    Times are milliseconds since 1970. Completed jobs whose tasks are completed don't count for all, nor do those that
    weren't read for `MAX_WAIT`, unless jobs weren't listed either.
    """

    jobs: Mapping[str, int]
    as_of: int

    def given_up(self, now: int) -> "KnownTasks":
        """Returns the same where hours don't wait for tasks."""
        return replace(self, as_of=now)

    def behind(self, nodes_as_of: int) -> Mapping[str, int]:
        """Returns the times of jobs whose tasks were read last before nodes were listed."""
        return {key: at for key, at in self.jobs.items() if at < nodes_as_of - _SAME}


def known_tasks(jobs: Iterable[Job], listed: datetime | None, now: int) -> KnownTasks:
    """Returns as of when tasks of jobs are known; `listed` is when an account's jobs were, None if never."""
    changing = {job.key: job for job in jobs if job.is_live and job.facts.state != _DELETING}
    times = {key: _as_of(job) for key, job in changing.items()}
    awaited = [times[key] for key, job in changing.items() if _may_get_runs(job)]
    found = [at for at in awaited if at > now - MAX_WAIT]
    if listed and (at := to_milliseconds(listed)) > now - GIVEN_UP:
        found.append(at)
    return KnownTasks(times, min([now, *found]))


def _as_of(job: Job) -> int:
    """Returns as of when a job's tasks are known: before the first read, when it had none."""
    return job.snapshot.sample.through if job.snapshot else to_milliseconds(job.facts.creation_time)


def _may_get_runs(job: Job) -> bool:
    """Returns whether tasks of a job may run: a job that isn't completed gets new ones while polls of it fail."""
    has_uncompleted = job.snapshot is None or job.snapshot.counts.completed < job.snapshot.counts.total
    return has_uncompleted or job.facts.state != COMPLETED
