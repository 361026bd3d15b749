"""Runs `dev.py backup` and `dev.py restore` as programs: how long, with how much memory, killed or to their end."""

import re
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from local.azurite import StorageAddresses
from local.dev.running.stack import base_environment
from local.dev.system.checkout import HERE
from local.dev.system.console import Failure, say

_BACKUP = "proof"
_MEMORY = re.compile(r"VmHWM:\s+(\d+) kB")


@dataclass(slots=True)
class Command:
    """A command of dev.py that was run to its end: seconds, the most memory in MB, and what it said."""

    seconds: float = 0.0
    memory: float = 0.0
    said: str = ""

    @property
    def last_lines(self) -> str:
        return " ".join(self.said.strip().splitlines()[-2:])


def run_command(
    name: str, backups: StorageAddresses, tables: StorageAddresses, *, kill_after: Sequence[str] = ()
) -> Command:
    """Runs a command; `kill_after` kills it once it has said one of these. Raises Failure where it fails."""
    environment = {
        **base_environment(),
        "BATCHSCOPE_STORAGE": tables.connection_string,
        "BATCHSCOPE_BACKUPS": backups.connection_string,
    }
    command = [str(HERE.python), "-m", "local.backup", name, "--name", _BACKUP]
    begun, done = time.monotonic(), Command()
    child = subprocess.Popen(command, cwd=HERE.root, env=environment, stdout=subprocess.PIPE, text=True)
    if child.stdout is None:
        raise Failure("The command has no output.")
    for line in child.stdout:
        done.said += line
        say(f"    {line.rstrip()}")
        done.memory = max(done.memory, _memory(child.pid))
        if any(text in line for text in kill_after):
            child.kill()
            break
    child.wait()
    done.seconds = time.monotonic() - begun
    if child.returncode and not kill_after:
        raise Failure(f"dev.py {name} failed: {done.last_lines}")
    return done


def _memory(pid: int) -> float:
    """The most that a program took so far, in MB; nothing where the system doesn't tell."""
    try:
        found = _MEMORY.search(Path(f"/proc/{pid}/status").read_text(encoding="utf-8"))
    except OSError:
        return 0.0
    return int(found[1]) / 1024 if found else 0.0
