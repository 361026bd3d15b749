"""Reads that take longer than a round may: listed in several ranges at once, and stored as they go.

Whichever process gets the job's message next carries them on. The plan of such a read lies beside the leaves of its
generation. It is written after what was received has been taken into the leaves: what a dead process had received
beyond that is listed again, a range that was finished never.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import count

from shared.domain.id_ranges import IdRange
from shared.domain.jobs import Job
from shared.domain.read_plans import ReadPlan
from shared.errors import BatchError, CacheConflictError, LongReadError, NotFoundError, OvertakenError
from shared.services.generations import dated
from shared.services.job_records import JobRecords
from shared.services.reading import Reading, finish
from shared.services.task_poll import Polled, TaskPoll
from shared.stores.batch import BatchAccount, TaskPage
from shared.stores.jobs import generation_partition
from shared.stores.read_plans import ReadPlanStore
from shared.stores.task_cache import Directory, TaskCache

type Fetch = Callable[[IdRange], Coroutine[None, None, TaskPage]]

_AT_ONCE = 16
_PASS = 20_000  # tasks received before they are taken in
_WIDE_PASS = 200_000  # the same where ids come in no order: each pass touches every leaf
_LONGEST_PASS = 30.0  # seconds: what a dead process had received by then is stored, however slowly pages come
_ATTEMPTS = 4
_CATCH_UPS = 3  # while a read takes long enough for many tasks to change


class RangeLists:
    """A plan under way: the lists of its ranges, each page asked for when the one before it came.

    `reading` has what was received; `plan` is as it was stored last.
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
        self._taken_in = 0
        self._storing: list[asyncio.Task[None]] = []
        self._pass: int | None = None
        self._pass_began = 0.0

    async def run(self, deadline: float) -> bool:
        """Until all was received, the last part of it not yet taken in (True), or `deadline`, in loop time (False).

        Raises BatchError after what was received before is stored, StorageError, CacheConflictError.
        """
        under_way: dict[asyncio.Task[TaskPage], int] = {}
        self._pass_began = asyncio.get_running_loop().time()
        try:
            while self._begin(under_way, deadline):
                received, _ = await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
                for task in sorted(received, key=lambda task: task.exception() is not None):  # what came isn't lost
                    self._receive(under_way.pop(task), task.result())
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
        is_late = bool(received) and not self._storing and now - self._pass_began >= _LONGEST_PASS
        if received >= (self._pass or _PASS) or is_late:
            self._pass_began = now
            self._storing = [asyncio.create_task(self.store())]

    async def _stored_meanwhile(self) -> None:
        storing, self._storing = self._storing, []
        await asyncio.gather(*storing)

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
        whole = self.plan.since is None and ids.cursor is None
        if whole and not page.is_last and len(self._left) < _AT_ONCE - 1:
            parts = ids.divided([task.id for task in page.tasks], self.plan.expected - self.plan.tasks)
            if len(parts) > 1:
                self._add(parts)
                return
        if self._pass is None and page.tasks:
            self._pass = _PASS if _in_order(page) else _WIDE_PASS
        self.reading.receive(page)
        if not page.is_last:
            self._left[number] = replace(ids, cursor=page.next_link)
            self._idle.appendleft(number)

    def _add(self, parts: tuple[IdRange, ...]) -> None:
        for part in parts:
            self._left[number := next(self._numbers)] = part
            self._idle.append(number)


class LongReads:
    def __init__(self, cache: TaskCache, records: JobRecords, plans: ReadPlanStore, task_poll: TaskPoll) -> None:
        self._cache = cache
        self._records = records
        self._plans = plans
        self._task_poll = task_poll

    async def carry_on(self, source: BatchAccount, job_id: str, t0: datetime | None, *, deadline: float) -> bool:
        """Brings a job up to date however long that takes; False where more is left after `deadline`, in loop time.

        T0 is the date of a response received before now. Raises NotFoundError where there is no such job to be read,
        OvertakenError where another process goes on with it, BatchError, StorageError.
        """
        for _ in range(_ATTEMPTS):
            job = await self._records.load(source.account.key, job_id)
            if job is None or not job.is_live:
                raise NotFoundError("live job", job_id, f" in the account '{source.account.id}'")
            self._forget(source, job)  # what another process took in of the plan shows in no head yet
            try:
                polled = await self._carry_on(source, job, t0, deadline)
                if polled and polled.confirmation:
                    await self._records.save(source.account.key, polled.job)
            except (CacheConflictError, LongReadError):
                continue
            return polled is not None
        raise OvertakenError(job_id)

    async def _carry_on(self, source: BatchAccount, job: Job, t0: datetime | None, deadline: float) -> Polled | None:
        """Raises LongReadError where it turns out to need a plan that it hasn't: it has one then."""
        building = await self._plan(source, job, job.building)
        if building or job.picture is None:
            return await self._generation(source, job, building, t0, deadline)
        changes = await self._plan(source, job, job.picture.generation)
        if changes is None:
            polled = await self._task_poll.poll(source, job, t0, thorough=True)
        elif changes.as_of <= job.picture.as_of or changes.has_stalled(t0):  # a poll came to an end, or begins anew
            await self._plans.delete(_partition(source, job, changes.generation), changes)
            return Polled(job)
        else:
            followed = await self._delta(source, job, changes, deadline)
            if followed is None:
                return None
            polled = followed
        if self._task_poll.wants_reconciling(polled):
            try:
                return await self._task_poll.reconcile(source, polled, t0)
            except LongReadError:
                return await self._generation(source, polled.job, None, t0, deadline)
        return polled

    async def _generation(
        self, source: BatchAccount, job: Job, plan: ReadPlan | None, t0: datetime | None, deadline: float
    ) -> Polled | None:
        """All tasks into a new generation, then what changed meanwhile, as often as that is much; then it is served."""
        generations = self._task_poll.generations
        if plan is None:
            counts, date = await source.fetch_task_counts(job.facts.id)
            begun_at = dated(source, date or t0)
            job = await generations.begin(source, job, begun_at)
            plan = ReadPlan(job.building or "", begun_at, begun_at, expected=counts.total)
            plan = await self._plans.save(_partition(source, job, plan.generation), plan)
        directory = await self._cache.load_directory(_partition(source, job, plan.generation))
        for left in reversed(range(_CATCH_UPS + 1)):
            lists = self._lists(source, job, plan, directory)
            if not await lists.run(deadline):
                return None
            if not left or (plan.since is not None and lists.reading.received <= self._task_poll.short_read):
                break
            await lists.store()
            directory = lists.reading.directory
            plan = await self._plans.save(directory.partition, lists.plan.catching_up(self._task_poll.overlap))
        await self._refuse_another(source, job)
        job = await generations.complete(source, job, lists.reading, plan)
        await self._over(source, job, lists.plan)
        return Polled(job)

    async def _delta(self, source: BatchAccount, job: Job, plan: ReadPlan, deadline: float) -> Polled | None:
        directory = await self._cache.load_directory(_partition(source, job, plan.generation))
        lists = self._lists(source, job, plan, directory)
        if not await lists.run(deadline):
            return None
        await self._refuse_another(source, job)
        polled = await self._task_poll.followed(source, job, lists.reading, as_of=plan.as_of, moved=plan.tasks > 0)
        await self._over(source, job, lists.plan)
        return polled

    async def _refuse_another(self, source: BatchAccount, job: Job) -> None:
        """Notes a job that was created under this one's id while it was read. Raises CacheConflictError then."""
        facts = await source.fetch_job(job.facts.id)
        if facts.creation_time != job.facts.creation_time:
            known = await self._records.confirmed(source.account.key, job)
            await self._records.save(source.account.key, known.seen(facts))
            raise CacheConflictError(f"The job '{job.facts.id}' was re-created while it was read.")

    def _lists(self, source: BatchAccount, job: Job, plan: ReadPlan, directory: Directory) -> RangeLists:
        """`directory` must have been loaded before now."""
        fetch = partial(source.fetch_task_page, job.facts.id, changed_since=plan.since)
        return RangeLists(self._cache, self._plans, fetch, plan, directory)

    async def _plan(self, source: BatchAccount, job: Job, generation: str | None) -> ReadPlan | None:
        return await self._plans.load(_partition(source, job, generation)) if generation else None

    async def _over(self, source: BatchAccount, job: Job, plan: ReadPlan) -> None:
        with suppress(CacheConflictError):
            await self._plans.delete(_partition(source, job, plan.generation), plan)

    def _forget(self, source: BatchAccount, job: Job) -> None:
        for generation in (job.building, job.picture.generation if job.picture else None):
            if generation:
                self._cache.forget(_partition(source, job, generation))


def _in_order(page: TaskPage) -> bool:
    names = [task.id.lower() for task in page.tasks]
    return names == sorted(names)


def _partition(source: BatchAccount, job: Job, generation: str) -> str:
    return generation_partition(source.account.key, job.key, generation)
