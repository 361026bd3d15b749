"""The agent's own folder, which no other user can write.

The folder that Batch shares between tasks may be writable by every task. What lies in the agent's folder is executed
and decides over signals, so that a folder of another user's is never used.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress

_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def own_folder(path: str) -> str:
    """Returns a folder that only this user can write, created if it is missing.

    It is `path`, or `path` followed by the user's number where `path` belongs to another user. Raises OSError.
    """
    for candidate in (path, f"{path}-{os.geteuid()}"):
        with suppress(OSError):
            os.makedirs(candidate, mode=0o700, exist_ok=True)
        if is_private(candidate):
            return candidate
    raise PermissionError(errno.EACCES, "There is no folder that only this user can write", path)


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
