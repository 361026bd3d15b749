"""Job preparation tasks, before a job's first task on a node, and job release tasks, when the job ends.

Source: the reference of JobPreparationTask and JobReleaseTask. A node where preparation failed takes no more tasks of
the job until it is reimaged; release runs where preparation succeeded, and the job completes after the last one.
"""

from collections.abc import Callable
from functools import partial

from local.batch_emulator.command_lines import outcome_of
from local.batch_emulator.entities import Job, Json, Node, Run, Side, StartTask
from local.batch_emulator.failures import exit_failure
from local.batch_emulator.stage import Stage

type Then = Callable[[Run], None]


class SideLife:
    """`refused` is called with runs that can't be where their preparation failed."""

    def __init__(self, stage: Stage, *, refused: Then) -> None:
        self._stage = stage
        self._refused = refused

    def before(self, run: Run, then: Then) -> None:
        """Calls `then` once the run's job is prepared on its node, which may be now."""
        spec: Json | None = run.job.spec.get("jobPreparationTask")
        if not spec:
            then(run)
            return
        side = run.job.sides.get(run.node.id)
        if side is None or _is_outdated(side, run.node, spec):
            side = self._begin(run.job, run.node, spec)
        side.has_run = True
        if side.preparation.state == "completed" or not spec.get("waitForSuccess", True):
            self._go_on(side, run, then, must_succeed=bool(spec.get("waitForSuccess", True)))
        else:
            side.waiting.append((run, then))

    def release(self, job: Job) -> float:
        """Starts the release tasks of a job that ends; gives the seconds until the last is over."""
        spec: Json | None = job.spec.get("jobReleaseTask")
        longest = 0.0
        for side in job.sides.values() if spec else ():
            if side.preparation.result != "success" or side.node.pool.nodes.get(side.node.id) is not side.node:
                continue
            side.release = StartTask(self._stage.node_now(side.node))
            outcome = outcome_of(str((spec or {})["commandLine"]), self._stage.chance)
            self._stage.agenda.after(outcome.seconds, partial(self._end, side.release, side.node, outcome.exit_code))
            longest = max(longest, outcome.seconds)
        return longest

    def _begin(self, job: Job, node: Node, spec: Json) -> Side:
        run = StartTask(self._stage.node_now(node))
        side = Side(node.id, node.pool.id, node, node.life, node.image, run)
        job.sides[node.id] = side
        outcome = outcome_of(str(spec["commandLine"]), self._stage.chance)
        retries = max(0, int((spec.get("constraints") or {}).get("maxTaskRetryCount") or 0))
        self._stage.agenda.after(outcome.seconds, partial(self._prepared, job, side, outcome.exit_code, retries))
        return side

    def _prepared(self, job: Job, side: Side, exit_code: int, retries: int) -> None:
        if job.sides.get(side.id) is not side or side.life != side.node.life:
            return
        self._end(side.preparation, side.node, exit_code)
        side.preparation.retries = retries if exit_code else 0
        waiting, side.waiting = side.waiting, []
        if exit_code and (job.spec["jobPreparationTask"].get("waitForSuccess", True)):
            job.unfit[side.node] = side.node.image
        for run, then in waiting:
            self._go_on(side, run, then, must_succeed=True)

    def _go_on(self, side: Side, run: Run, then: Then, *, must_succeed: bool) -> None:
        if run.task.run is not run:
            return
        if must_succeed and side.preparation.result != "success":
            self._refused(run)
        else:
            then(run)

    def _end(self, run: StartTask, node: Node, exit_code: int) -> None:
        run.state, run.ended, run.exit_code = "completed", self._stage.node_now(node), exit_code
        run.result = "failure" if exit_code else "success"
        run.failure = exit_failure(exit_code) if exit_code else None


def _is_outdated(side: Side, node: Node, spec: Json) -> bool:
    """Whether preparation runs again: after a reimage, after a restart unless told otherwise, or if cut short."""
    if side.image != node.image:
        return True
    if side.life == node.life or side.preparation.result == "failure":
        return False
    return side.preparation.state != "completed" or bool(spec.get("rerunOnNodeRebootAfterSuccess", True))
