"""Other jobs on a job's pool: the slots they hold, and their tasks that start before or beside the job's own.

Source: "Jobs and tasks in Azure Batch" (priority), the reference of TaskSchedulingPolicy (`jobDefaultOrder`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from math import inf

from shared.domain.core.amounts import amount
from shared.domain.dependencies.dependencies import Dependencies
from shared.domain.findings.thresholds import MAX_SHOWN_JOBS
from shared.domain.jobs.job_rules import JobRules
from shared.domain.jobs.observations import NONE_OVERSIZED, OversizedTasks, RequiredSlots
from shared.domain.tasks.tasks import TaskCounts

type Rank = tuple[int, float]
"""A job's place in the order of its pool: jobs of a lower rank go first, those of the same have equal shares."""


def rank_of(priority: int, creation_time: datetime, *, oldest_first: bool) -> Rank:
    """Returns the rank by priority, and where the pool takes the `oldest_first` also by age."""
    return -priority, creation_time.timestamp() if oldest_first else 0.0


@dataclass(frozen=True, slots=True)
class CompetingJob:
    """Another job on the same pool; its slots are those that its running and its waiting tasks require.

    `dependencies` are those of its waiting tasks, None where they weren't read. `oversized` are its waiting tasks that
    fit on no node. `is_prepared` is False where its preparation task failed on every node on which it ended.
    `is_doubtful` means that no read of it succeeded, while of several other jobs that were read none could start a
    task. `per_minute` is how many of its tasks lately ended a minute, 0 where the pool's rate is unknown, too.
    """

    id: str
    priority: int
    state: str
    rules: JobRules
    counts: TaskCounts
    running_slots: int
    waiting_slots: int
    creation_time: datetime
    dependencies: Dependencies | None = None
    oversized: OversizedTasks = NONE_OVERSIZED
    is_prepared: bool = True
    is_doubtful: bool = False
    per_minute: float = 0.0

    @property
    def running(self) -> int:
        return self.counts.running + self.counts.preparing

    def with_slots(self, found: RequiredSlots | None, slots_per_node: int) -> "CompetingJob":
        """Returns the job with the slots of its first waiting tasks, None where they weren't read."""
        return replace(self, oversized=found.oversized(slots_per_node, self.counts.active)) if found else self

    @property
    def fits(self) -> bool:
        """Returns whether a waiting task fits on a node, as far as known."""
        return self._unfit < self.counts.active or not self._unfit

    @property
    def is_held(self) -> bool:
        """Returns whether no free slot would start any of its waiting tasks, or none is known to start."""
        return self.held == self.counts.active > 0

    @property
    def held(self) -> int:
        """Returns the number of waiting tasks that no free slot would start, or that aren't known to start."""
        if self._wait_all or self.is_doubtful:
            return self.counts.active
        return min(self._unfit + (self.dependencies.held if self.dependencies else 0), self.counts.active)

    @property
    def is_held_exact(self) -> bool:
        """Returns whether that many are held. Tasks that fit on no node may be some of those that wait for others."""
        if self.is_doubtful:
            return False
        if self._wait_all or self.oversized.number >= self.counts.active:
            return True
        held = self.dependencies.held if self.dependencies else 0
        return not self.oversized.unread and not (self.oversized.number and held)

    @property
    def _wait_all(self) -> bool:
        """Returns whether all of its waiting tasks wait for others, or its preparation fails everywhere."""
        found = self.dependencies
        return not self.is_prepared or (found is not None and (found.all_held or found.seem_all_held))

    @property
    def _unfit(self) -> int:
        """Returns the number of waiting tasks that fit on no node, or aren't known to."""
        return self.oversized.number + self.oversized.unread

    @property
    def contending(self) -> int:
        """Returns the number of waiting tasks that would take free slots now: not held, within maxParallelTasks."""
        most = self.rules.max_parallel_tasks
        return self._ready if most is None else min(self._ready, max(most - self.running, 0))

    @property
    def retaking(self) -> int:
        """Returns the number of waiting tasks beyond maxParallelTasks: each may follow when a task of the job ends."""
        return self._ready - self.contending if self.running or self.contending else 0

    @property
    def is_in_line(self) -> bool:
        """Returns whether some of its waiting tasks would take free slots, now or when its own tasks end."""
        return self.contending > 0 or self.retaking > 0

    @property
    def _ready(self) -> int:
        return self.counts.active - self.held if self.state == "active" else 0

    @property
    def contending_slots(self) -> int:
        """Returns the slots of contending tasks, by the mean of all waiting ones that may fit on a node."""
        tasks, slots = self.counts.active - self.oversized.number, self.waiting_slots - self.oversized.slots
        return max(-(-slots * self.contending // tasks), self.contending) if tasks > 0 else 0


def tasks_of(jobs: Sequence[CompetingJob]) -> int:
    """Returns the number of these jobs' tasks that would take free slots now."""
    return sum(job.contending for job in jobs)


def slots_of(jobs: Sequence[CompetingJob]) -> int:
    return sum(job.contending_slots for job in jobs)


def minutes_until(tasks: float, per_minute: float, ahead: Sequence[CompetingJob], *, others_run: bool) -> float:
    """Returns the minutes until so many tasks ended whose slots no job `ahead` retakes; infinite where none will.

    Tasks of all jobs end at the rate `per_minute`. A job that is bound by its maxParallelTasks retakes the slots of its
    own tasks as long as more of them wait. `others_run` is whether tasks of jobs that don't are running.
    """
    bound = [job for job in ahead if job.retaking]
    others = max(per_minute - sum(job.per_minute for job in bound), 0.0)
    rate = others if others_run or not bound else 0.0
    minutes = 0.0
    for until, released in sorted((job.retaking / job.per_minute, job.per_minute) for job in bound if job.per_minute):
        ended = rate * (until - minutes)
        if ended >= tasks:
            break
        minutes, tasks, rate = until, tasks - ended, rate + released
    return minutes + tasks / rate if rate else inf


def named(jobs: Sequence[CompetingJob]) -> str:
    """Returns text like `'a' (396 tasks) and 2 more jobs`: jobs with the most contending tasks first."""
    ordered = sorted(jobs, key=lambda job: (-job.contending, job.id))
    shown = ", ".join(f"'{job.id}' ({amount(job.contending, 'task')})" for job in ordered[:MAX_SHOWN_JOBS])
    more = len(jobs) - MAX_SHOWN_JOBS
    return f"{shown} and {amount(more, 'more job')}" if more > 0 else shown


def holders(jobs: Sequence[CompetingJob]) -> tuple[str, ...]:
    """Returns the jobs whose tasks occupy slots, those with the most first: `'a' (4 tasks on 8 slots)`."""
    on = sorted((job for job in jobs if job.running), key=lambda job: (-job.running_slots, job.id))
    shown = [
        f"'{job.id}' ({amount(job.running, 'task')} on {amount(job.running_slots, 'slot')})"
        for job in on[:MAX_SHOWN_JOBS]
    ]
    more = len(on) - MAX_SHOWN_JOBS
    return (*shown, amount(more, "more job")) if more > 0 else tuple(shown)
