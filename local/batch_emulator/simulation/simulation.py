"""The simulation of one account: composes tasks, nodes, pools and jobs, and connects their callbacks."""

import random
from collections.abc import Callable, Mapping

from local.batch_emulator.core.clock import Clock
from local.batch_emulator.core.errors import conflict
from local.batch_emulator.core.settings import EmulatorSettings
from local.batch_emulator.entities import Account, Job, Run, Task
from local.batch_emulator.simulation.auto_pools import AutoPools
from local.batch_emulator.simulation.auto_scale import AutoScaleRuns
from local.batch_emulator.simulation.jobs import JobTransitions
from local.batch_emulator.simulation.nodes import NodeTransitions
from local.batch_emulator.simulation.pools import PoolTransitions
from local.batch_emulator.simulation.schedules import ScheduleTransitions
from local.batch_emulator.simulation.task_scheduler import TaskScheduler
from local.batch_emulator.simulation.tasks import TaskTransitions
from local.batch_emulator.state.change_log import ChangeLog
from local.batch_emulator.state.context import SimulationContext
from local.batch_emulator.state.event_log import EventLog
from local.batch_emulator.state.event_queue import EventQueue
from local.batch_emulator.state.usage_log import UsageLog
from local.batch_emulator.telemetry.samplers import NodeSampler


class SimulatedAccount:
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
            clock,
            event_queue,
            settings,
            change_log,
            random.Random(f"{seed}/{account.name}"),
            log,
            UsageLog(clock.now),
            late_seconds,
            seed=f"{seed}/{account.name}",
        )
        self._scheduler = TaskScheduler(self.context)
        self.tasks = TaskTransitions(
            self.context,
            run_ended=self._run_ended,
            tasks_ready=self._scheduler.add_job,
            task_completed=self._task_completed,
        )
        self._scheduler.attach(self.tasks)
        self.pools = PoolTransitions(account, self.context, self.next_number)
        self.sampler = NodeSampler(account, self.context)
        self.nodes = NodeTransitions(
            self.context,
            self.tasks,
            node_ready=self._scheduler.plan_run,
            node_changed=self.pools.check_steady,
            session_ended=self.sampler.end_session,
        )
        self.scaling = AutoScaleRuns(self.context, self.pools)
        self.pools.attach(self.nodes, self.scaling.begin)
        self.jobs = JobTransitions(
            account, self.context, self.next_number, AutoPools(account, self.context, self.pools)
        )
        self.schedules = ScheduleTransitions(account, self.context, self.jobs)
        self.jobs.attach(self.tasks, self.schedules.job_ended)

    @property
    def transitions(self) -> Mapping[str, object]:
        """The objects whose planned methods are stored, by stored name. The task scheduler's events are re-created."""
        return {
            "tasks": self.tasks,
            "sides": self.tasks.preparation,
            "nodes": self.nodes,
            "pools": self.pools,
            "scaling": self.scaling,
            "jobs": self.jobs,
            "schedules": self.schedules,
        }

    def next_number(self) -> int:
        """Returns the next number, in the order of creation of entities."""
        return self.context.change_log.next_number()

    def require_job_quota(self) -> None:
        """Raises BatchError if the account may have no more active jobs and job schedules."""
        quota = self.context.settings.jobQuota
        states = [job.state for job in self.account.jobs.values()]
        states += [schedule.state for schedule in self.account.schedules.values()]
        if quota and sum(state != "completed" for state in states) >= quota:
            raise conflict(
                "ActiveJobAndScheduleQuotaReached",
                "The account has reached its quota of active jobs and job schedules.",
            )

    def _task_completed(self, job: Job, task: Task) -> None:
        self.jobs.task_completed(job, task)

    def _run_ended(self, run: Run) -> None:
        for node in run.nodes:
            self.nodes.leave_when_free(node)
        self._scheduler.plan_run(run.node.pool)
        self.jobs.check_completion(run.job)
