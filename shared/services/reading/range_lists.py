"""The lists of a read plan's ranges, several at once: received, taken in and stored as they go.

The plan is written after what was received has been taken into the leaves: what a dead process had received beyond that
is listed again, a range whose end was stored never.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from dataclasses import replace
from itertools import count
from math import inf

from shared.domain.reads.id_ranges import IdRange
from shared.domain.reads.read_plans import ReadPlan
from shared.errors import BatchError, NoTurnError, RepeatedLinkError
from shared.services.reading.reading import Reading, finish
from shared.stores.batch.batch import TaskPage
from shared.stores.jobs.read_plans import ReadPlanStore
from shared.stores.jobs.task_cache import Directory, TaskCache

type Fetch = Callable[[IdRange], Coroutine[None, None, TaskPage]]

_AT_ONCE = 16
_PASS = 80_000  # tasks received before they are taken in
_WIDE_PASS = 200_000  # the same where ids come in no order: each pass touches every leaf
_LONGEST_PASS = 30.0  # seconds: what a dead process had received by then is stored, however slowly pages come


class RangeLists:
    """A plan under way: the lists of its ranges, each page asked for when the one before it came.

    `reading` has what was received; `plan` is as it was stored last. Ranges are untouched until tasks of them are
    received: only those are divided, as what is divided is listed from its start.
    """

    def __init__(
        self, cache: TaskCache, plans: ReadPlanStore, fetch: Fetch, plan: ReadPlan, directory: Directory
    ) -> None:
        self._cache, self._plans, self._fetch = cache, plans, fetch
        self.plan = plan
        self.reading = Reading(directory)
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
        """Until all was received, the last part of it not yet taken in (True), or `deadline`, in loop time (False).

        A page for which there is no turn in time ends it like that. Raises BatchError after what was received before is
        stored, StorageError, CacheConflictError.
        """
        under_way: dict[asyncio.Task[TaskPage], int] = {}
        self._pass_began = asyncio.get_running_loop().time()
        try:
            while self._begin(under_way, deadline):
                received, _ = await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
                for task in sorted(received, key=lambda task: task.exception() is not None):  # what came isn't lost
                    number = under_way.pop(task)
                    if isinstance(task.exception(), NoTurnError):
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
        """Takes in what was received, then stores what is left. Raises StorageError, CacheConflictError."""
        ranges, received, newest = tuple(self._left.values()), self.reading.received, self.reading.date
        self._pages_stored = self.reading.pages
        await finish(self._cache, self.reading)
        tasks = self.plan.tasks + received - self._taken_in
        self._taken_in = received
        plan = replace(self.plan, ranges=ranges, tasks=tasks, newest=newest or self.plan.newest)
        self.plan = await self._plans.save(self._partition, plan)

    async def _store_meanwhile(self) -> None:
        """Stores what a pass takes while the next pages are received, but no more of those than memory is for."""
        received = len(self.reading.rest)
        if received >= _PASS or any(task.done() for task in self._storing):
            await self._stored_meanwhile()
        now = asyncio.get_running_loop().time()
        is_late = self._has_news and not self._storing and now - self._pass_began >= _LONGEST_PASS
        if received >= (self._pass or _PASS) or is_late:
            self._pass_began = now
            self._storing = [asyncio.create_task(self.store())]

    async def _stored_meanwhile(self) -> None:
        storing, self._storing = self._storing, []
        await asyncio.gather(*storing)

    @property
    def _has_news(self) -> bool:
        """Whether pages came that aren't stored, be they empty: a filtered list may begin with minutes of such."""
        return self.reading.pages > self._pages_stored

    @property
    def _partition(self) -> str:
        return self.reading.directory.partition

    def _begin(self, under_way: dict[asyncio.Task[TaskPage], int], deadline: float) -> bool:
        """Asks for the next pages of ranges that wait for theirs. False when nothing is under way."""
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
