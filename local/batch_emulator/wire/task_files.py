"""Files that tasks leave on nodes: computed on request, so that a million tasks cost nothing."""

import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from local.batch_emulator.contents.content import Content
from local.batch_emulator.entities import Job, Node, Task
from local.batch_emulator.state.context import NodeMoment
from local.batch_emulator.wire.task_directories import TaskDirectory, directories
from local.batch_emulator.wire.tasks import root_directory

ROOT_DIRECTORIES = ("applications", "fsmounts", "shared", "volatile", "workitems")


@dataclass(frozen=True, slots=True)
class File:
    """A file, or without a source a directory; `name` is its path, times are ticks.

    The source is the directory of a task, with the file's path below it. A file has the times of its content, which
    are computed only when they are asked for.
    """

    name: str
    directory_created: int
    source: tuple[TaskDirectory, str] | None = None

    @property
    def id(self) -> str:
        return self.name

    @property
    def is_directory(self) -> bool:
        return self.source is None

    @property
    def created(self) -> int:
        return self.source[0].written[self.source[1]].created if self.source else self.directory_created

    @property
    def modified(self) -> int:
        return self.source[0].written[self.source[1]].modified if self.source else self.directory_created

    @property
    def content(self) -> Content | None:
        return self.source[0].written[self.source[1]].content if self.source else None

    @property
    def size(self) -> int:
        return self.content.size if self.content else 0

    def below(self, root: str) -> "File":
        """Returns the file with its name relative to a directory."""
        return replace(self, name=self.name.removeprefix(f"{root}/"))


def all_files(node: Node, moment: NodeMoment, path: str = "") -> Iterator[File]:
    """Yields all files and directories of a node, unordered; with a `path`, at least those above and below it."""
    yield from (File(name, node.allocated) for name in ROOT_DIRECTORIES)
    known = {*ROOT_DIRECTORIES, ""}
    for directory in directories(node, moment, path):
        for file in _files(directory, known):
            if not node.removed or not _is_removed(node, file.name, directory.started):
                known.add(file.name)
                yield file


def _files(directory: TaskDirectory, known: set[str]) -> Iterator[File]:
    """Yields the files of a task, its directories, and the unknown directories above it."""
    yield from _directories_above(directory, f"{directory.root}/wd/", known)
    for name in directory.names:
        path = f"{directory.root}/{name}"
        yield from _directories_above(directory, path, known)
        yield File(path, directory.started, (directory, name))


def _directories_above(directory: TaskDirectory, path: str, known: set[str]) -> Iterator[File]:
    parent = posixpath.dirname(path)
    if parent not in known:
        yield from _directories_above(directory, parent, known)
        yield File(parent, directory.started)


def root_files(node: Node, moment: NodeMoment) -> Iterator[File]:
    """Returns the directories at a node's root, without scanning tasks."""
    return (file for file in all_files(node, moment, "/") if "/" not in file.name)


def node_files(node: Node, moment: NodeMoment, path: str) -> Mapping[str, File]:
    """Returns at least the files above and below a path, by path."""
    return {file.name: file for file in all_files(node, moment, path)}


def task_files(job: Job, task: Task, node: Node, moment: NodeMoment) -> Mapping[str, File]:
    """Returns the files of a task that has run on a node, by path below its directory."""
    root = root_directory(job.id, task.id)
    found = [file.below(root) for file in all_files(node, moment, root) if file.name.startswith(f"{root}/")]
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
