"""Assigns waiting tasks to free slots, spread over nodes or packed, and makes room for tasks of higher priority.

Source: the reference of TaskSchedulingPolicy, and of allowTaskPreemption in Create Job. Jobs of a higher priority go
first. Among those of equal priority the order is that of `jobDefaultOrder`: the oldest job first, or all in turns. A
job whose next task fits on no node is passed over by others.
"""

from functools import partial

from local.batch_emulator.entities import Job, Node, Pool, Run, Task
from local.batch_emulator.simulation.tasks import TaskTransitions
from local.batch_emulator.state.context import SimulationContext

_DELAY_SECONDS = 0.2


class TaskScheduler:
    def __init__(self, context: SimulationContext) -> None:
        self._context = context

    def add_job(self, job: Job) -> None:
        """Registers a job with tasks to run; its pool needn't exist."""
        pool = job.pool
        if pool:
            pool.scheduling_index.add_job(job)
            self.plan_run(pool)

    def plan_run(self, pool: Pool) -> None:
        if not pool.is_scheduling_planned:
            pool.is_scheduling_planned = True
            self._context.event_queue.after(_DELAY_SECONDS, partial(self._run, pool))

    def attach(self, tasks: TaskTransitions) -> None:
        self._tasks = tasks

    def _run(self, pool: Pool) -> None:
        pool.is_scheduling_planned = False
        if pool.is_deleted or pool.state != "active":
            return
        self._fill(pool)
        self._preempt(pool)

    def _fill(self, pool: Pool) -> None:
        """Assigns tasks while any of them fits on a node."""
        index = pool.scheduling_index
        index.resume_jobs()
        while index.max_free_slots and (next_one := index.pop_task(oldest_first=pool.takes_oldest_first)):
            job, task = next_one
            if node := self._find_node(job, task):
                self._assign(job, task, node)
            else:
                job.ready_tasks.push(task, first=True)
                index.suspend_job(job)

    def _preempt(self, pool: Pool) -> None:
        """Requeues running tasks of jobs that allow it, for tasks of higher priority that fit on no node."""
        index = pool.scheduling_index
        preemptible = index.preemptible_runs()
        if not preemptible:
            return
        index.resume_jobs()
        for job in list(index.jobs_in_order(oldest_first=pool.takes_oldest_first)):
            while job.may_run_more and (task := job.ready_tasks.pop(pool.slots_per_node)):
                node = self._find_node(job, task) or self._make_room(job, task, preemptible)
                if node is None:
                    job.ready_tasks.push(task, first=True)
                    break
                self._assign(job, task, node)

    def _make_room(self, job: Job, task: Task, preemptible: dict[Node, list[Run]]) -> Node | None:
        """Requeues runs on one node so that a task fits there; returns None if there is no such node."""
        runs = _runs_to_requeue(job, task, preemptible)
        for run in runs:
            preemptible[run.node].remove(run)
            self._tasks.requeue(run, counted=False)
        return runs[0].node if runs else None

    def _find_node(self, job: Job, task: Task) -> Node | None:
        pool, failed = job.pool, job.failed_preparations
        if pool is None:
            return None
        return pool.scheduling_index.find_node(task.slots, pack=pool.is_packed, failed_preparations=failed)

    def _assign(self, job: Job, task: Task, node: Node) -> None:
        node.pool.scheduling_index.note_turn(job)
        self._tasks.assign(job, task, node)


def _runs_to_requeue(job: Job, task: Task, preemptible: dict[Node, list[Run]]) -> list[Run]:
    """Returns the runs of lower priority on one node whose slots suffice for a task; none if there is no such node.

    Of several nodes it is the one where the fewest tasks of the lowest priority are requeued.
    """
    found = [
        runs
        for node, candidates in preemptible.items()
        if node.is_usable and job.failed_preparations.get(node) != node.image
        if (runs := _enough(candidates, task.slots - node.free, below=job.priority))
    ]
    return min(found, key=lambda runs: (runs[-1].job.priority, len(runs), runs[0].node.number), default=[])


def _enough(candidates: list[Run], slots: int, *, below: int) -> list[Run]:
    """Returns the first runs with so many slots in total, of jobs below a priority; none if they don't suffice."""
    runs = []
    for run in candidates:
        if slots <= 0 or run.job.priority >= below:
            break
        runs.append(run)
        slots -= run.task.slots
    return runs if slots <= 0 else []
