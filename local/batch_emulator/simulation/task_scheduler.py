"""Assigns waiting tasks to free slots: by the jobs' priority and age, spread over nodes or packed."""

from functools import partial

from local.batch_emulator.entities import Job, Pool
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
        pack = str((pool.spec.get("taskSchedulingPolicy") or {}).get("nodeFillType", "")).lower() == "pack"
        scheduling_index = pool.scheduling_index
        scheduling_index.resume_jobs()
        while scheduling_index.max_free_slots and (next_one := scheduling_index.pop_task()):
            job, task = next_one
            node = scheduling_index.find_node(task.slots, pack=pack, failed_preparations=job.failed_preparations)
            if node:
                self._tasks.assign(job, task, node)
            else:
                job.ready_tasks.push(task, first=True)
                scheduling_index.suspend_job(job)
