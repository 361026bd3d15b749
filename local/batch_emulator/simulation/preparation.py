"""Job preparation tasks, before a job's first task on a node, and job release tasks, when the job ends.

Source: the reference of JobPreparationTask and JobReleaseTask. A node with a failed preparation accepts no more tasks
of the job until it is reimaged. Release runs where preparation succeeded, and the job completes after the last one.
"""

from collections.abc import Callable
from functools import partial

from local.batch_emulator.entities import Job, Json, Node, PreparationStatus, Run, StartTask
from local.batch_emulator.state.command_lines import outcome_of
from local.batch_emulator.state.context import SimulationContext
from local.batch_emulator.state.failures import exit_failure

type Then = Callable[[Run], None]


class SideLife:
    """Preparation and release; `prepared` gets runs on prepared nodes, `refused` those after a failed preparation."""

    def __init__(self, context: SimulationContext, *, prepared: Then, refused: Then) -> None:
        self._context = context
        self._then = prepared
        self._refused = refused

    def before(self, run: Run) -> None:
        """Calls `prepared` once the run's job is prepared on its node, possibly immediately."""
        spec: Json | None = run.job.spec.get("jobPreparationTask")
        if not spec:
            self._then(run)
            return
        side = run.job.preparation_statuses.get(run.node.id)
        if side is None or _is_outdated(side, run.node, spec):
            side = self._begin(run.job, run.node, spec)
        side.has_run = True
        self._context.note(side, run.job)
        if side.preparation.state == "completed" or not spec.get("waitForSuccess", True):
            self._go_on(side, run, must_succeed=bool(spec.get("waitForSuccess", True)))
        else:
            side.waiting.append(run)

    def leave(self, run: Run) -> None:
        """Removes a run that has ended, possibly while it waited."""
        side = run.job.preparation_statuses.get(run.node.id)
        if side and run in side.waiting:
            side.waiting.remove(run)
            self._context.note(side, run.job)

    def release(self, job: Job) -> float:
        """Starts the release tasks of an ending job; returns the seconds until the last ends."""
        spec: Json | None = job.spec.get("jobReleaseTask")
        longest = 0.0
        for side in job.preparation_statuses.values() if spec else ():
            node = side.node
            if node is None or side.preparation.result != "success" or node.pool.nodes.get(node.id) is not node:
                continue
            side.release = StartTask(self._context.node_now(node))
            self._context.note(side, job)
            outcome = outcome_of(str((spec or {})["commandLine"]), self._context.rng)
            self._context.event_queue.after(outcome.seconds, partial(self._released, job, side, outcome.exit_code))
            longest = max(longest, outcome.seconds)
        return longest

    def _begin(self, job: Job, node: Node, spec: Json) -> PreparationStatus:
        run = StartTask(self._context.node_now(node))
        side = PreparationStatus(
            node.id, self._context.change_log.number(), node.pool.id, node, node.life, node.image, run
        )
        if before := job.preparation_statuses.get(node.id):
            self._context.change_log.drop(before, job)
        job.preparation_statuses[node.id] = side
        outcome = outcome_of(str(spec["commandLine"]), self._context.rng)
        retries = max(0, int((spec.get("constraints") or {}).get("maxTaskRetryCount") or 0))
        self._context.event_queue.after(outcome.seconds, partial(self._prepared, job, side, outcome.exit_code, retries))
        return side

    def _prepared(self, job: Job, side: PreparationStatus, exit_code: int, retries: int) -> None:
        node = side.node
        if node is None or job.preparation_statuses.get(side.id) is not side or side.life != node.life:
            return
        self._end(side.preparation, node, exit_code)
        self._context.note(side, job)
        side.preparation.retries = retries if exit_code else 0
        name = str(job.spec["jobPreparationTask"].get("id") or "jobpreparation")
        self._context.log.special_task_ended(job, name, "JobPrep", node, side.preparation)
        waiting, side.waiting = side.waiting, []
        if exit_code and (job.spec["jobPreparationTask"].get("waitForSuccess", True)):
            job.failed_preparations[node] = node.image
        for run in waiting:
            self._go_on(side, run, must_succeed=True)

    def _released(self, job: Job, side: PreparationStatus, exit_code: int) -> None:
        if side.release and side.node:
            self._end(side.release, side.node, exit_code)
            name = str((job.spec.get("jobReleaseTask") or {}).get("id") or "jobrelease")
            self._context.log.special_task_ended(job, name, "JobRelease", side.node, side.release)
            self._context.note(side, job)

    def _go_on(self, side: PreparationStatus, run: Run, *, must_succeed: bool) -> None:
        if run.task.run is not run:
            return
        if must_succeed and side.preparation.result != "success":
            self._refused(run)
        else:
            self._then(run)

    def _end(self, run: StartTask, node: Node, exit_code: int) -> None:
        run.state, run.ended, run.exit_code = "completed", self._context.node_now(node), exit_code
        run.result = "failure" if exit_code else "success"
        run.failure = exit_failure(exit_code) if exit_code else None


def _is_outdated(side: PreparationStatus, node: Node, spec: Json) -> bool:
    """Returns whether preparation must run again: after a reimage, an interruption, or by default a restart."""
    if side.image != node.image:
        return True
    if side.life == node.life or side.preparation.result == "failure":
        return False
    return side.preparation.state != "completed" or bool(spec.get("rerunOnNodeRebootAfterSuccess", True))
