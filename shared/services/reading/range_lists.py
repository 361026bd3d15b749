"""The lists of a read plan's ranges: received several at a time, folded in and stored meanwhile.

The plan is written after the received tasks are in the leaves. After a crash, later pages are listed again, but a range
that was stored to its end never is.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from dataclasses import replace
from itertools import count
from math import inf

from shared.domain.reads.id_ranges import IdRange
from shared.domain.reads.read_plans import ReadPlan
from shared.errors import BatchError, RateLimitedError, RepeatedLinkError
from shared.services.reading.read_state import ReadState, finish
from shared.stores.batch.batch import TaskPage
from shared.stores.jobs.read_plans import ReadPlanStore
from shared.stores.jobs.task_cache import Directory, TaskCache

type Fetch = Callable[[IdRange], Coroutine[None, None, TaskPage]]

_AT_ONCE = 16
_PASS = 80_000  # tasks received before they are folded in
_WIDE_PASS = 200_000  # the same for ids in no order: each pass touches every leaf
_MAX_PASS = 30.0  # seconds until received pages are stored, even if they arrive slowly


class RangeLists:
    """A running plan: the lists of its ranges, where each page is requested when the previous one arrived.

    `reading` has the received tasks; `plan` is as last stored. A range is untouched until tasks of it are received.
    Only untouched ranges are divided, as their parts are listed from the start.
    """

    def __init__(
        self, cache: TaskCache, plans: ReadPlanStore, fetch: Fetch, plan: ReadPlan, directory: Directory
    ) -> None:
        self._cache, self._plans, self._fetch = cache, plans, fetch
        self.plan = plan
        self.reading = ReadState(directory)
        self._numbers = count()
        self._left: dict[int, IdRange] = {next(self._numbers): ids for ids in plan.ranges}
        self._idle = deque(self._left)
        self._untouched = {number for number, ids in self._left.items() if ids.cursor is None or not plan.tasks}
        self._taken_in = 0
        self._pages_stored = 0
        self._storing: list[asyncio.Task[None]] = []
        self._pass: int | None = None
        self._pass_began = 0.0

    async def run(self, deadline: float) -> bool:
        """Receives all pages (True, the last part not folded in), or stops at `deadline`, in loop time (False).

        A page without a turn in time also stops it. Raises BatchError after storing the pages received before,
        StorageError, CacheConflictError.
        """
        under_way: dict[asyncio.Task[TaskPage], int] = {}
        self._pass_began = asyncio.get_running_loop().time()
        try:
            while self._begin(under_way, deadline):
                received, _ = await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
                for task in sorted(received, key=lambda task: task.exception() is not None):  # failures last
                    number = under_way.pop(task)
                    if isinstance(task.exception(), RateLimitedError):
                        deadline = -inf
                        continue
                    if isinstance(task.exception(), RepeatedLinkError):  # the next try lists the range from its start
                        self._left[number] = replace(self._left[number], cursor=None)
                    self._receive(number, task.result())
                await self._store_meanwhile()
            await self._stored_meanwhile()
        except BatchError:
            await self._stored_meanwhile()
            await self.store()
            raise
        finally:
            for pending in (*under_way, *self._storing):
                pending.cancel()
        if self._left:
            await self.store()
        return not self._left

    async def store(self) -> None:
        """Folds in the received tasks, then stores the rest of the plan. Raises StorageError, CacheConflictError."""
        ranges, received, newest = tuple(self._left.values()), self.reading.received, self.reading.date
        self._pages_stored = self.reading.pages
        await finish(self._cache, self.reading)
        tasks = self.plan.tasks + received - self._taken_in
        self._taken_in = received
        plan = replace(self.plan, ranges=ranges, tasks=tasks, newest=newest or self.plan.newest)
        self.plan = await self._plans.save(self._partition, plan)

    async def _store_meanwhile(self) -> None:
        """Stores a pass while the next pages are received, as many as memory allows."""
        received = len(self.reading.rest)
        if received >= _PASS or any(task.done() for task in self._storing):
            await self._stored_meanwhile()
        now = asyncio.get_running_loop().time()
        is_late = self._has_news and not self._storing and now - self._pass_began >= _MAX_PASS
        if received >= (self._pass or _PASS) or is_late:
            self._pass_began = now
            self._storing = [asyncio.create_task(self.store())]

    async def _stored_meanwhile(self) -> None:
        storing, self._storing = self._storing, []
        await asyncio.gather(*storing)

    @property
    def _has_news(self) -> bool:
        """Returns whether received pages aren't stored, even empty ones: a filtered list may begin with many."""
        return self.reading.pages > self._pages_stored

    @property
    def _partition(self) -> str:
        return self.reading.directory.partition

    def _begin(self, under_way: dict[asyncio.Task[TaskPage], int], deadline: float) -> bool:
        """Requests the next pages of idle ranges; returns False if no request is running."""
        while self._idle and len(under_way) < _AT_ONCE and asyncio.get_running_loop().time() < deadline:
            number = self._idle.popleft()
            under_way[asyncio.create_task(self._fetch(self._left[number]))] = number
        return bool(under_way)

    def _receive(self, number: int, page: TaskPage) -> None:
        ids = self._left.pop(number)
        untouched = self.plan.since is None and number in self._untouched
        if untouched and not page.is_last and len(self._left) < _AT_ONCE - 1:
            parts = ids.divided([task.id for task in page.tasks], self.plan.expected - self.plan.tasks)
            if len(parts) > 1:
                self._add(parts)
                return
        if page.tasks:
            self._untouched.discard(number)
        if self._pass is None and page.tasks:
            self._pass = _PASS if _in_order(page) else _WIDE_PASS
        self.reading.receive(page)
        if not page.is_last:
            self._left[number] = replace(ids, cursor=page.next_link)
            self._idle.appendleft(number)

    def _add(self, parts: tuple[IdRange, ...]) -> None:
        for part in parts:
            self._left[number := next(self._numbers)] = part
            self._untouched.add(number)
            self._idle.append(number)


def _in_order(page: TaskPage) -> bool:
    names = [task.id.lower() for task in page.tasks]
    return names == sorted(names)
