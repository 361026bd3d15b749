"""The simulation of one account: composes tasks, nodes, pools and jobs, and connects their callbacks."""

import random
from collections.abc import Callable, Mapping

from local.batch_emulator.core.clock import Clock
from local.batch_emulator.core.settings import EmulatorSettings
from local.batch_emulator.entities import Account, Job, Node, Task
from local.batch_emulator.simulation.auto_pools import AutoPools
from local.batch_emulator.simulation.auto_scale import AutoScale
from local.batch_emulator.simulation.dispatch import Dispatch
from local.batch_emulator.simulation.jobs import JobLife
from local.batch_emulator.simulation.nodes import NodeLife
from local.batch_emulator.simulation.pools import PoolLife
from local.batch_emulator.simulation.schedules import ScheduleLife
from local.batch_emulator.simulation.tasks import TaskLife
from local.batch_emulator.state.change_log import ChangeLog
from local.batch_emulator.state.context import SimulationContext
from local.batch_emulator.state.event_log import EventLog
from local.batch_emulator.state.event_queue import EventQueue
from local.batch_emulator.telemetry.samplers import NodeSampler


class Simulation:
    def __init__(
        self,
        account: Account,
        clock: Clock,
        event_queue: EventQueue,
        settings: EmulatorSettings,
        change_log: ChangeLog,
        *,
        seed: str,
        late_seconds: Callable[[], float],
    ) -> None:
        self.account = account
        log = EventLog(account.name, clock, seed)
        self.context = SimulationContext(
            clock, event_queue, settings, change_log, random.Random(f"{seed}/{account.name}"), log, late_seconds
        )
        self._dispatch = Dispatch(self.context)
        self.tasks = TaskLife(self.context, left=self._run_ended, waiting=self._dispatch.waiting, done=self._completed)
        self._dispatch.attach(self.tasks)
        self.pools = PoolLife(account, self.context, self.next_number)
        self.sampler = NodeSampler(account, self.context)
        self.nodes = NodeLife(
            self.context,
            self.tasks,
            ready=self._dispatch.plan,
            settled=self.pools.settle,
            ended=self.sampler.ends,
        )
        self.scaling = AutoScale(self.context, self.pools)
        self.pools.attach(self.nodes, self.scaling.begin)
        self.jobs = JobLife(account, self.context, self.next_number, AutoPools(account, self.context, self.pools))
        self.schedules = ScheduleLife(account, self.context, self.jobs)
        self.jobs.attach(self.tasks, self.schedules.job_ended)

    @property
    def transitions(self) -> Mapping[str, object]:
        """The objects whose planned methods are stored, by name. Plans of dispatch are re-created instead."""
        return {
            "tasks": self.tasks,
            "sides": self.tasks.sides,
            "nodes": self.nodes,
            "pools": self.pools,
            "scaling": self.scaling,
            "jobs": self.jobs,
            "schedules": self.schedules,
        }

    def next_number(self) -> int:
        """Returns the next number, in the order of creation of entities."""
        return self.context.change_log.number()

    def _completed(self, job: Job, task: Task) -> None:
        self.jobs.task_completed(job, task)

    def _run_ended(self, node: Node, job: Job) -> None:
        self.nodes.leave_when_free(node)
        self._dispatch.plan(node.pool)
        self.jobs.look(job)
