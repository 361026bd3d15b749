"""The agent's own folder, which no other user can write.

The folder that Batch shares between tasks may be writable by every task. Files in the agent's folder are executed
and decides over signals, so that a folder of another user's is never used, and none that another user can rename.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress

_OTHERS = ("/var/lib", "/tmp", "/dev/shm")  # noqa: S108 - each is checked
_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def own_folder(path: str) -> str:
    """Returns a folder that only this user can write, created if it is missing.

    It is `path`, or `path` followed by the user's number where `path` belongs to another user. Where others can rename
    entries of the folder around it, or nothing can be made there, it is one in /var/lib (for root), /tmp or, on a
    machine whose disks can't be written, in memory. Raises OSError.
    """
    name = f"{os.path.basename(path)}-{os.geteuid()}"
    for candidate in (path, f"{path}-{os.geteuid()}", *(f"{folder}/{name}" for folder in _OTHERS)):
        if not _is_in_safe_folder(candidate):
            continue
        with suppress(OSError):
            os.makedirs(candidate, mode=0o700, exist_ok=True)
        if is_private(candidate) and os.access(candidate, os.W_OK):
            return candidate
    raise PermissionError(errno.EACCES, "There is no folder that only this user can write", path)


def _is_in_safe_folder(path: str) -> bool:
    """Returns whether each folder that leads to a path keeps others than its owner from renaming its entries."""
    folder = os.path.realpath(os.path.dirname(os.path.abspath(path)))
    while True:
        with suppress(FileNotFoundError, NotADirectoryError):
            mode = os.stat(folder).st_mode
            if mode & _WRITABLE_BY_OTHERS and not mode & stat.S_ISVTX:
                return False
        if folder == "/":
            return True
        folder = os.path.dirname(folder)


def is_private(path: str) -> bool:
    """Returns whether a path is a folder of this user that others can't write; a symbolic link isn't."""
    try:
        found = os.lstat(path)
    except OSError:
        return False
    is_mine = found.st_uid == os.geteuid() and not found.st_mode & _WRITABLE_BY_OTHERS
    return stat.S_ISDIR(found.st_mode) and is_mine


def opened_file(path: str, limit: int) -> tuple[bytes, int]:
    """Returns the first bytes of a regular file and the number of its owner; links aren't followed. Raises OSError."""
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "It isn't a regular file", path)
        return file.read(limit), found.st_uid


def replace_file(path: str, content: bytes) -> None:
    """Writes a file as a whole, readable by this user only: other processes see the old or the new one. Raises OSError.

    A write that fails leaves the old file and nothing else behind.
    """
    draft = f"{path}.{os.getpid()}.new"
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600), "wb") as file:
            file.write(content)
        os.replace(draft, path)
    except OSError:
        with suppress(OSError):
            os.unlink(draft)
        raise
