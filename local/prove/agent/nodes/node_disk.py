"""A node's disk that the proof fills and turns read-only: a small tmpfs in a mount namespace of the proof's own.

The namespace ends with the proof's processes, and its mounts with it.
"""

import errno
import os
import subprocess
from contextlib import suppress
from pathlib import Path

_SIZE = "1m"
_BLOCK = bytes(4096)


def mounts_of_own() -> bool:
    """Gives this thread, and those that it starts, a mount namespace; returns False where that isn't permitted."""
    try:
        os.unshare(os.CLONE_NEWNS)
        _run("mount", "--make-rprivate", "/")
    except (OSError, subprocess.CalledProcessError):
        return False
    return True


class NodeDisk:
    """A disk that is mounted at a node's folder. All methods raise CalledProcessError where a mount fails."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._filler = folder / "filler"
        folder.mkdir()
        _run("mount", "-t", "tmpfs", "-o", f"size={_SIZE},mode=0700", "tmpfs", str(folder))

    def fill(self) -> None:
        """Takes all room that is left."""
        try:
            with self._filler.open("ab", buffering=0) as file:
                while file.write(_BLOCK):
                    pass
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise

    def make_room(self) -> None:
        self._filler.unlink(missing_ok=True)

    def turn_read_only(self) -> None:
        """Covers the disk by a read-only mount of it, as no disk with open files can be mounted anew."""
        _run("mount", "--bind", str(self._folder), str(self._folder))
        _run("mount", "-o", "remount,bind,ro", str(self._folder))

    def turn_writable(self) -> None:
        _run("umount", "-l", str(self._folder))

    def unmount(self) -> None:
        """Unmounts the disk, as far as it is mounted."""
        with suppress(subprocess.CalledProcessError):
            while True:
                self.turn_writable()


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)
