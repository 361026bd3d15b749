"""Runs `dev.py backup` and `dev.py restore` as programs, with duration and peak memory; can kill them."""

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
    """A finished command of dev.py: seconds, peak memory in MB, and output."""

    seconds: float = 0.0
    memory: float = 0.0
    said: str = ""

    @property
    def last_lines(self) -> str:
        return " ".join(self.said.strip().splitlines()[-2:])


def run_command(
    name: str, backups: StorageAddresses, tables: StorageAddresses, *, kill_after: Sequence[str] = ()
) -> Command:
    """Runs a command; `kill_after` kills it once it has printed one of these texts. Raises Failure if it fails."""
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
    """Returns a program's peak memory in MB so far; 0 if the system doesn't report it."""
    try:
        found = _MEMORY.search(Path(f"/proc/{pid}/status").read_text(encoding="utf-8"))
    except OSError:
        return 0.0
    return int(found[1]) / 1024 if found else 0.0
