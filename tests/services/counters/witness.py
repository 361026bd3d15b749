"""The counters that a witness of each change counts, which sees no polls, and the steps of tasks."""

from collections import Counter
from dataclasses import dataclass, field

from shared.domain.tasks.tasks import ACTIVE, COMPLETED, RUNNING, Task
from tests.services.fakes.truth import TrueJob


@dataclass(slots=True)
class Witness:
    """The counters of each pool, and the tasks of jobs that started in their present life, and that a rest saw run."""

    counted: dict[str, Counter[str]] = field(default_factory=dict)
    started: set[tuple[int, str]] = field(default_factory=set)
    seen: set[tuple[int, str]] = field(default_factory=set)

    def note(self, job: TrueJob, **more: int) -> None:
        self.counted.setdefault((job.pool_id or "").lower(), Counter()).update(more)

    def note_rest(self, job: TrueJob) -> None:
        self.seen.update((id(job), name) for name in job.tasks if last(job, name).state == RUNNING)

    def end_life(self, job: TrueJob, name: str) -> None:
        self.started.discard((id(job), name))
        self.seen.discard((id(job), name))

    def note_start(self, job: TrueJob, name: str) -> None:
        if (id(job), name) not in self.started:
            self.started.add((id(job), name))
            self.note(job, started=1)


def last(job: TrueJob, name: str) -> Task:
    return job.tasks[name].changes[-1].row


def after_step(row: Task, step: str, at: int) -> Task:
    """Returns a task's row after a step."""
    waiting = Task(row.id, ACTIVE, transition=at, creation=row.creation, retries=row.retries, requeues=row.requeues)
    running = row._replace(state=RUNNING, transition=at, start=at, node=("Blue", "node-1"))
    ended = row._replace(state=COMPLETED, transition=at, end=at, result=1, exit_code=0)
    return {
        "start": running,
        "succeed": ended,
        "fail": ended._replace(result=2, exit_code=1, failure=("UserError", "FailureExitCode")),
        "retry": waiting._replace(retries=row.retries + 1),
        "preempt": waiting,
        "requeue": waiting._replace(requeues=row.requeues + 1),
    }[step]
