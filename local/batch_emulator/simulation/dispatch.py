"""Assigns waiting tasks to free slots: by the jobs' priority and age, spread over nodes or packed."""

from functools import partial

from local.batch_emulator.entities import Job, Pool
from local.batch_emulator.simulation.tasks import TaskLife
from local.batch_emulator.state.context import SimulationContext

_DELAY = 0.2


class Dispatch:
    def __init__(self, context: SimulationContext) -> None:
        self._context = context

    def waiting(self, job: Job) -> None:
        """Registers a job with tasks to run; its pool needn't exist."""
        pool = job.pool
        if pool:
            pool.scheduling_index.add_job(job)
            self.plan(pool)

    def plan(self, pool: Pool) -> None:
        if not pool.is_scheduling_planned:
            pool.is_scheduling_planned = True
            self._context.event_queue.after(_DELAY, partial(self._run, pool))

    def attach(self, tasks: TaskLife) -> None:
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
