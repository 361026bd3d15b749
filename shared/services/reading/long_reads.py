"""Reads that take longer than a round: the next process with the job's message continues them.

The plan of such a read is stored beside the leaves of its generation; `range_lists` receives and stores its lists.
Nothing is kept in memory between messages.
"""

from collections import defaultdict
from collections.abc import Awaitable
from contextlib import suppress
from datetime import datetime

from shared.domain.core.next_links import NextLinks
from shared.domain.jobs.jobs import Job
from shared.domain.reads.id_ranges import IdRange
from shared.domain.reads.read_plans import ReadPlan
from shared.errors import (
    CacheConflictError,
    LongReadError,
    NotFoundError,
    OvertakenError,
    RateLimitedError,
    RepeatedLinkError,
    UnreadableError,
    UnreadableTasksError,
)
from shared.services.jobs.job_records import JobRecords
from shared.services.reading.generations import dated
from shared.services.reading.incarnation import Incarnation
from shared.services.reading.range_lists import RangeLists
from shared.services.reading.task_poll import PollResult, TaskPoll
from shared.stores.batch.batch import BatchAccount, TaskPage
from shared.stores.batch.read_meter import metered
from shared.stores.jobs.jobs import generation_partition
from shared.stores.jobs.task_cache import Directory
from shared.stores.stores import Stores

_ATTEMPTS = 4
_CATCH_UPS = 3  # while a read lasts long enough for many tasks to change


class LongReads:
    def __init__(self, source: BatchAccount, stores: Stores, records: JobRecords, task_poll: TaskPoll) -> None:
        self._source = source
        self._cache = stores.cache
        self._plans = stores.plans
        self._records = records
        self._task_poll = task_poll

    async def is_left(self, job_id: str) -> bool:
        """Returns whether storage shows work to continue: a job that was never read, or a plan.

        Raises StorageError.
        """
        job = await self._records.load(self._source.account.key, job_id)
        if job is None or not job.is_live or job.snapshot is None:
            return job is not None and job.is_live
        generations = [of for of in (job.building, job.snapshot.generation) if of]
        try:
            plans = [await self._plans.load(self._partition(job, generation)) for generation in generations]
        except UnreadableError:  # carry_on handles it
            return True
        return any(plan is not None for plan in plans)

    async def carry_on(self, job_id: str, t0: datetime | None, *, deadline: float) -> bool:
        """Brings a job up to date, however long it takes; returns False if work is left after `deadline`, in loop time.

        T0 is the date of a response received before now. Raises NotFoundError if no such live job exists,
        OvertakenError if another process continues it, UnreadableError if that may be a process of a newer version,
        BatchError, StorageError.
        """
        for _ in range(_ATTEMPTS):
            job = await self._records.load(self._source.account.key, job_id)
            if job is None or not job.is_live:
                raise NotFoundError("live job", job_id, f" in the account '{self._source.account.id}'")
            self._forget(job)  # leaves that another process wrote for the plan show in no head so far
            try:
                with metered():
                    polled = await self._carry_on(job, t0, deadline)
                if polled and polled.confirmation:
                    await self._records.save(self._source.account.key, polled.job)
            except (CacheConflictError, LongReadError):
                continue
            return polled is not None
        raise OvertakenError(job_id)

    async def _carry_on(self, job: Job, t0: datetime | None, deadline: float) -> PollResult | None:
        """Raises LongReadError if the job turns out to need a plan, which is stored then."""
        building = await self._task_poll.plan_of_building(job, t0)
        if building or job.snapshot is None:
            return await self._generation(job, building, t0, deadline)
        changes = await self._plans.load_or_drop(self._partition(job, job.snapshot.generation))
        if changes is None and (t0 is None or t0 <= job.snapshot.as_of):  # left by a round for a longer read
            polled: PollResult | None = PollResult(job)
        elif changes is None:
            poll = self._task_poll.poll(job, t0, thorough=True, deadline=deadline)
            polled = await self._or_anew(job, t0, deadline, poll)
        elif changes.as_of <= job.snapshot.as_of or changes.has_stalled(t0):  # a poll ended, or starts again
            await self._plans.delete(self._partition(job, changes.generation), changes)
            return PollResult(job)
        else:
            polled = await self._or_anew(job, t0, deadline, self._delta(job, changes, deadline))
        if polled and self._task_poll.wants_reconciling(polled):
            try:
                return await self._task_poll.reconcile(polled, t0)
            except LongReadError:
                return await self._generation(polled.job, None, t0, deadline)
        return polled

    async def _or_anew(
        self, job: Job, t0: datetime | None, deadline: float, read: Awaitable[PollResult | None]
    ) -> PollResult | None:
        """Returns the result of a read of the served generation; a full read's if some leaves are unreadable."""
        try:
            return await self._task_poll.replacing(job, t0, read)
        except UnreadableTasksError:
            return await self._generation(job, None, t0, deadline)

    async def _generation(
        self, job: Job, plan: ReadPlan | None, t0: datetime | None, deadline: float
    ) -> PollResult | None:
        """Reads all tasks into a new generation, then later changes, repeatedly if many; then switches to it."""
        generations = self._task_poll.generations
        if plan is None:
            counts, date = await self._source.fetch_task_counts(job.facts.id)
            begun_at = max(dated(self._source, date or t0), job.facts.creation_time)
            job = await generations.begin(job, begun_at)
            plan = ReadPlan(job.building or "", begun_at, begun_at, expected=counts.total)
            plan = await self._plans.save(self._partition(job, plan.generation), plan)
        directory = await self._cache.load_directory(self._partition(job, plan.generation))
        for left in reversed(range(_CATCH_UPS + 1)):
            lists = self._lists(job, plan, directory, deadline)
            if not await lists.run(deadline):
                return None
            if not left or (plan.since is not None and lists.reading.received <= self._task_poll.short_read):
                break
            await lists.store()
            directory = lists.reading.directory
            plan = await self._plans.save(directory.partition, lists.plan.catching_up(self._task_poll.overlap))
        await generations.refuse_another(job)
        lists.reading.incarnation = Incarnation(self._source, job, plan.as_of - self._task_poll.overlap)
        job = await generations.complete(job, lists.reading, plan)
        await self._over(job, lists.plan)
        return PollResult(job)

    async def _delta(self, job: Job, plan: ReadPlan, deadline: float) -> PollResult | None:
        directory = await self._cache.load_directory(self._partition(job, plan.generation))
        lists = self._lists(job, plan, directory, deadline)
        lists.reading.mark = self._task_poll.mark(job)
        if not await lists.run(deadline):
            return None
        await self._task_poll.generations.refuse_another(job)
        lists.reading.incarnation = Incarnation(self._source, job, plan.since or plan.as_of)
        polled = await self._task_poll.followed(job, lists.reading, as_of=plan.as_of, moved=plan.tasks > 0)
        await self._over(job, lists.plan)
        return polled

    def _lists(self, job: Job, plan: ReadPlan, directory: Directory, deadline: float) -> RangeLists:
        """Returns the lists of a plan; `directory` must have been loaded before now."""
        followed: dict[tuple[str | None, str | None], NextLinks] = defaultdict(NextLinks)

        async def fetch(ids: IdRange) -> TaskPage:
            if not await self._source.turns.wait(deadline):
                raise RateLimitedError
            page = await self._source.fetch_task_page(job.facts.id, ids, changed_since=plan.since)
            if page.next_link and followed[ids.low, ids.high].is_repeat(page.next_link):
                raise RepeatedLinkError(self._source.account.endpoint, f"list the tasks of '{job.facts.id}'")
            return page

        return RangeLists(self._cache, self._plans, fetch, plan, directory)

    async def _over(self, job: Job, plan: ReadPlan) -> None:
        with suppress(CacheConflictError):
            await self._plans.delete(self._partition(job, plan.generation), plan)

    def _forget(self, job: Job) -> None:
        for generation in (job.building, job.snapshot.generation if job.snapshot else None):
            if generation:
                self._cache.forget(self._partition(job, generation))

    def _partition(self, job: Job, generation: str) -> str:
        return generation_partition(self._source.account.key, job.key, generation)
