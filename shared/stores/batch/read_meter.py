"""What the task read of one job asks of Batch: seconds during which answers were awaited, requests, and pages of tasks.

A meter belongs to what runs in a context, with all tasks begun there: a read of several lists at once is one read.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from shared.domain.jobs.pictures import TaskRead


class ReadMeter:
    def __init__(self) -> None:
        self._waiting = 0
        self._since = 0.0
        self._seconds = 0.0
        self._requests = 0
        self._pages = 0

    @contextmanager
    def page(self) -> Iterator[None]:
        """A page of a task list is asked for inside; time in which several are counts once."""
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
        """None where no page was read."""
        return TaskRead(round(self._seconds, 3), self._requests, self._pages) if self._pages else None


_meter: ContextVar[ReadMeter | None] = ContextVar("read_meter", default=None)


def current_meter() -> ReadMeter:
    """The meter of the read that is under way, or one that nobody asks."""
    return _meter.get() or ReadMeter()


@contextmanager
def metered() -> Iterator[None]:
    """What runs inside is one read."""
    token = _meter.set(ReadMeter())
    try:
        yield
    finally:
        _meter.reset(token)
