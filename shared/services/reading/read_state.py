"""Reads a task list page by page: rows go into the leaves in passes, so that memory stays bounded.

The last pass is left to the caller, so that Get Task Counts can be requested right after the last page, before any
write. A list of more than SHORT_READ tasks, or of more than SHORT_LIST pages, doesn't fit a round: see `long_reads`.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import datetime
from math import inf
from operator import attrgetter

from shared.domain.tasks.tasks import PREPARING, Task
from shared.services.reading.dirty_mark import DirtyMark
from shared.services.reading.folding import fold
from shared.services.reading.incarnation import Incarnation
from shared.stores.batch.batch import TaskPage
from shared.stores.jobs.task_cache import Directory, TaskCache

SHORT_READ = 20_000
SHORT_LIST = 40  # pages: a filtered list of a million tasks may have a thousand, most of them empty
_PASS = 20_000
_STATE = attrgetter("state")


@dataclass(slots=True)
class ReadState:
    """The received part of a list.

    `directory` includes all tasks but `rest`; `moved` states whether they changed anything, `date` is the last page's.
    `preparing` are ids of the tasks last shown as preparing. `next_link` continues an unfinished list. `incarnation` is
    the job of the tasks; None if the caller checks for a re-created one at the end. `mark` is for leaves of a served
    generation.
    """

    directory: Directory
    incarnation: Incarnation | None = None
    mark: DirtyMark | None = None
    rest: list[Task] = field(default_factory=list)
    moved: bool = False
    date: datetime | None = None
    preparing: set[str] = field(default_factory=set)
    received: int = 0
    pages: int = 0
    next_link: str | None = None

    def receive(self, page: TaskPage) -> None:
        self.date = page.date
        self.next_link = page.next_link
        self.received += len(page.tasks)
        self.pages += 1
        self.rest += page.tasks
        if self.preparing or PREPARING in map(_STATE, page.tasks):
            for task in page.tasks:
                (self.preparing.add if task.state == PREPARING else self.preparing.discard)(task.id)


async def read_pages(
    cache: TaskCache,
    pages: AsyncIterator[TaskPage],
    directory: Directory,
    *,
    most: float = inf,
    most_pages: float = inf,
    deadline: float = inf,
    incarnation: Incarnation | None = None,
    mark: DirtyMark | None = None,
) -> ReadState:
    """Receives a list; `directory` must have been loaded before the request for its first page.

    It stops after `most` tasks, `most_pages`, or the first page after `deadline` in loop time, with all tasks folded in
    and a next link. Raises BatchError, StorageError, CacheConflictError.
    """
    reading = ReadState(directory, incarnation, mark)
    async for page in pages:
        reading.receive(page)
        if page.is_last:
            break
        is_long = reading.received >= most or is_long_list(reading.pages, deadline, most=most_pages)
        if len(reading.rest) >= _PASS or is_long:
            await finish(cache, reading)
        if is_long:
            break
    return reading


def is_long_list(pages: int, deadline: float = inf, *, most: float = SHORT_LIST) -> bool:
    """Returns whether a list has `most` pages or is past `deadline` in loop time; its rest is for the queue."""
    return pages >= most or asyncio.get_running_loop().time() >= deadline


async def finish(cache: TaskCache, reading: ReadState) -> None:
    """Folds in the rest. Raises StorageError, CacheConflictError, and BatchError from the check of the incarnation."""
    rest, reading.rest = reading.rest, []
    if reading.incarnation:
        await reading.incarnation.confirm(rest)
    reading.directory, moved = await fold(cache, reading.directory, rest, mark=reading.mark)
    reading.moved = reading.moved or moved
