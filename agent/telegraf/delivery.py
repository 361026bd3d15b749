"""Delivery of lines to a sink on a thread of its own, so that a slow sink holds up no reader for long."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Protocol

MAX_PENDING = 8 << 20
"""Bytes of lines that wait for the sink; more are dropped and counted."""
MAX_WAIT = 1.0
"""Seconds that an offer waits for room, once for each time that the sink stalls."""


class Sink(Protocol):
    """Takes whole lines for upload."""

    def put(self, lines: bytes, records: int) -> None: ...


class Delivery:
    """Hands offered lines to a sink in their order. `dropped` and `failed` count records that it lost."""

    def __init__(
        self,
        sink: Sink,
        log: Callable[[str], None],
        *,
        max_pending: int = MAX_PENDING,
        max_wait: float = MAX_WAIT,
    ) -> None:
        self.dropped = 0
        self.failed = 0
        self._sink = sink
        self._log = log
        self._max_pending = max_pending
        self._max_wait = max_wait
        self._pending = 0
        self._is_stalled = False
        self._is_closed = False
        self._queue: deque[tuple[bytes, int]] = deque()
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._deliver, name="delivery", daemon=True)
        self._thread.start()

    def offer(self, lines: bytes, records: int) -> bool:
        """Queues lines and returns True, or drops them if there is no room within a second and returns False.

        Lines are taken at any size while nothing waits.
        """
        with self._changed:
            wait = 0.0 if self._is_stalled else self._max_wait
            has_room = self._changed.wait_for(lambda: self._has_room(len(lines)), wait)
            self._is_stalled = not has_room
            if not has_room:
                self.dropped += records
                return False
            self._pending += len(lines)
            self._queue.append((lines, records))
            self._changed.notify_all()
        return True

    def close(self, seconds: float) -> bool:
        """Waits until all is delivered; returns False, and counts the rest as dropped, if that takes longer."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
            is_done = self._changed.wait_for(lambda: not self._pending, seconds)
            if not is_done:
                self.dropped += sum(records for _lines, records in self._queue)
                self._queue.clear()
        return is_done

    def _has_room(self, size: int) -> bool:
        return not self._pending or self._pending + size <= self._max_pending

    def _deliver(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._queue or self._is_closed)
                if not self._queue:
                    return
                lines, records = self._queue.popleft()
            self._put(lines, records)
            with self._changed:
                self._pending -= len(lines)
                self._changed.notify_all()

    def _put(self, lines: bytes, records: int) -> None:
        try:
            self._sink.put(lines, records)
        except Exception as error:  # the lines are lost, but not those behind them
            if not self.failed:
                self._log(f"Lines can't be kept for upload: {type(error).__name__}: {error}.")
            self.failed += records
