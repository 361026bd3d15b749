"""The truth about an account, independent of the code under test: every job, and every change of its tasks.

A change occurs, gets a stamp by its node's clock, and becomes visible to readers, each at its own instant.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from shared.domain.jobs.jobs import JobFacts
from shared.domain.tasks.tasks import Task, TaskCounts

ACTIVE, PREPARING, RUNNING, COMPLETED = range(4)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def milliseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class Change:
    occurred: datetime
    stamp: datetime
    visible: datetime
    row: Task


@dataclass(slots=True)
class TrueTask:
    changes: list[Change]
    deleted: datetime | None = None

    def seen_at(self, moment: datetime) -> Change | None:
        """Returns the last change visible to a request served at `moment`; None if the task doesn't exist."""
        if self.deleted and self.deleted < moment:
            return None
        for change in reversed(self.changes):
            if change.visible < moment:
                return change
        return None

    def moments(self) -> list[datetime]:
        """Returns the instants at which the visible state of the task changed."""
        return [*(change.visible for change in self.changes), *([self.deleted] if self.deleted else [])]

    def seen_between(self, start: datetime, end: datetime) -> set[Task | None]:
        """Returns the states that requests served from `start` to `end` may have seen."""
        moments = [moment for moment in self.moments() if start <= moment < end]
        seen = [self.seen_at(start), *(self.seen_at(moment + timedelta.resolution) for moment in moments)]
        return {change.row if change else None for change in seen}


@dataclass(slots=True)
class TrueJob:
    """One job from its creation to its deletion; a job re-created under the same id is another.

    `drifts` is set once deltas miss a change: a deleted task, or a report later than the overlap. Lists of jobs show
    its creation and end `listed_late`; a GET shows them immediately.
    """

    id: str
    created: datetime
    completed: datetime | None = None
    deleted: datetime | None = None
    tasks: dict[str, TrueTask] = field(default_factory=dict)
    drifts: bool = False
    listed_late: timedelta = timedelta()
    pool_id: str | None = None
    priority: int | None = None

    def is_there(self, moment: datetime) -> bool:
        return self.created <= moment and (self.deleted is None or moment < self.deleted)

    def listed(self, moment: datetime) -> JobFacts | None:
        """Returns the job in a list served at `moment`; None if it doesn't exist or isn't listed at that time."""
        shown = moment - self.listed_late
        return self.facts(shown) if self.is_there(moment) and self.created <= shown else None

    def facts(self, moment: datetime) -> JobFacts:
        state, since = "active", self.created
        if self.completed and self.completed <= moment:
            state, since = "completed", self.completed
        return JobFacts(self.id, self.created, state, since, pool_id=self.pool_id, priority=self.priority)

    def add(self, name: str, at: datetime) -> None:
        row = Task(name, ACTIVE, transition=milliseconds(at), creation=milliseconds(at))
        self.tasks[name] = TrueTask([Change(at, at, at, row)])

    def change(self, name: str, state: int, *, at: datetime, lag: timedelta, skew: timedelta, code: int = 0) -> None:
        """Moves a task to `state`: its stamp is off by `skew`, and the change is visible after `lag`."""
        task = self.tasks[name]
        at = max(at, task.changes[-1].occurred + timedelta(seconds=1))
        task.changes.append(Change(at, at + skew, at + lag, _moved(task.changes[-1].row, state, at + skew, code)))

    def complete(self, at: datetime, *, lag: timedelta) -> None:
        """Ends the job: later changes are dropped, and running tasks are stopped."""
        self.completed = at
        for name, task in self.tasks.items():
            task.changes = [change for change in task.changes if change.occurred <= at]
            if task.changes[-1].row.state in (PREPARING, RUNNING):
                last = task.changes[-1]
                row = _moved(last.row, COMPLETED, at, 1)
                task.changes.append(Change(at, at, at + lag, row))
            assert task.changes, name

    def delete_task(self, name: str, at: datetime) -> None:
        self.tasks[name].deleted = at
        self.drifts = True

    def is_still(self, start: datetime, end: datetime) -> bool:
        """Returns True if no visible state of its tasks changed from `start` to `end`."""
        return not any(start <= moment <= end for task in self.tasks.values() for moment in task.moments())

    def counts(self, moment: datetime) -> TaskCounts:
        """Returns the counts that a request served at `moment` sees."""
        return counted(change.row for task in self.tasks.values() if (change := task.seen_at(moment)))


@dataclass(slots=True)
class Truth:
    """Every job by id, in order of creation. New jobs are `listed_late`."""

    jobs: dict[str, list[TrueJob]] = field(default_factory=dict)
    listed_late: timedelta = timedelta()

    def create(self, name: str, at: datetime) -> TrueJob:
        job = TrueJob(name, at, listed_late=self.listed_late)
        self.jobs.setdefault(name, []).append(job)
        return job

    def at(self, name: str, moment: datetime) -> TrueJob | None:
        return next((job for job in self.jobs.get(name, ()) if job.is_there(moment)), None)

    def all_at(self, moment: datetime) -> Iterator[TrueJob]:
        for name in sorted(self.jobs):
            if job := self.at(name, moment):
                yield job

    def is_unsettled(self, name: str, start: datetime, end: datetime) -> bool:
        """Returns True if the job was created, deleted or not listed at some time from `start` to `end`."""
        jobs = self.jobs.get(name, ())
        deleted = any(job.deleted is not None and start <= job.deleted <= end for job in jobs)
        return deleted or any(job.created <= end and start <= job.created + job.listed_late for job in jobs)


def counted(rows: Iterable[Task]) -> TaskCounts:
    many = list(rows)
    states, results = Counter(row.state for row in many), Counter(row.result for row in many)
    return TaskCounts(states[ACTIVE], states[PREPARING], states[RUNNING], states[COMPLETED], results[1], results[2])


def _moved(row: Task, state: int, stamp: datetime, code: int) -> Task:
    at = milliseconds(stamp)
    retries = row.retries + (row.state == COMPLETED != state)
    fresh = Task(row.id, state, transition=at, creation=row.creation, retries=retries, slots=row.slots)
    if state in (ACTIVE, PREPARING):
        return fresh
    running = fresh._replace(start=at, node=("pool", f"node-{at % 7}"))
    if state == RUNNING:
        return running
    failure = ("userError", "FailureExitCode") if code else ("", "")
    return running._replace(start=row.start or at, end=at, result=2 if code else 1, exit_code=code, failure=failure)
