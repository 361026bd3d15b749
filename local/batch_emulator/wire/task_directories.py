"""Directories of tasks on nodes, with what the tasks have written there so far.

Source: "Files and directories in Azure Batch". Every task has a directory with stdout.txt, stderr.txt and wd.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from local.batch_emulator.contents.last_words import RunIdentity
from local.batch_emulator.contents.scripts import STDERR, STDOUT, writes_files
from local.batch_emulator.contents.written_files import RunProgress, WrittenFile, written_files
from local.batch_emulator.core.collation import fold
from local.batch_emulator.core.durations import seconds_of
from local.batch_emulator.core.stamps import SECOND, ticks
from local.batch_emulator.entities import Job, Node, StartTask, Task
from local.batch_emulator.protocol.job_rules import special_task_id
from local.batch_emulator.state.command_lines import task_script
from local.batch_emulator.state.context import NodeMoment
from local.batch_emulator.state.failures import download_failure
from local.batch_emulator.wire.tasks import root_directory

_TASK_DEPTH = 4
_WEEK = 7 * 86_400


@dataclass(frozen=True)
class TaskDirectory:
    """The directory of a run on a node, which began at `started` and ended at `ended`, by the node's clock.

    `has_exited` if its program ended by itself or by its time limit. Runs of one `cause` fail alike. `is_special` for
    start, preparation and release tasks, which have no time limit and whose resource files always arrive.
    """

    root: str
    spec: Mapping[str, Any]
    started: int
    ended: int | None
    node: Node
    moment: NodeMoment
    cause: str
    has_exited: bool
    is_special: bool = False

    @property
    def names(self) -> Iterator[str]:
        """The paths of its files below it; most runs write only outputs, which need no computing."""
        return iter(self.written if writes_files(str(self.spec["commandLine"])) else (STDOUT, STDERR))

    @cached_property
    def written(self) -> Mapping[str, WrittenFile]:
        """Its files by path below it."""
        seed = f"{self.moment.seed}/{self.node.id}/{self.root}/{self.started}"
        identity = RunIdentity(seed, f"{self.moment.seed}/{self.cause}", self.root, self.node.id)
        script = task_script(self.spec)
        return written_files(
            RunProgress(identity, script, self.started, self._seconds(script.seconds), self.moment.speed)
        )

    @property
    def is_cleaned_up(self) -> bool:
        return is_cleaned_up(self.spec, self.ended, self.moment)

    def _seconds(self, length: float) -> float | None:
        """Returns how many seconds of its script it has done, None if its program didn't begin."""
        limit = None if self.is_special else (self.spec.get("constraints") or {}).get("maxWallClockTime")
        most = min(length, seconds_of(limit)) if limit else length
        if self.has_exited:
            return most
        if not self.is_special and download_failure(self.spec):
            return None
        passed = (self.ended or self.moment.active) - self.started
        return min(most, max(0.0, passed / SECOND * self.moment.speed))


def is_cleaned_up(spec: Mapping[str, Any], ended: int | None, moment: NodeMoment) -> bool:
    """Returns whether the retention time of a run's files has passed, seven days by default."""
    retention = (spec.get("constraints") or {}).get("retentionTime")
    seconds = (seconds_of(retention) if retention else _WEEK) / moment.speed
    return ended is not None and moment.now > ended + ticks(seconds)


def directories(node: Node, moment: NodeMoment, path: str = "") -> Iterator[TaskDirectory]:
    """Yields the directories on a node's disk, with a `path` at least that above or below it."""
    for directory in _all(node, moment, path):
        if directory.started >= node.fresh and (directory.root == "startup" or not directory.is_cleaned_up):
            yield directory


def _all(node: Node, moment: NodeMoment, path: str) -> Iterator[TaskDirectory]:
    if node.start_task:
        spec = {"commandLine": "", **(node.pool.spec.get("startTask") or {})}
        yield _of_run("startup", spec, node.start_task, node=node, moment=moment, cause=node.pool.id)
    parts = path.split("/")
    jobs = node.pool.account.jobs
    named = [jobs[fold(parts[1])]] if len(parts) > 1 and fold(parts[1]) in jobs else []
    for job in named if len(parts) > 1 else jobs.values():
        yield from _special(job, node, moment)
        one = job.tasks.get(fold(parts[_TASK_DEPTH - 1])) if len(parts) >= _TASK_DEPTH else None
        for task in (one,) if one else job.tasks:
            if task.node_id == node.id and task.started is not None:
                yield _of_task(job, task, task.started, node, moment)


def _of_task(job: Job, task: Task, started: int, node: Node, moment: NodeMoment) -> TaskDirectory:
    root, has_exited = root_directory(job.id, task.id), task.exit_code is not None
    return TaskDirectory(root, task.spec, started, task.ended, node, moment, job.id, has_exited)


def _special(job: Job, node: Node, moment: NodeMoment) -> Iterator[TaskDirectory]:
    """Yields the directories of a job's preparation and release tasks."""
    status = job.preparation_statuses.get(node.id)
    for name, run in (("jobPreparationTask", status.preparation), ("jobReleaseTask", status.release)) if status else ():
        if run:
            root = root_directory(job.id, special_task_id(job, name))
            yield _of_run(root, job.spec[name], run, node=node, moment=moment, cause=job.id)


def _of_run(
    root: str, spec: Mapping[str, Any], run: StartTask, *, node: Node, moment: NodeMoment, cause: str
) -> TaskDirectory:
    has_exited = run.exit_code is not None
    return TaskDirectory(root, spec, run.started, run.ended, node, moment, cause, has_exited, is_special=True)
