"""Notices stalls of the whole machine, for which no agent is responsible."""

import threading
import time
from typing import Self

from local.prove.agent.judging.lives import SECOND

_EVERY = 0.1
_MIN_STALL = 0.5  # seconds


class StallWatch:
    """Notes in `stalls` when it woke late, in nanoseconds since 1970."""

    def __init__(self) -> None:
        self.stalls: list[tuple[int, int]] = []
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="stall watch", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._is_over.set()
        self._thread.join()

    def _run(self) -> None:
        before = time.time_ns()
        while not self._is_over.wait(_EVERY):
            now = time.time_ns()
            if now - before > _MIN_STALL * SECOND:
                self.stalls.append((before, now))
            before = now
