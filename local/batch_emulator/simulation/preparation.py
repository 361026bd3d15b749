"""Job preparation tasks, before a job's first task on a node, and job release tasks, when the job ends.

Source: the reference of JobPreparationTask and JobReleaseTask. A node with a failed preparation accepts no more tasks
of the job until it is reimaged. Release runs where preparation succeeded, and the job completes after the last one.
"""

from collections.abc import Callable
from functools import partial

from local.batch_emulator.entities import Job, Json, Node, PreparationStatus, Run, StartTask
from local.batch_emulator.state.command_lines import command_result
from local.batch_emulator.state.context import SimulationContext
from local.batch_emulator.state.failures import exit_failure

type RunCallback = Callable[[Run], None]


class PreparationTransitions:
    """Carries out the state transitions of preparation and release tasks.

    `prepared` is called with runs on prepared nodes, `preparation_failed` with runs on nodes whose preparation failed.
    """

    def __init__(self, context: SimulationContext, *, prepared: RunCallback, preparation_failed: RunCallback) -> None:
        self._context = context
        self._on_prepared = prepared
        self._preparation_failed = preparation_failed

    def prepare(self, run: Run) -> None:
        """Calls `prepared` once the run's job is prepared on its node, possibly immediately."""
        spec: Json | None = run.job.spec.get("jobPreparationTask")
        if not spec:
            self._on_prepared(run)
            return
        must_succeed = bool(spec.get("waitForSuccess", True))
        for node in run.nodes:
            status = run.job.preparation_statuses.get(node.id)
            if status is None or _is_outdated(status, node, spec):
                status = self._begin(run.job, node, spec)
            status.has_run = True
            self._context.mark_changed(status, run.job)
            if must_succeed and status.preparation.state != "completed":
                status.waiting.append(run)
        self._continue(run, must_succeed=must_succeed)

    def remove_waiting(self, run: Run) -> None:
        """Removes a run that has ended, possibly while it waited."""
        for status in _statuses(run):
            if run in status.waiting:
                status.waiting.remove(run)
                self._context.mark_changed(status, run.job)

    def release(self, job: Job) -> float:
        """Starts the release tasks of an ending job; returns the seconds until the last ends."""
        spec: Json | None = job.spec.get("jobReleaseTask")
        max_seconds = 0.0
        for status in job.preparation_statuses.values() if spec else ():
            node = status.node
            if node is None or status.preparation.result != "success" or node.pool.nodes.get(node.id) is not node:
                continue
            status.release = StartTask(self._context.node_now(node))
            self._context.mark_changed(status, job)
            result = command_result(str((spec or {})["commandLine"]), self._context.rng)
            self._context.event_queue.after(result.seconds, partial(self._released, job, status, result.exit_code))
            max_seconds = max(max_seconds, result.seconds)
        return max_seconds

    def _begin(self, job: Job, node: Node, spec: Json) -> PreparationStatus:
        run = StartTask(self._context.node_now(node))
        status = PreparationStatus(
            node.id, self._context.change_log.next_number(), node.pool.id, node, node.life, node.image, run
        )
        if previous := job.preparation_statuses.get(node.id):
            self._context.change_log.mark_deleted(previous, job)
        job.preparation_statuses[node.id] = status
        result = command_result(str(spec["commandLine"]), self._context.rng)
        retries = max(0, int((spec.get("constraints") or {}).get("maxTaskRetryCount") or 0))
        self._context.event_queue.after(result.seconds, partial(self._prepared, job, status, result.exit_code, retries))
        return status

    def _prepared(self, job: Job, status: PreparationStatus, exit_code: int, retries: int) -> None:
        node = status.node
        if node is None or job.preparation_statuses.get(status.id) is not status or status.life != node.life:
            return
        self._end(status.preparation, node, exit_code)
        self._context.mark_changed(status, job)
        status.preparation.retries = retries if exit_code else 0
        name = str(job.spec["jobPreparationTask"].get("id") or "jobpreparation")
        self._context.log.special_task_ended(job, name, "JobPrep", node, status.preparation)
        waiting, status.waiting = status.waiting, []
        if exit_code and (job.spec["jobPreparationTask"].get("waitForSuccess", True)):
            job.failed_preparations[node] = node.image
        for run in waiting:
            self._continue(run, must_succeed=True)

    def _released(self, job: Job, status: PreparationStatus, exit_code: int) -> None:
        if status.release and status.node:
            self._end(status.release, status.node, exit_code)
            name = str((job.spec.get("jobReleaseTask") or {}).get("id") or "jobrelease")
            self._context.log.special_task_ended(job, name, "JobRelease", status.node, status.release)
            self._context.mark_changed(status, job)

    def _continue(self, run: Run, *, must_succeed: bool) -> None:
        """Lets a run go on that waits on none of its nodes any more, or fails it."""
        if run.task.run is not run:
            return
        statuses = _statuses(run)
        if must_succeed and any(status.preparation.result == "failure" for status in statuses):
            self._preparation_failed(run)
        elif not any(run in status.waiting for status in statuses):
            self._on_prepared(run)

    def _end(self, run: StartTask, node: Node, exit_code: int) -> None:
        run.state, run.ended, run.exit_code = "completed", self._context.node_now(node), exit_code
        run.result = "failure" if exit_code else "success"
        run.failure = exit_failure(exit_code) if exit_code else None


def _statuses(run: Run) -> list[PreparationStatus]:
    found = (run.job.preparation_statuses.get(node.id) for node in run.nodes)
    return [status for status in found if status]


def _is_outdated(status: PreparationStatus, node: Node, spec: Json) -> bool:
    """Returns whether preparation must run again: after a reimage, an interruption, or by default a restart."""
    if status.image != node.image:
        return True
    if status.life == node.life or status.preparation.result == "failure":
        return False
    return status.preparation.state != "completed" or bool(spec.get("rerunOnNodeRebootAfterSuccess", True))
