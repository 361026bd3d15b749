"""The processes that stand for the tasks of a node, each with the variables that Batch gives a task."""

import subprocess
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

_PATIENCE = 3.0  # seconds until a process is killed


class TaskRun(NamedTuple):
    """A run of a task; `start` distinguishes the runs of one."""

    job: str
    task: str
    start: str


class TaskProcesses:
    """Starts and ends processes; `node` are the variables of all tasks of the node, `folder` is for their files."""

    def __init__(self, node: Mapping[str, str], environment: Mapping[str, str], folder: Path) -> None:
        self._environment = {**environment, **node}
        self._folder = folder
        self._processes: dict[TaskRun, subprocess.Popen[bytes]] = {}

    def follow(self, running: Collection[TaskRun]) -> None:
        """Ends the processes of runs that have ended, and starts those of new ones."""
        for run in self._processes.keys() - set(running):
            _end(self._processes.pop(run))
        for run in running:
            process = self._processes.get(run)
            if process is None or process.poll() is not None:
                self._processes[run] = self._started(run)

    def close(self) -> None:
        self.follow(())

    def _started(self, run: TaskRun) -> subprocess.Popen[bytes]:
        folder = self._folder / "workitems" / str(crc32(f"{run.job}/{run.task}".encode()))
        folder.mkdir(parents=True, exist_ok=True)
        variables = {"AZ_BATCH_JOB_ID": run.job, "AZ_BATCH_TASK_ID": run.task, "AZ_BATCH_TASK_DIR": str(folder)}
        seed = crc32(run.task.encode())
        return subprocess.Popen(
            [sys.executable, "-m", "local.machine_node.load", str(seed)],
            env={**self._environment, **variables, "TMPDIR": str(folder)},
            stdin=subprocess.DEVNULL,
        )


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
