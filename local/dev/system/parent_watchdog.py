"""Ends the stack when dev.py itself is killed: a small program that watches a pipe from dev.py.

dev.py names the process groups that it started. If the pipe closes while some remain (kill -9, a crash), this program
ends those groups and deletes the named files. It runs as a separate file, imports nothing of the project, and touches
nothing else. Lines: `keep PGID`, `drop PGID`, `file PATH`.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

GRACE_SECONDS = 3.0


def end_group(group: int, *, by_force: bool) -> bool:
    """Asks a process group to stop, or forces it; returns False when nothing of it is left."""
    if sys.platform == "win32":
        force = ["/F"] if by_force else []
        return subprocess.call(["taskkill", "/T", *force, "/PID", str(group)], stderr=subprocess.DEVNULL) == 0
    try:
        os.killpg(group, signal.SIGKILL if by_force else signal.SIGTERM)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def is_gone(group: int) -> bool:
    if sys.platform == "win32":
        return False
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


def end_all(groups: set[int]) -> None:
    for group in groups:
        end_group(group, by_force=False)
    deadline = time.monotonic() + GRACE_SECONDS
    while time.monotonic() < deadline and not all(is_gone(group) for group in groups):
        time.sleep(0.05)
    for group in groups:
        end_group(group, by_force=True)


def main() -> None:
    groups: set[int] = set()
    files: set[str] = set()
    for line in sys.stdin:
        word, _, value = line.rstrip("\n").partition(" ")
        if word == "keep":
            groups.add(int(value))
        elif word == "drop":
            groups.discard(int(value))
        elif word == "file":
            files.add(value)
    if groups:
        end_all(groups)
        for path in files:
            with contextlib.suppress(OSError):
                Path(path).unlink()


if __name__ == "__main__":
    for name in ("SIGINT", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    main()
