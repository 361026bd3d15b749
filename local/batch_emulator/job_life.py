"""The life of a job: active, disabled and enabled again, terminated by a user or by its last task, deleted."""

from functools import partial

from local.batch_emulator.entities import Account, Job
from local.batch_emulator.stage import Stage
from local.batch_emulator.task_life import TaskLife

_PASSING = (0.5, 2.0)
_LOOKING = 1.0


class JobLife:
    def __init__(self, account: Account, stage: Stage) -> None:
        self._account = account
        self._stage = stage

    def attach(self, tasks: TaskLife) -> None:
        self._tasks = tasks

    def look(self, job: Job) -> None:
        """To be called when a job may have nothing left to do: after its creation, a change, a run's end."""
        if self._is_done(job):
            self._stage.agenda.after(_LOOKING, partial(self._end_if_done, job))
        elif job.state == "disabling" and not job.runs:
            self._stage.between(_PASSING, partial(self._disabled, job, job.turn))

    def terminate(self, job: Job, reason: str) -> None:
        """Runs end; tasks that are active stay so, as documented."""
        self._turn(job, "terminating")
        job.reason = reason
        for run in list(job.runs):
            self._tasks.end(job, run.task)
        self._stage.between(_PASSING, partial(self._terminated, job, job.turn))

    def disable(self, job: Job, what: str) -> None:
        self._turn(job, "disabling")
        for run in list(job.runs) if what != "wait" else ():
            if what == "terminate":
                self._tasks.end(job, run.task)
            else:
                self._tasks.requeue(run, counted=True)
        self._stage.between(_PASSING, partial(self._disabled, job, job.turn))

    def enable(self, job: Job) -> None:
        self._turn(job, "enabling")
        self._stage.between(_PASSING, partial(self._enabled, job, job.turn))

    def delete(self, job: Job) -> None:
        self._turn(job, "deleting")
        for run in list(job.runs):
            self._tasks.drop(run)
        self._stage.between(_PASSING, partial(self._gone, job))

    def _is_done(self, job: Job) -> bool:
        wanted = str(job.spec.get("onAllTasksComplete", "")).lower() == "terminatejob"
        return wanted and job.state == "active" and not job.tally.counts.unfinished

    def _end_if_done(self, job: Job) -> None:
        if self._is_done(job):
            self.terminate(job, "AllTasksComplete")

    def _terminated(self, job: Job, turn: int) -> None:
        if job.turn == turn:
            job.ended = self._stage.now
            self._set(job, "completed")

    def _disabled(self, job: Job, turn: int) -> None:
        if job.turn == turn and job.state == "disabling" and not job.runs:
            self._set(job, "disabled")

    def _enabled(self, job: Job, turn: int) -> None:
        if job.turn == turn:
            self._set(job, "active")
            self._tasks.resume(job)
            self.look(job)

    def _gone(self, job: Job) -> None:
        if self._account.jobs.get(job.key) is job:
            del self._account.jobs[job.key]

    def _turn(self, job: Job, state: str) -> None:
        job.turn += 1
        self._set(job, state)

    def _set(self, job: Job, state: str) -> None:
        job.previous, job.previous_changed = job.state, job.changed
        job.state, job.changed = state, self._stage.now
