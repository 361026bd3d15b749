"""Files as Batch lists them, and who may read them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

type FileReaders = Literal["readers", "operators", "nobody"]


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file, or a folder, which has no size and no times; `path` begins at the task's or the node's folder."""

    path: str
    is_folder: bool
    size: int | None = None
    last_modified: datetime | None = None


@dataclass(frozen=True, slots=True)
class FileFacts:
    """The size of a file in bytes and its last change, as of one response; a folder can't be read."""

    size: int
    last_modified: datetime | None
    is_folder: bool = False


def folder_entries(folder: str, listed: list[FileEntry]) -> list[FileEntry]:
    """Returns what is directly in a folder, given entries at any depth: folders first, by path without case."""
    prefix = f"{folder}/" if folder else ""
    found = dict[str, FileEntry]()
    for entry in listed:
        if not entry.path.startswith(prefix) or entry.path == prefix:
            continue
        name, slash, _ = entry.path.removeprefix(prefix).partition("/")
        if slash:
            found.setdefault(prefix + name, FileEntry(prefix + name, is_folder=True))
        else:
            found[entry.path] = entry
    return sorted(found.values(), key=lambda entry: (not entry.is_folder, entry.path.casefold(), entry.path))


def path_of(text: str) -> str | None:
    """Returns a path that a client gave with slashes only, None where it can't be one in a task's or node's folder."""
    path = text.replace("\\", "/").strip("/")
    parts = path.split("/")
    is_path = path and len(path) <= _MAX_PATH and not any(part in {"", ".", ".."} for part in parts)
    return path if is_path and path.isprintable() else None


_MAX_PATH = 1024
WHY_NO_FILES = {
    "JobNotFound": "the job doesn't exist any more",
    "NodeNotFound": "the node was removed, and its files with it",
    "NodeNotReady": "the node doesn't answer now; try again once it is idle or running",
    "NodeStateUnusable": "the node is unusable and doesn't answer",
    "PoolNotFound": "the pool doesn't exist any more",
    "TaskFilesCleanedup": "their retention time is over, so Batch deleted them from the node",
    "TaskFilesUnavailable": "the node is gone or was created anew since the task ran on it, or the task hasn't run yet",
    "TaskNotFound": "the task doesn't exist any more",
}
"""Why Batch has no files, by its error code."""
