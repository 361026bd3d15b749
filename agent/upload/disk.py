"""Files of the spool, written whole: a crash at any point leaves the old file or the new one.

It is the spool's only door to the disk, so that tests can pass a full, a damaged or a dying one.
"""

from __future__ import annotations

import contextlib
import os
import shutil

PART = ".part"
"""The end of the names of files whose writing may have been cut off."""
_FOLDER_MODE, _FILE_MODE = 0o700, 0o600


class Disk:
    """Reads and writes files that the agent owns. All methods raise OSError but where they say so."""

    def make_folder(self, path: str) -> None:
        """Makes a folder for the agent's user only. Raises PermissionError where another user owns it."""
        os.makedirs(path, mode=_FOLDER_MODE, exist_ok=True)
        if os.stat(path).st_uid != os.geteuid():
            raise PermissionError(None, "another user owns it", path)

    def write(self, path: str, content: bytes) -> None:
        """Writes a file under another name, and renames it once its bytes are on the disk."""
        part = path + PART
        try:
            self.fill(part, content)
            self.rename(part, path)
        except OSError:
            self.remove(part)
            raise
        self.sync_folder(os.path.dirname(path))

    def read(self, path: str) -> bytes:
        with open(path, "rb") as file:
            return file.read()

    def fill(self, path: str, content: bytes) -> None:
        """Writes a file's bytes to the disk."""
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _FILE_MODE), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())

    def rename(self, source: str, target: str) -> None:
        os.rename(source, target)

    def sync_folder(self, path: str) -> None:
        """Writes a folder's entries to the disk, where its file system can; raises nothing."""
        with contextlib.suppress(OSError):
            opened = os.open(path, os.O_RDONLY)
            try:
                os.fsync(opened)
            finally:
                os.close(opened)

    def remove(self, path: str) -> bool:
        """Removes a file that may be missing; returns whether it is gone, and raises nothing."""
        try:
            os.remove(path)
        except FileNotFoundError:
            return True
        except OSError:
            return False
        return True

    def remove_folder(self, path: str) -> None:
        """Removes a folder with its files, as far as that is possible; raises nothing."""
        shutil.rmtree(path, ignore_errors=True)

    def names(self, path: str) -> list[str]:
        """Returns the names in a folder, in order; none where it can't be read."""
        try:
            return sorted(os.listdir(path))
        except OSError:
            return []

    def size(self, path: str) -> int:
        """Returns a file's size in bytes, 0 where it is missing."""
        try:
            return os.stat(path).st_size
        except OSError:
            return 0
