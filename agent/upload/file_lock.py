"""Exclusive locks of files, which end with the process that holds them."""

from __future__ import annotations

import fcntl
import os


class FileLock:
    """A lock that this object holds until it is released."""

    def __init__(self, opened: int) -> None:
        self._opened = opened

    @classmethod
    def take(cls, path: str) -> FileLock | None:
        """Returns the lock of a file, which it creates; None where another holds it or the file was removed meanwhile.

        Raises OSError.
        """
        opened = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(opened).st_nlink:
                return cls(opened)
        except OSError:
            os.close(opened)
            return None
        os.close(opened)
        return None

    def release(self) -> None:
        """Ends the lock; a second call does nothing."""
        if self._opened >= 0:
            os.close(self._opened)
            self._opened = -1
