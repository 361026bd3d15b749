"""A task of the proof as its conductor sees it: commands go in, answers come out."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Sequence

from local.prove.gpu.plan import BYSTANDER, JOB
from local.prove.gpu.smi import Raw

ROOT = Path(__file__).resolve().parents[3]
_BYSTANDING = "import time; time.sleep(600)"


class Child:
    """A task: a process with the environment that Batch gives it, which answers each command with a line."""

    def __init__(self, name: str, log: Path) -> None:
        self.name = name
        batch = {"AZ_BATCH_JOB_ID": JOB, "AZ_BATCH_TASK_ID": name, "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
        program = ["-c", _BYSTANDING] if name == BYSTANDER else ["-m", "local.prove.gpu.task"]
        with log.open("w") as errors:
            self._process = subprocess.Popen(
                [sys.executable, *program],
                cwd=str(ROOT), env={**os.environ, **batch}, text=True, start_new_session=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
            )  # fmt: skip
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        self._has_ended = False
        self.answers: list[Raw] = []

    @property
    def pid(self) -> int:
        return self._process.pid

    def send(self, command: Sequence[Any]) -> None:
        """Sends a command; a task that has ended answers with an error."""
        with suppress(OSError, ValueError):
            print(json.dumps(command), file=self._process.stdin, flush=True)

    def receive(self, deadline: float) -> None:
        """Waits for an answer until a time of the monotonic clock; an ended task has none."""
        line = ""
        if not self._has_ended:
            try:
                line = self._lines.get(timeout=max(deadline - time.monotonic(), 0.1))
                self._has_ended = not line
            except queue.Empty:
                pass
        self.answers.append(json.loads(line) if line else {"error": "no answer", "end": time.time()})

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        if self._process.stdin:
            with suppress(OSError):
                self._process.stdin.close()

    def _read(self) -> None:
        for line in self._process.stdout or ():
            if line.startswith("{"):
                self._lines.put(line)
        self._process.wait()  # as Batch does: a task that is still listed hasn't ended
        self._lines.put("")
