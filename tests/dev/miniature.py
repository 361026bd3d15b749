"""A checkout in miniature: the real dev.py and the real Azurite, with tiny scripts for the other three programs."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Miniature:
    """Starts `dev.py` in its own small checkout and knows the processes that it left."""

    root: Path
    running: list[subprocess.Popen[str]] = field(default_factory=list)

    @property
    def note(self) -> Path:
        return self.root / ".local/up.json"

    def start(self, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        started = subprocess.Popen(
            [sys.executable, str(self.root / "dev.py"), *arguments],
            env={**os.environ, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.running.append(started)
        return started

    def up(self, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        """Starts `up` on a free port and waits until it reports that all programs answer."""
        started = self.start("up", "--port", "0", *arguments, **environment)
        assert eventually(lambda: self.note.exists() or started.poll() is not None, seconds=30)
        assert started.poll() is None, started.communicate()
        return started

    def read_note(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads(self.note.read_text())
        return content

    def pids(self) -> set[int]:
        """Returns the ids of all processes of the stack, including the workload's child."""
        own = {pid for pid in self.read_note()["pids"].values() if pid}
        words = (self.root / ".local/logs/workload.log").read_text().split()
        return own | ({int(words[1])} if words else set())


def eventually(is_so: Callable[[], bool], *, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def is_alive(pid: int) -> bool:
    """Returns whether a process runs; one that ended but wasn't collected by its parent doesn't."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
