"""Takes a task list in page by page: rows go into the leaves in passes, so that memory stays bounded.

The last pass is left to the caller: Get Task Counts is to be asked right after the last page, before time goes into
writing. A list of more than SHORT_READ tasks, or of more than SHORT_LIST pages however few they show, is none for a
round: see long_reads.
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
SHORT_LIST = 40  # pages: a filtered list of a million tasks may come in a thousand, most of them empty
_PASS = 20_000
_STATE = attrgetter("state")


@dataclass(slots=True)
class Reading:
    """A list, as far as it was received.

    `directory` has taken in all but `rest`; `moved` says whether that changed anything, `date` is that of the last
    page. `preparing` are the ids of tasks that it showed last as preparing. `next_link` goes on behind what was
    received, where that wasn't all. `incarnation` is the job that tasks must be of; None where whoever reads looks
    for another one at the end. `mark` is for leaves of a generation that is served.
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
) -> Reading:
    """Receives a list. `directory` must have been loaded before its first page was asked for.

    After `most` tasks, after `most_pages`, or with the first page after `deadline` in loop time it ends, with all taken
    in and a next link. Raises BatchError, StorageError, CacheConflictError.
    """
    reading = Reading(directory, incarnation, mark)
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
    """True once so many pages of a list came, or `deadline` did, in loop time: what is left of it is for the queue."""
    return pages >= most or asyncio.get_running_loop().time() >= deadline


async def finish(cache: TaskCache, reading: Reading) -> None:
    """Takes the rest in. Raises StorageError, CacheConflictError, and BatchError where the job had to be asked for."""
    rest, reading.rest = reading.rest, []
    if reading.incarnation:
        await reading.incarnation.confirm(rest)
    reading.directory, moved = await fold(cache, reading.directory, rest, mark=reading.mark)
    reading.moved = reading.moved or moved
