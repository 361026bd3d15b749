"""A task of known behaviour: a process that executes commands on its standard input on the GPU.

Each line is a JSON list, a command with its numbers; each answer is a JSON object with the times of begin and end, in
seconds since 1970. Started as `python3 -m local.prove.gpu.task`.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Dict, Union

from local.prove.gpu.cuda import MEBI, Address, Cuda, CudaError

Answer = Dict[str, Union[str, int, float]]
_PIECE = 0.1
"""Seconds of one kernel of a task that is busy all the time."""
_HALF_PIECE = 0.02


class Task:
    """Holds the context on the GPU and the memory that was allocated."""

    def __init__(self) -> None:
        self._cuda = Cuda()
        self._held: list[Address] = []

    def facts(self) -> Answer:
        return {**self._cuda.facts(), "pid": os.getpid()}

    def allocate(self, mebibytes: float) -> Answer:
        """Allocates memory."""
        self._held.append(self._cuda.allocate(int(mebibytes) * MEBI))
        return self._memory()

    def free(self) -> Answer:
        """Frees all memory but the context's own."""
        while self._held:
            self._cuda.free(self._held.pop())
        return self._memory()

    def busy(self, seconds: float, share: float) -> Answer:
        """Runs kernels for so long, with pauses if `share` is below 1; returns the share in which one ran."""
        begin, ran, count = time.monotonic(), 0.0, 0
        while time.monotonic() - begin < seconds:
            took = self._cuda.burn(_PIECE if share >= 1 else _HALF_PIECE)
            ran, count = ran + took, count + 1
            if share < 1:
                time.sleep(took * (1 - share) / share)
        return {"share": ran / (time.monotonic() - begin), "kernels": count}

    def exit(self) -> Answer:
        self._cuda.close()
        return {}

    def _memory(self) -> Answer:
        free, total = self._cuda.memory()
        return {"free": free, "total": total}


def main() -> None:
    """Answers commands until `exit` or the end of the input; the first is `begin`, which returns the GPU's facts."""
    task = None
    for line in sys.stdin:
        command, *numbers = json.loads(line)
        answer: Answer = {"command": command, "begin": time.time()}
        try:
            if task is None:
                task = Task()
                answer.update(task.facts())
            else:
                answer.update(getattr(task, command)(*numbers))
        except CudaError as error:
            answer["error"] = str(error)
        answer["end"] = time.time()
        print(json.dumps(answer), flush=True)
        if command == "exit":
            return


if __name__ == "__main__":
    main()
