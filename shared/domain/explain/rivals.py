"""Other jobs on a job's pool: the slots they hold, and their tasks that start before or beside the job's own."""

from collections.abc import Sequence
from dataclasses import dataclass

from shared.domain.core.amounts import amount
from shared.domain.dependencies.dependencies import Dependencies
from shared.domain.jobs.job_rules import JobRules
from shared.domain.tasks.tasks import TaskCounts

_MAX_NAMED = 5


@dataclass(frozen=True, slots=True)
class Rival:
    """Another job on the same pool; its slots are those that its running and its waiting tasks require.

    `dependencies` are those of its waiting tasks, None where they weren't read. `fits` is False where every waiting
    task that was read requires more slots than a node has. `is_prepared` is False where its preparation task failed on
    every node on which it ended. `is_doubtful` means that no read of it succeeded, while of several other jobs that
    were read none could start a task.
    """

    id: str
    priority: int
    state: str
    rules: JobRules
    counts: TaskCounts
    running_slots: int
    waiting_slots: int
    dependencies: Dependencies | None = None
    fits: bool = True
    is_prepared: bool = True
    is_doubtful: bool = False

    @property
    def running(self) -> int:
        return self.counts.running + self.counts.preparing

    @property
    def held(self) -> int:
        """Returns the number of waiting tasks that no free slot would start, or that aren't known to start."""
        found = self.dependencies
        can_start = self.fits and self.is_prepared and not self.is_doubtful
        if not can_start or (found and (found.all_held or found.seem_all_held)):
            return self.counts.active
        return min(found.held, self.counts.active) if found else 0

    @property
    def contending(self) -> int:
        """Returns the number of waiting tasks that would take free slots now: not held, within maxParallelTasks."""
        if self.state != "active":
            return 0
        ready, most = self.counts.active - self.held, self.rules.max_parallel_tasks
        return ready if most is None else min(ready, max(most - self.running, 0))

    @property
    def contending_slots(self) -> int:
        """Returns the slots of contending tasks, by the mean of all waiting ones."""
        return -(-self.waiting_slots * self.contending // self.counts.active) if self.counts.active else 0


def tasks_of(rivals: Sequence[Rival]) -> int:
    """Returns the number of these jobs' tasks that would take free slots now."""
    return sum(rival.contending for rival in rivals)


def slots_of(rivals: Sequence[Rival]) -> int:
    return sum(rival.contending_slots for rival in rivals)


def named(rivals: Sequence[Rival]) -> str:
    """Returns text like `'a' (396 tasks) and 2 more jobs`: jobs with the most contending tasks first."""
    ordered = sorted(rivals, key=lambda rival: (-rival.contending, rival.id))
    told = ", ".join(f"'{rival.id}' ({amount(rival.contending, 'task')})" for rival in ordered[:_MAX_NAMED])
    return told + _more(len(ordered))


def holders(rivals: Sequence[Rival]) -> tuple[str, ...]:
    """Returns the jobs whose tasks occupy slots, those with the most first: `'a' (4 tasks on 8 slots)`."""
    on = sorted((rival for rival in rivals if rival.running), key=lambda rival: (-rival.running_slots, rival.id))
    told = [f"'{r.id}' ({amount(r.running, 'task')} on {amount(r.running_slots, 'slot')})" for r in on[:_MAX_NAMED]]
    return (*told, *([_more(len(on)).removeprefix(" and ")] if len(on) > _MAX_NAMED else ()))


def _more(jobs: int) -> str:
    return f" and {amount(jobs - _MAX_NAMED, 'more job')}" if jobs > _MAX_NAMED else ""
