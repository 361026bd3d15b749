"""One dev.py per lock: a file lock that the system releases when its owner ends in any way."""

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from local.dev.system.console import Failure, say

if sys.platform == "win32":
    import msvcrt

    def _take(descriptor: int, *, wait: bool) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _take(descriptor: int, *, wait: bool) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))


@contextlib.contextmanager
def alone(path: Path, *, busy: str, wait: bool = False) -> Iterator[None]:
    """Holds the lock at `path`. If another process holds it, waits after printing `busy`, or fails with `busy`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            _take(descriptor, wait=False)
        except OSError as error:
            if not wait:
                raise Failure(busy) from error
            say(busy)
            _take(descriptor, wait=True)
        yield
    finally:
        os.close(descriptor)
