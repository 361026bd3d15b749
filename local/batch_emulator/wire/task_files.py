"""Files that tasks leave on nodes: computed on request, so that a million tasks cost nothing.

Source: "Files and directories in Azure Batch". Every task has a directory with stdout.txt, stderr.txt and wd; the
content of files follows from the command line.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain

from local.batch_emulator.core.collation import fold
from local.batch_emulator.entities import Job, Node, Task
from local.batch_emulator.protocol.job_rules import special_task_id
from local.batch_emulator.state.command_lines import command_output
from local.batch_emulator.wire.tasks import root_directory

ROOT_DIRECTORIES = ("applications", "fsmounts", "shared", "volatile", "workitems")
_TASK_DEPTH = 4


@dataclass(frozen=True, slots=True)
class File:
    """A file, or without a source a directory; the name is its path, times are ticks.

    The source is a command line and an index: 0 for stdout, 1 for stderr.
    """

    name: str
    created: int
    modified: int
    source: tuple[str, int] | None = None

    @property
    def id(self) -> str:
        return self.name

    @property
    def is_directory(self) -> bool:
        return self.source is None

    @property
    def content(self) -> bytes | None:
        return command_output(self.source[0])[self.source[1]].encode() if self.source else None

    def below(self, root: str) -> "File":
        """Returns the file with its name relative to a directory."""
        return replace(self, name=self.name.removeprefix(f"{root}/"))


@dataclass(frozen=True, slots=True)
class TaskDirectory:
    """A task that has run in a node's directory, or is running."""

    root: str
    command_line: str
    started: int
    ended: int | None

    def files(self) -> Iterator[File]:
        last = self.ended or self.started
        yield File(self.root, self.started, self.started)
        yield File(f"{self.root}/wd", self.started, self.started)
        for number, name in enumerate(("stdout.txt", "stderr.txt")):
            yield File(f"{self.root}/{name}", self.started, last, (self.command_line, number))


def all_files(node: Node, path: str = "") -> Iterator[File]:
    """Yields all files and directories of a node, unordered; with a `path`, at least those above and below it."""
    yield from (File(name, node.allocated, node.allocated) for name in ROOT_DIRECTORIES)
    known = {*ROOT_DIRECTORIES, ""}
    for directory in _task_directories(node, path):
        if directory.started < node.fresh:
            continue
        parent = directory.root.rpartition("/")[0]
        found = (
            directory.files()
            if parent in known
            else chain(_parent_directories(node, directory, known), directory.files())
        )
        yield from (file for file in found if not node.removed or not _is_removed(node, file.name, directory.started))


def _parent_directories(node: Node, directory: TaskDirectory, known: set[str]) -> Iterator[File]:
    """Yields the unknown directories above a root, and marks them as known."""
    parts = directory.root.split("/")[:-1]
    for name in ("/".join(parts[: depth + 1]) for depth in range(len(parts))):
        if name not in known and not _is_removed(node, name, directory.started):
            known.add(name)
            yield File(name, directory.started, directory.started)


def root_files(node: Node) -> Iterator[File]:
    """Returns the directories at a node's root, without scanning tasks."""
    return (file for file in all_files(node, "/") if "/" not in file.name)


def node_files(node: Node, path: str) -> Mapping[str, File]:
    """Returns at least the files above and below a path, by path."""
    return {file.name: file for file in all_files(node, path)}


def task_files(job: Job, task: Task, node: Node) -> Mapping[str, File]:
    """Returns the files of a task that has run on a node, by path below its directory."""
    root = root_directory(job.id, task.id)
    found = [file.below(root) for file in all_files(node, root) if file.name.startswith(f"{root}/")]
    return {file.name: file for file in found}


def remove(node: Node, path: str, now: int) -> None:
    """Deletes a file or directory with its contents; later runs write it again. `now` is by the node's clock."""
    node.removed[path] = now


def _is_removed(node: Node, name: str, started: int) -> bool:
    """Returns whether the file, or a directory above it, was deleted since."""
    while name:
        if started <= node.removed.get(name, -1):
            return True
        name = name.rpartition("/")[0]
    return False


def _task_directories(node: Node, path: str) -> Iterator[TaskDirectory]:
    start = node.start_task
    if start:
        line = (node.pool.spec.get("startTask") or {}).get("commandLine", "")
        yield TaskDirectory("startup", str(line), start.started, start.ended)
    parts = path.split("/")
    jobs = node.pool.account.jobs
    named = [jobs[fold(parts[1])]] if len(parts) > 1 and fold(parts[1]) in jobs else []
    for job in named if len(parts) > 1 else jobs.values():
        yield from _special_task_directories(job, node)
        one = job.tasks.get(fold(parts[_TASK_DEPTH - 1])) if len(parts) >= _TASK_DEPTH else None
        for task in (one,) if one else job.tasks:
            if task.node_id == node.id and task.started is not None:
                yield TaskDirectory(
                    root_directory(job.id, task.id), str(task.spec["commandLine"]), task.started, task.ended
                )


def _special_task_directories(job: Job, node: Node) -> Iterator[TaskDirectory]:
    status = job.preparation_statuses.get(node.id)
    for name, run in (("jobPreparationTask", status.preparation), ("jobReleaseTask", status.release)) if status else ():
        if run:
            root = root_directory(job.id, special_task_id(job, name))
            yield TaskDirectory(root, str(job.spec[name]["commandLine"]), run.started, run.ended)
