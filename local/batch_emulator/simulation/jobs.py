"""State transitions of jobs: active, disabled and enabled, terminated by a user or after the last task, deleted."""

from collections.abc import Callable
from functools import partial

from local.batch_emulator.core.collation import fold
from local.batch_emulator.core.durations import seconds_of
from local.batch_emulator.entities import Account, Job, Json, Schedule, Task
from local.batch_emulator.entities.dependencies import TaskDependencies
from local.batch_emulator.entities.scheduling_index import ReadyTasks
from local.batch_emulator.entities.task_counts import TaskCounts
from local.batch_emulator.entities.task_set import TaskSet
from local.batch_emulator.simulation.auto_pools import AutoPools
from local.batch_emulator.simulation.tasks import TaskTransitions
from local.batch_emulator.state.context import SimulationContext
from local.batch_emulator.state.exit_rules import job_action

_NO_LIMIT = 10 * 365 * 86_400.0
_TRANSITION_SECONDS = (0.5, 2.0)
_COMPLETION_CHECK_SECONDS = 1.0


class JobTransitions:
    def __init__(
        self, account: Account, context: SimulationContext, number: Callable[[], int], pools: AutoPools
    ) -> None:
        self._account = account
        self._context = context
        self._number = number
        self._pools = pools

    def attach(self, tasks: TaskTransitions, job_ended: Callable[[Job], None]) -> None:
        """Connects the transitions of tasks; `job_ended` is called with jobs that have completed or were deleted."""
        self._tasks = tasks
        self._job_ended = job_ended

    def begin(self, name: str, spec: Json, schedule: Schedule | None = None) -> Job:
        """Creates a job, with its job manager task if it has one."""
        now = self._context.now
        job = Job(
            id=name,
            key=fold(name),
            number=self._number(),
            account=self._account,
            spec=spec,
            created=now,
            modified=now,
            changed=now,
            tasks=TaskSet(),
            task_counts=TaskCounts(),
            ready_tasks=ReadyTasks(),
            dependencies=TaskDependencies(),
            schedule=schedule,
        )
        self._account.jobs[job.key] = job
        self._context.mark_changed(job, self._account)
        job.failure = self._pools.begin(job)
        if job.failure:
            self._context.between(_TRANSITION_SECONDS, partial(self._not_started, job, job.turn))
        if manager := spec.get("jobManagerTask"):
            self._tasks.add(job, [manager_task(manager, self._number(), now)])
        self._plan_expiry(job)
        self.check_completion(job)
        return job

    def changed(self, job: Job) -> None:
        """Handles a user's change of a job: more tasks may run, it may end, its time limit may change."""
        self._plan_expiry(job)
        self._tasks.resume(job)
        self.check_completion(job)

    def task_completed(self, job: Job, task: Task) -> None:
        """Handles a task's end: that of the job manager ends the job, exit conditions may."""
        manager = job.spec.get("jobManagerTask") or {}
        if job.state != "active":
            return
        action = job_action(job, task)
        if fold(str(manager.get("id", ""))) == task.key and manager.get("killJobOnCompletion", True):
            self._context.event_queue.after(0, partial(self._end, job, job.turn, "JMComplete"))
        elif action == "terminate":
            self._context.event_queue.after(0, partial(self._end, job, job.turn, "TaskFailed"))
        elif action == "disable":
            self._context.event_queue.after(0, partial(self._disable_after, job, job.turn))

    def check_completion(self, job: Job) -> None:
        """Checks whether a job is done; called after its creation, a change, or a run's end."""
        if self._is_done(job):
            self._context.event_queue.after(_COMPLETION_CHECK_SECONDS, partial(self._end_if_done, job))
        elif job.state == "disabling" and not job.runs:
            self._context.between(_TRANSITION_SECONDS, partial(self._disabled, job, job.turn))

    def terminate(self, job: Job, reason: str) -> None:
        """Terminates a job and its runs; active tasks stay active, as documented."""
        self._begin_transition(job, "terminating")
        job.reason = reason
        for run in list(job.runs):
            self._tasks.end(job, run.task)
        self._after_release(job, partial(self._terminated, job, job.turn))

    def disable(self, job: Job, option: str) -> None:
        self._begin_transition(job, "disabling")
        for run in list(job.runs) if option != "wait" else ():
            if option == "terminate":
                self._tasks.end(job, run.task)
            else:
                self._tasks.requeue(run, "requeued", counted=True)
        self._context.between(_TRANSITION_SECONDS, partial(self._disabled, job, job.turn))

    def enable(self, job: Job) -> None:
        self._begin_transition(job, "enabling")
        self._context.between(_TRANSITION_SECONDS, partial(self._enabled, job, job.turn))

    def delete(self, job: Job) -> None:
        was_open = job.ended is None and job.state != "terminating"
        self._begin_transition(job, "deleting")
        for run in list(job.runs):
            self._tasks.drop(run)
        if was_open:
            self._after_release(job, partial(self._gone, job))
        else:
            self._context.between(_TRANSITION_SECONDS, partial(self._gone, job))

    def _after_release(self, job: Job, event: Callable[[], None]) -> None:
        self._context.event_queue.after(
            self._tasks.release(job) + self._context.rng.uniform(*_TRANSITION_SECONDS), event
        )

    def _plan_expiry(self, job: Job) -> None:
        text = (job.spec.get("constraints") or {}).get("maxWallClockTime")
        if text and (seconds := seconds_of(text)) < _NO_LIMIT:
            self._context.event_queue.after(seconds, partial(self._expire, job, str(text)))

    def _expire(self, job: Job, text: str) -> None:
        is_same = (job.spec.get("constraints") or {}).get("maxWallClockTime") == text
        if is_same and job.state in ("active", "disabled", "disabling", "enabling"):
            self.terminate(job, "MaxWallClockTimeExpiry")

    def _end(self, job: Job, turn: int, reason: str) -> None:
        if job.turn == turn and job.state == "active":
            self.terminate(job, reason)

    def _disable_after(self, job: Job, turn: int) -> None:
        if job.turn == turn and job.state == "active":
            self.disable(job, "requeue")

    def _is_done(self, job: Job) -> bool:
        wanted = str(job.spec.get("onAllTasksComplete", "")).lower() == "terminatejob"
        return wanted and job.state == "active" and not job.task_counts.counts.unfinished

    def _end_if_done(self, job: Job) -> None:
        if self._is_done(job):
            self.terminate(job, "AllTasksComplete")

    def _terminated(self, job: Job, turn: int) -> None:
        if job.turn == turn:
            job.ended = self._context.now
            self._set(job, "completed")
            self._job_ended(job)
            self._pools.end(job)

    def _disabled(self, job: Job, turn: int) -> None:
        if job.turn == turn and job.state == "disabling" and not job.runs:
            self._set(job, "disabled")

    def _not_started(self, job: Job, turn: int) -> None:
        """Completes a job whose own pool can't be created (reference of PoolInformation)."""
        if job.turn == turn:
            job.ended = self._context.now
            self._set(job, "completed")
            self._job_ended(job)

    def _enabled(self, job: Job, turn: int) -> None:
        if job.turn == turn:
            self._set(job, "active")
            self._tasks.resume(job)
            self.check_completion(job)

    def _gone(self, job: Job) -> None:
        if self._account.jobs.get(job.key) is job:
            del self._account.jobs[job.key]
            self._context.change_log.mark_deleted(job, self._account)
            self._job_ended(job)
            self._pools.end(job)

    def _begin_transition(self, job: Job, state: str) -> None:
        job.turn += 1
        self._set(job, state)

    def _set(self, job: Job, state: str) -> None:
        job.previous, job.previous_changed = job.state, job.changed
        job.state, job.changed = state, self._context.now
        self._context.mark_changed(job, self._account)


def manager_task(spec: Json, number: int, now: int) -> Task:
    """Returns a job manager task as a task, with the id in its specification."""
    name, retries = str(spec["id"]), (spec.get("constraints") or {}).get("maxTaskRetryCount")
    return Task(
        id=name,
        key=fold(name),
        number=number,
        spec=spec,
        slots=int(spec.get("requiredSlots") or 1),
        max_retries=int(retries or 0),
        created=now,
        changed=now,
    )
