"""Finds the processes of an agent by the folder that they were given, as only they have it among their arguments."""

import os
import re
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from local.prove.agent.judging.lives import SECOND

SUPERVISOR = "start"
_STARTED = 19  # the field of /proc/PID/stat behind the name: clock ticks since boot
_LOCK = re.compile(r"/spool/(?P<session>\d{8}T\d{9}Z-\d+-[0-9a-f]{4})/lock$")
_PATIENCE = 5.0
_LOOK = 0.02


class AgentProcess(NamedTuple):
    """A process and its command: `run`, `append`, or `start` for a supervisor."""

    pid: int
    command: str


def processes_of(folder: Path) -> list[AgentProcess]:
    """Returns the processes that were given a folder, in the order of their numbers."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            arguments = path.read_bytes().decode(errors="replace").split("\0")
            if f"--folder={folder}" in arguments:
                command = next((one for one in arguments if one in ("run", "append", SUPERVISOR)), "")
                found.append(AgentProcess(int(path.parent.name), command))
    return sorted(found)


def began(pid: int) -> int:
    """Returns when a process began, in nanoseconds since 1970; now if it is gone."""
    now = time.time_ns()
    try:
        ticks = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[_STARTED])
    except (OSError, IndexError):
        return now
    age = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    return now - int(age * SECOND)


def session_of(pid: int) -> str:
    """Returns the newest session whose lock a process holds, its own; empty if it has none."""
    names = [""]
    with suppress(OSError):
        for opened in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                found = _LOCK.search(str(opened.readlink()))
                names.append(found["session"] if found else "")
    return max(names)


def send(pid: int, signum: signal.Signals) -> None:
    """Sends a signal to a process that may be gone."""
    with suppress(ProcessLookupError):
        os.kill(pid, signum)


def wait_until_gone(folder: Path, pids: set[int], seconds: float = _PATIENCE) -> bool:
    """Returns whether none of the processes is left within some seconds."""
    until = time.monotonic() + seconds
    while pids & {one.pid for one in processes_of(folder)}:
        if time.monotonic() > until:
            return False
        time.sleep(_LOOK)
    return True
