"""State transitions of tasks: active, preparing, running, completed, and the ways back to active.

State changes move stateTransitionTime and never lastModified. Every step first checks whether the run is still the
task's current one, so events of a run that ended early (a lost node, a deleted task) do nothing.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from local.batch_emulator.core.durations import seconds_of
from local.batch_emulator.entities import Failure, Job, Node, Run, SatisfiedDependency, Task
from local.batch_emulator.simulation.preparation import PreparationTransitions
from local.batch_emulator.state.command_lines import task_result
from local.batch_emulator.state.context import SimulationContext
from local.batch_emulator.state.exit_rules import satisfies_dependents
from local.batch_emulator.state.failures import ENDED, KILLED, TOO_LONG, download_failure, exit_failure
from local.batch_emulator.state.usage_log import Outcome

_ASSIGNED = (0.1, 0.5)
_PREPARING = (0.2, 1.5)
_DOWNLOADING = (0.3, 2.0)


class TaskTransitions:
    """Carries out the state transitions of tasks.

    `run_ended` is called with each run that has ended, `tasks_ready` with each job that has tasks to run, and
    `task_completed` with every completed task and its job.
    """

    def __init__(
        self,
        context: SimulationContext,
        *,
        run_ended: Callable[[Run], None],
        tasks_ready: Callable[[Job], None],
        task_completed: Callable[[Job, Task], None],
    ) -> None:
        self._context = context
        self._run_ended = run_ended
        self._tasks_ready = tasks_ready
        self._task_completed = task_completed
        self.preparation = PreparationTransitions(
            context, prepared=self._prepared, preparation_failed=self._preparation_failed
        )

    def add(self, job: Job, tasks: Iterable[Task]) -> None:
        for task in tasks:
            job.tasks.add(task)
            self._context.mark_changed(task, job)
            job.task_counts.move(task.slots, before=None, after=task.kind, now=self._context.now, lag=self._context.lag)
            if task.spec.get("dependsOn"):
                job.dependencies.add(task)
            if not task.open_dependencies:
                job.ready_tasks.push(task)
        self._tasks_ready(job)

    def assign(self, job: Job, task: Task, nodes: Sequence[Node]) -> None:
        """Assigns a task to a node; one with several instances also to those of its subtasks, after the primary's."""
        number, (node, *others) = self._context.change_log.next_number(), nodes
        run = Run(number, job, task, node, assigned=self._context.now, others=others)
        task.run, task.attempts = run, task.attempts + 1
        job.runs[run] = None
        for each in nodes:
            each.runs[run] = None
            each.free -= task.slots
            each.pool.scheduling_index.update_node(each, usable=each.is_usable)
        self._mark_changed(run)
        self._context.between(_ASSIGNED, partial(self._prepare, run))

    def requeue(self, run: Run, outcome: Outcome, *, counted: bool) -> None:
        """Returns a run to the queue's head; `counted` if a user's resize, deletion or disable is the reason."""
        task = run.task
        if counted:
            task.requeues, task.last_requeue = task.requeues + 1, self._context.now
        self._context.log.task_requeued(run)
        self._requeue(run, outcome)
        self._run_ended(run)

    def end(self, job: Job, task: Task) -> None:
        """Terminates a task at a user's request."""
        run = task.run
        if run:
            self._detach(run, "terminated")
        task.ticket += 1
        self._complete(job, task, self._context.now, exit_code=None, failure=ENDED)
        if run:
            self._run_ended(run)

    def reactivate(self, job: Job, task: Task) -> None:
        task.retries, task.last_retry, task.has_started = 0, None, False
        self._activate(job, task)

    def delete(self, job: Job, task: Task) -> None:
        run = task.run
        if run:
            self._detach(run, "deleted")
        task.ticket += 1
        job.task_counts.move(task.slots, before=task.kind, after=None, now=self._context.now, lag=self._context.lag)
        job.tasks.remove(task)
        self._context.change_log.mark_deleted(task, job)
        if run:
            self._run_ended(run)

    def resume(self, job: Job) -> None:
        """Lets an enabled job's tasks run again."""
        self._tasks_ready(job)

    def drop(self, run: Run) -> None:
        """Removes a deleted job's task from its node."""
        self._detach(run, "deleted")
        self._run_ended(run)

    def release(self, job: Job) -> float:
        """Starts the release tasks of an ending job; returns the seconds until the last ends."""
        return self.preparation.release(job)

    def _prepare(self, run: Run) -> None:
        if run.task.run is run:
            self._context.start_ups.mark(run.node, "preparing", self._context.now)
            self._context.report(run.node, partial(self._show_preparing, run))
            self.preparation.prepare(run)

    def _prepared(self, run: Run) -> None:
        self._context.between(_PREPARING, partial(self._begin, run))

    def _preparation_failed(self, run: Run) -> None:
        """Returns a run to the queue after a failed job preparation on its node."""
        self._context.log.task_not_scheduled(run)
        self._requeue(run, "preparationFailed")
        self._run_ended(run)

    def _begin(self, run: Run) -> None:
        if run.task.run is not run:
            return
        run.started, run.begun = self._context.node_now(run.node), self._context.now
        self._context.start_ups.mark(run.node, "firstTask", self._context.now)
        self._mark_changed(run)
        self._context.report(run.node, partial(self._show_running, run))
        if failure := download_failure(run.task.spec):
            self._context.between(_DOWNLOADING, partial(self._finish, run, None, failure))
            return
        result = task_result(run.task.spec, self._context.rng)
        limit = (run.task.spec.get("constraints") or {}).get("maxWallClockTime")
        if limit and (seconds := seconds_of(limit)) < result.seconds:
            self._context.event_queue.after(seconds, partial(self._finish, run, KILLED, TOO_LONG))
            return
        failed = exit_failure(result.exit_code) if result.exit_code else None
        self._context.event_queue.after(result.seconds, partial(self._finish, run, result.exit_code, failed))

    def _finish(self, run: Run, exit_code: int | None, failure: Failure | None) -> None:
        if run.task.run is run:
            self._context.report(run.node, partial(self._show_end, run, exit_code, failure))

    def _show_preparing(self, run: Run, moment: int) -> None:
        if self._show_phase(run, 1, moment):
            self._set(run.job, run.task, "preparing", moment)

    def _show_running(self, run: Run, moment: int) -> None:
        if self._show_phase(run, 2, moment):
            run.task.started = run.started
            _count_start(run)
            self._set(run.job, run.task, "running", moment)
            self._context.log.task_started(run)

    def _show_phase(self, run: Run, phase: int, moment: int) -> bool:
        """Records that a run is visible on its node; returns False for an outdated report."""
        if run.task.run is not run or run.visible_phase >= phase:
            return False
        run.visible_phase = phase
        self._mark_changed(run)
        run.task.pool_id, run.task.node_id = run.node.pool.id, run.node.id
        run.task.subtask_nodes = [node.id for node in run.others]
        for node in run.nodes:
            if run not in node.visible_runs:
                node.visible_runs[run] = None
                node.recent.append((run.job, run.task))
            if node.state == "idle":
                reported = self._context.same_moment(node, run.node, moment)
                self._context.change_node_state(node, "running", reported=reported)
        return True

    def _show_end(self, run: Run, exit_code: int | None, failure: Failure | None, moment: int) -> None:
        job, task = run.job, run.task
        if task.run is not run:
            return
        for node in run.nodes:
            node.total, node.succeeded = node.total + 1, node.succeeded + (failure is None)
        _count_start(run)
        may_retry = task.max_retries < 0 or task.retries < task.max_retries
        if failure and exit_code is not None and may_retry:
            task.retries, task.last_retry = task.retries + 1, self._context.now
            _count(job, retried=1)
            self._requeue(run, "retried", reported=moment)
        else:
            self._detach(run, "failed" if failure else "succeeded", reported=moment)
            task.started = run.started
            self._complete(job, task, moment, exit_code=exit_code, failure=failure)
        self._run_ended(run)

    def _requeue(self, run: Run, outcome: Outcome, *, reported: int | None = None) -> None:
        self._detach(run, outcome, reported=reported)
        self._activate(run.job, run.task)

    def _activate(self, job: Job, task: Task) -> None:
        task.started = task.ended = task.exit_code = task.failure = None
        task.pool_id = task.node_id = None
        task.subtask_nodes = ()
        if task.state != "active":
            self._set(job, task, "active", self._context.now)
        if not task.open_dependencies:
            job.ready_tasks.push(task, first=True)
            self._tasks_ready(job)

    def _complete(self, job: Job, task: Task, moment: int, *, exit_code: int | None, failure: Failure | None) -> None:
        task.exit_code, task.failure, task.ended = exit_code, failure, moment
        self._set(job, task, "completed", moment, result="failure" if failure else "success")
        _count(job, completed=1, failed=int(failure is not None))
        self._context.log.task_ended(job, task)
        if job.spec.get("usesTaskDependencies") and satisfies_dependents(task):
            self._satisfy_dependents(job, task)
        self._task_completed(job, task)

    def _satisfy_dependents(self, job: Job, done: Task) -> None:
        """Queues tasks whose last dependency is satisfied, unless they were deleted or have ended."""
        if not job.dependencies.is_satisfied(done.key):
            self._context.mark_changed(SatisfiedDependency(self._context.change_log.next_number(), done.key), job)
        unblocked = [task for task in job.dependencies.satisfy(done.key) if job.tasks.get(task.key) is task]
        for task in unblocked:
            if task.state == "active" and task.run is None:
                job.ready_tasks.push(task)
        if unblocked:
            self._tasks_ready(job)

    def _detach(self, run: Run, outcome: Outcome, *, reported: int | None = None) -> None:
        """Frees a run's slots; `reported` is its end by the node's clock, if the node reported it."""
        run.task.run = None
        self._context.end_run(run, outcome, reported=reported)
        self._mark_changed(run)
        run.job.runs.pop(run, None)
        self.preparation.remove_waiting(run)
        for node in run.nodes:
            node.runs.pop(run, None)
            node.visible_runs.pop(run, None)
            node.free += run.task.slots
            if node.state == "running" and not node.visible_runs:
                self._context.change_node_state(node, node.idle_state, reported=self._context.node_now(node))
            node.pool.scheduling_index.update_node(node, usable=node.is_usable)

    def _set(self, job: Job, task: Task, state: str, moment: int, *, result: str | None = None) -> None:
        before = task.kind
        task.previous, task.previous_changed = task.state, task.changed
        task.state, task.changed, task.result = state, moment, result
        job.task_counts.move(task.slots, before=before, after=task.kind, now=self._context.now, lag=self._context.lag)
        job.tasks.log_change(task)
        self._context.mark_changed(task, job)

    def _mark_changed(self, run: Run) -> None:
        self._context.mark_changed(run.task, run.job)
        for node in run.nodes:
            self._context.mark_changed(node, node.pool)


def _count(job: Job, **more: int) -> None:
    job.account.task_counters[job.pool_id.lower()].update(more)


def _count_start(run: Run) -> None:
    """Counts the first start of a task since its creation or reactivation."""
    if not run.task.has_started:
        run.task.has_started = True
        _count(run.job, started=1)
