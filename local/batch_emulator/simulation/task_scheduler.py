"""Assigns waiting tasks to free slots, spread over nodes or packed, and makes room for tasks of higher priority.

Source: the reference of TaskSchedulingPolicy, and of allowTaskPreemption in Create Job. Jobs of a higher priority go
first. Among those of equal priority the order is that of `jobDefaultOrder`: the oldest job first, or all in turns. A
job whose next task fits on no node is passed over by others. A multi-instance task starts once enough nodes are idle at
once; nothing is requeued for it, and no nodes are kept idle for it.
"""

from collections.abc import Sequence
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
        index = pool.scheduling_index
        index.resume_jobs()
        while free := index.max_free_slots:
            if not (next_one := index.pop_task(free, _idle_nodes(pool), oldest_first=pool.takes_oldest_first)):
                break
            self._place(pool, *next_one, _find_nodes(pool, *next_one))
        if preemptible := index.preemptible_runs():
            self._preempt(pool, preemptible)

    def _preempt(self, pool: Pool, preemptible: dict[Node, list[Run]]) -> None:
        """Requeues running tasks of jobs that allow it, for tasks of higher priority that fit on no node."""
        index = pool.scheduling_index
        index.resume_jobs()
        oldest_first = pool.takes_oldest_first
        while next_one := index.pop_task(pool.slots_per_node, _idle_nodes(pool), oldest_first=oldest_first):
            nodes = _find_nodes(pool, *next_one)
            if not nodes and not next_one[1].instances:
                nodes = self._make_room(*next_one, preemptible)
            self._place(pool, *next_one, nodes)

    def _place(self, pool: Pool, job: Job, task: Task, nodes: Sequence[Node]) -> None:
        """Assigns a task to nodes; without any its job is passed over in this run."""
        if nodes:
            pool.scheduling_index.note_turn(job)
            self._tasks.assign(job, task, nodes)
        else:
            job.ready_tasks.push(task, first=True)
            pool.scheduling_index.suspend_job(job)

    def _make_room(self, job: Job, task: Task, preemptible: dict[Node, list[Run]]) -> Sequence[Node]:
        """Requeues runs on one node so that a task fits there; returns none if there is no such node."""
        runs = _runs_to_requeue(job, task, preemptible)
        for run in runs:
            preemptible[run.node].remove(run)
            self._tasks.requeue(run, "taskPreempted", counted=False)
        return [run.node for run in runs[:1]]


def _find_nodes(pool: Pool, job: Job, task: Task) -> Sequence[Node]:
    failed = job.failed_preparations
    if task.instances:
        return pool.scheduling_index.find_nodes(task.instances, failed)
    found = pool.scheduling_index.find_node(task.slots, pack=pool.is_packed, failed_preparations=failed)
    return [found] if found else ()


def _idle_nodes(pool: Pool) -> int:
    """Returns how many nodes a multi-instance task may take now."""
    return pool.scheduling_index.count_nodes(1) if pool.runs_multi_instance_tasks else 0


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
