"""The agent's log: a small file that several processes append to, as their standard output and error, too."""

from __future__ import annotations

import os
import stat
import time
from contextlib import suppress

from agent.machine.clock import Clock

MAX_SIZE = 1 << 20
"""Bytes of the log; beyond them it is copied to the file before it, whose name ends in `.1`, and emptied."""
MAX_MESSAGE = 2000
"""Characters of a message; longer ones are cut."""
_STANDARD = (1, 2)


class LogFile:
    """Appends messages to the file `path`; where that fails, they are dropped and counted in `dropped`."""

    def __init__(self, path: str, clock: Clock) -> None:
        self._path = path
        self._clock = clock
        self.dropped = 0
        self._file = _opened(path)

    def write(self, message: str) -> None:
        """Appends a message as one line, with the time and the number of this process."""
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self._clock.now() // 1_000_000_000))
        text = " ".join(message[:MAX_MESSAGE].split())
        try:
            os.write(self._file, f"{at} {os.getpid()} {text}\n".encode("utf-8", "replace"))
        except OSError:
            self.dropped += 1
        self.trim()

    def trim(self) -> None:
        """Begins the file anew if it is too long: it is emptied in place, as other processes append to it, too.

        Lines that another process writes meanwhile may be lost.
        """
        with suppress(OSError):
            found = os.fstat(self._file)
            if stat.S_ISREG(found.st_mode) and found.st_size > MAX_SIZE:
                with suppress(OSError):
                    _copy_end(self._path)
                os.ftruncate(self._file, 0)

    def redirect(self) -> None:
        """Makes the file this process's standard output and error, for tracebacks and for its children."""
        for descriptor in _STANDARD:
            os.dup2(self._file, descriptor, inheritable=True)

    def step(self, now: float, child_started: float | None) -> float | None:
        """Trims the file as a duty of the supervisor."""
        self.trim()
        return None

    def close(self) -> None:
        os.close(self._file)


def _opened(path: str) -> int:
    """Returns a descriptor that appends to a file, or discards where the file can't be written."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with suppress(OSError):
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    try:
        return os.open(path, flags, 0o600)
    except OSError:
        return os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)


def _copy_end(path: str) -> None:
    """Copies the last MAX_SIZE bytes of a file to the file before it. Raises OSError."""
    with open(path, "rb") as file:
        file.seek(-MAX_SIZE, os.SEEK_END)
        content = file.read(MAX_SIZE)
    target = os.open(f"{path}.1", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(target, "wb") as before:
        before.write(content)
