"""Counts a job's task read: seconds of waiting for responses, requests, and pages of tasks.

A meter belongs to a context and all tasks begun there: a read of several concurrent lists is one read.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from shared.domain.jobs.snapshots import TaskRead


class ReadMeter:
    def __init__(self) -> None:
        self._waiting = 0
        self._since = 0.0
        self._seconds = 0.0
        self._requests = 0
        self._pages = 0

    @contextmanager
    def page(self) -> Iterator[None]:
        """Measures the request for a page of a task list; overlapping requests count once."""
        time = asyncio.get_running_loop().time
        if not self._waiting:
            self._since = time()
        self._waiting += 1
        try:
            yield
            self._pages += 1
        finally:
            self._waiting -= 1
            if not self._waiting:
                self._seconds += time() - self._since

    def note_request(self) -> None:
        self._requests += 1

    @property
    def read(self) -> TaskRead | None:
        """Returns the counts, or None if no page was read."""
        return TaskRead(round(self._seconds, 3), self._requests, self._pages) if self._pages else None


_meter: ContextVar[ReadMeter | None] = ContextVar("read_meter", default=None)


def current_meter() -> ReadMeter:
    """Returns the meter of the running read, or an unused one."""
    return _meter.get() or ReadMeter()


@contextmanager
def metered() -> Iterator[None]:
    """Counts everything inside as one read."""
    token = _meter.set(ReadMeter())
    try:
        yield
    finally:
        _meter.reset(token)
