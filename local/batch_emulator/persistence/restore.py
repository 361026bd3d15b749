"""Restores accounts from stored rows.

A planned event of a deleted entity is dropped, as it would do nothing. Events already due run in order when time
resumes.
"""

from collections import defaultdict, deque
from collections.abc import Callable
from functools import partial
from sys import intern
from typing import Any, cast

import orjson

from local.batch_emulator.entities import (
    AutoScaleState,
    Failure,
    Job,
    Json,
    Lease,
    Node,
    Pool,
    PreparationStatus,
    Run,
    SatisfiedDependency,
    Schedule,
    StartTask,
    Task,
)
from local.batch_emulator.entities.dependencies import TaskDependencies
from local.batch_emulator.entities.scheduling_index import ReadyTasks, SchedulingIndex
from local.batch_emulator.entities.task_counts import TaskCounts
from local.batch_emulator.entities.task_set import TaskSet
from local.batch_emulator.persistence.rows import KINDS, PLANNED_EVENT
from local.batch_emulator.persistence.store import Store
from local.batch_emulator.simulation.simulation import SimulatedAccount
from local.batch_emulator.state.failures import ENDED

_PROGRESS_TASKS = 100_000
_DELETED = object()
_POOL, _NODE, _SCHEDULE, _JOB = KINDS[Pool], KINDS[Node], KINDS[Schedule], KINDS[Job]
_TASK, _PREPARATION_STATUS, _LEASE = KINDS[Task], KINDS[PreparationStatus], KINDS[Lease]
type Rows = dict[str, list[tuple[int, list[Any]]]]
type ReportProgress = Callable[[int], None]


class AccountReader:
    """Fills the empty account of a simulation; `report` gets the number of tasks read so far, at intervals.

    Afterwards `dropped` are the planned events that can be deleted, as pairs of owner and number.
    """

    def __init__(self, simulation: SimulatedAccount, store: Store, report: ReportProgress) -> None:
        self._simulation = simulation
        self._account = simulation.account
        self._store = store
        self._report = report
        self._by_number: dict[int, Any] = {}
        self._failures = {ENDED: ENDED}
        self._tasks_read = 0
        self.dropped: list[tuple[int, int]] = []

    def restore(self) -> None:
        """Restores the account. Raises StoreError."""
        rows = self._rows(self._account.number)
        for _, row in rows[_POOL.name]:
            self._pool(_POOL.named(row))
        for _, row in rows[_SCHEDULE.name]:
            schedule = Schedule(**_SCHEDULE.named(row))
            self._account.schedules[schedule.key] = self._by_number[schedule.number] = schedule
        for _, row in rows[_JOB.name]:
            self._job(_JOB.named(row))
        for schedule in self._account.schedules.values():
            schedule.job = self._by_number.get(cast("Any", schedule.job))
        for pool in self._account.pools.values():
            self._restore_recent_tasks(pool)
        self._account.leases += [Lease(*row) for _, row in rows[_LEASE.name]]
        for number, row in rows[PLANNED_EVENT]:
            self._restore_event(number, *row)
        for job in self._account.jobs.values():
            self._simulation.tasks.resume(job)

    def _rows(self, owner: int) -> Rows:
        found: Rows = defaultdict(list)
        for number, kind, row in self._store.rows(owner):
            found[kind].append((number, orjson.loads(row)))
        return found

    def _pool(self, row: Json) -> None:
        if row["scaling"]:
            row["scaling"] = AutoScaleState(*row["scaling"])
        pool = Pool(**row, account=self._account, scheduling_index=SchedulingIndex())
        self._account.pools[pool.key] = self._by_number[pool.number] = pool
        for _, values in self._rows(pool.number)[_NODE.name]:
            node = Node(**_NODE.named(values), pool=pool)
            node.start_task = self._special_task(node.start_task)
            pool.nodes[node.id] = self._by_number[node.number] = node

    def _restore_recent_tasks(self, pool: Pool) -> None:
        for node in pool.nodes.values():
            pairs = [(self._by_number.get(job), key) for job, key in cast("Any", node.recent)]
            tasks = [(job, job.tasks.get(key)) for job, key in pairs if job]
            existing = [(job, task) for job, task in tasks if task]
            if len(existing) < len(node.recent):
                self._simulation.context.mark_changed(node, pool)
            node.recent = deque(existing, maxlen=10)
            pool.scheduling_index.update_node(node, usable=node.is_usable)

    def _job(self, row: Json) -> None:
        row["schedule"], row["failure"] = self._by_number.get(row["schedule"]), self._failure(row["failure"])
        job = Job(
            **row,
            account=self._account,
            tasks=TaskSet(),
            task_counts=TaskCounts(),
            ready_tasks=ReadyTasks(),
            dependencies=TaskDependencies(),
        )
        self._account.jobs[job.key] = self._by_number[job.number] = job
        tasks, preparation_statuses = [], []
        for _, kind, text in self._store.rows(job.number):
            values = orjson.loads(text)
            if kind == _TASK.name:
                tasks.append(self._task(job, values))
            elif kind == _PREPARATION_STATUS.name:
                preparation_statuses.append(_PREPARATION_STATUS.named(values))
            else:
                job.dependencies.satisfy(SatisfiedDependency(*values).key)
        for status in preparation_statuses:
            self._preparation_status(job, status)
        job.tasks.fill(tasks)
        context = self._simulation.context
        for task in tasks:
            job.task_counts.move(task.slots, before=None, after=task.kind, now=context.now, lag=context.lag)
            if task.spec.get("dependsOn"):
                job.dependencies.add(task)
            if task.state == "active" and not (task.run or task.open_dependencies):
                job.ready_tasks.push(task)

    def _task(self, job: Job, values: list[Any]) -> Task:
        self._tasks_read += 1
        if self._tasks_read % _PROGRESS_TASKS == 0:
            self._report(self._tasks_read)
        task = Task(*values)
        task.state, task.has_started = intern(task.state), task.started is not None
        task.key = task.id if task.key == task.id else task.key
        task.result, task.previous = _interned(task.result), _interned(task.previous)
        task.pool_id, task.node_id = _interned(task.pool_id), _interned(task.node_id)
        task.failure = self._failure(task.failure)
        if task.run:
            self._run(job, task, cast("Any", task.run))
        return task

    def _run(self, job: Job, task: Task, row: list[Any]) -> None:
        number, node_number, started, visible_phase, other_numbers = row
        node: Node = self._by_number[node_number]
        others = [self._by_number[each] for each in other_numbers]
        task.attempts = 1
        run = Run(number, job, task, node, started, visible_phase, others=others)
        task.run = self._by_number[number] = run
        job.runs[run] = None
        for each in run.nodes:
            each.runs[run] = None
            if visible_phase:
                each.visible_runs[run] = None

    def _preparation_status(self, job: Job, row: Json) -> None:
        waiting = [self._by_number[number] for number, *_ in row["waiting"]]
        preparation, release = self._special_task(row["preparation"]), self._special_task(row["release"])
        node = self._by_number.get(row["node"])
        found = PreparationStatus(
            **{**row, "node": node, "preparation": preparation, "release": release, "waiting": waiting}
        )
        job.preparation_statuses[found.id] = self._by_number[found.number] = found
        must_succeed = job.spec["jobPreparationTask"].get("waitForSuccess", True)
        if node and must_succeed and found.preparation.result == "failure":
            job.failed_preparations[node] = found.image
        if row["node"] and not node:
            self._simulation.context.mark_changed(found, job)

    def _special_task(self, row: Any) -> Any:
        """Returns a start, preparation or release task, or None."""
        if row is None:
            return None
        found = StartTask(*row)
        found.failure = self._failure(found.failure)
        return found

    def _failure(self, row: Any) -> Failure | None:
        if row is None:
            return None
        category, code, message, details = row
        found = Failure(category, code, message, tuple((name, value) for name, value in details))
        return self._failures.setdefault(found, found)

    def _restore_event(self, number: int, due: int, target: str, arguments: list[Any]) -> None:
        owner, _, name = target.partition(".")
        found = [self._argument(each) for each in arguments]
        if any(each is _DELETED for each in found):
            self.dropped.append((self._account.number, number))
            return
        method = getattr(self._simulation.transitions[owner], name)
        self._simulation.context.event_queue.restore(number, due, partial(method, *found))

    def _argument(self, value: Any) -> Any:
        if isinstance(value, list):
            return [found for each in value if (found := self._argument(each)) is not _DELETED]
        if not isinstance(value, dict):
            return value
        return self._by_number.get(value["number"], _DELETED) if "number" in value else self._failure(value["failure"])


def _interned(text: str | None) -> str | None:
    """Returns the shared copy of a word that many tasks use."""
    return None if text is None else intern(text)
