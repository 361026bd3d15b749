"""Polls of all jobs of a round, a few at a time, which record their results in the round's state.

A failing job's failure is stored with the round and makes its verdict stale.
"""

import asyncio
from collections.abc import Collection, Coroutine
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from dataclasses import replace
from itertools import islice
from typing import Any

from shared.clock import Clock
from shared.domain.jobs.jobs import Job
from shared.errors import (
    CacheConflictError,
    LongReadError,
    OvertakenError,
    UnreadableError,
)
from shared.log import logger
from shared.services.jobs.discovery import Discovery
from shared.services.jobs.job_records import JobRecords
from shared.services.reading.task_poll import PollResult, TaskPoll
from shared.services.round.round_state import RoundState
from shared.stores.batch.batch import BatchAccount

_LOG = logger(__name__)
_JOBS_AT_ONCE = 8
_FIRST_READS_AT_ONCE = 6  # of those: even with many new jobs, known ones are polled meanwhile
_RECONCILED_AT_ONCE = 2
_TO_END = 60.0  # seconds after the deadline for running polls: a response may take half of them
_MAX_HINTED = 10_000  # jobs, as those of an account that is switched off aren't polled


class JobPolls:
    """Polls of one account's jobs by this process, which remembers the time of each attempt."""

    def __init__(self, source: BatchAccount, records: JobRecords, task_poll: TaskPoll, clock: Clock) -> None:
        self._source = source
        self._records = records
        self._task_poll = task_poll
        self._clock = clock
        self._tried: dict[str, float] = {}
        self._hinted: set[str] = set()

    def hint(self, jobs: Collection[str]) -> None:
        """Notes jobs, by key, in which something may have happened: the next round polls them first, and thoroughly.

        Hints change only this order: other jobs are polled as often as before. Hints beyond 10,000 jobs are dropped.
        """
        fresh = (job for job in jobs if job not in self._hinted)
        self._hinted.update(tuple(islice(fresh, _MAX_HINTED - len(self._hinted))))

    async def poll_all(self, this: RoundState) -> None:
        """Polls live jobs, stalest first, until the deadline; also sealed ones if requested by name.

        First reads take longer, so beyond six at a time they wait for a turn.
        """
        discovery = this.discovery
        if discovery is None:
            return
        gate, first_reads = asyncio.Semaphore(_JOBS_AT_ONCE), asyncio.Semaphore(_FIRST_READS_AT_ONCE)
        now = await self._clock.now()

        async def poll(job: Job) -> None:
            turn: AbstractAsyncContextManager[None] = nullcontext() if job.snapshot else first_reads
            async with turn, gate:
                if this.throttled is not None or this.is_elsewhere(job, now):
                    return
                if asyncio.get_running_loop().time() < this.deadline:
                    self._tried[job.key] = now.timestamp()
                    await self._poll_job(this, job, discovery)
                else:
                    this.leave_rest(now)

        live = [
            job.unsealed()
            for job in discovery.jobs.values()
            if (job.is_live if this.wanted is None else job.key in this.wanted and not job.deleted)
        ]
        self._hinted &= discovery.jobs.keys()
        self._tried = {job.key: self._tried[job.key] for job in discovery.live() if job.key in self._tried}
        await asyncio.gather(*map(poll, sorted(live, key=self._turn_of)))

    def _turn_of(self, job: Job) -> tuple[bool, float, str]:
        """Returns the sort key of a job: hinted ones first, then by the last poll or failed attempt, the oldest first.

        Attempts count so that failing jobs aren't always first.
        """
        looked_at = job.snapshot.looked_at.timestamp() if job.snapshot else 0.0
        return job.key not in self._hinted, max(looked_at, self._tried.get(job.key, 0.0)), job.key

    async def reconcile_all(self, this: RoundState) -> None:
        """After all polls, runs longer reads for jobs that need more than a delta.

        Jobs with a waiting message are left to its receiver, unless somebody requested this round.
        """
        gate, now = asyncio.Semaphore(_RECONCILED_AT_ONCE), await self._clock.now()

        async def reconcile(polled: PollResult) -> None:
            async with gate:
                this.confirm(polled)
                if this.may_continue() and (this.thorough or not this.is_in_queue(polled.job, now)):
                    await self._guarded(this, polled.job, self._reconcile_job(this, polled))

        await asyncio.gather(*map(reconcile, this.wanting))

    async def save_listed(self, this: RoundState) -> None:
        """Writes listed changes of jobs that no poll has written."""
        discovery = this.discovery
        if discovery is None:
            return
        for key in sorted(discovery.changed - (this.polled - this.failures.keys())):
            try:
                await self._save(discovery.jobs[key])
            except UnreadableError as error:  # another process wrote it meanwhile: a full list shows it again
                this.failures[key] = str(error)

    async def _poll_job(self, this: RoundState, job: Job, discovery: Discovery) -> None:
        async def poll() -> None:
            thorough = this.thorough or job.key in self._hinted
            self._hinted.discard(job.key)
            polled = await self._task_poll.poll(job, discovery.date, thorough=thorough, deadline=this.deadline)
            if polled.confirmation and job.key in discovery.changed:
                polled = replace(polled, job=await self._save(polled.job) or polled.job)
            this.note_tasks(polled.job)
            if self._task_poll.wants_reconciling(polled):
                this.wanting.append(polled)
            else:
                this.confirm(polled)

        if await self._guarded(this, job, poll()):
            this.polled.add(job.key)

    async def _reconcile_job(self, this: RoundState, polled: PollResult) -> None:
        date = this.discovery.date if this.discovery else None
        this.confirm(await self._task_poll.reconcile(polled, date))

    async def _guarded(self, this: RoundState, job: Job, work: Coroutine[Any, Any, None]) -> bool:
        """Runs work on one job and records its failure, without effect on others; False if it is still to do."""
        what = f"{job.facts.id} in {self._source.account.id}"
        is_done = await this.attempt(job.key, what, self._unless_overtaken(this, job, work))
        return is_done and job.key not in this.overtaken

    async def _unless_overtaken(self, this: RoundState, job: Job, work: Coroutine[Any, Any, None]) -> None:
        """Runs work on one job, and records where another process or the queue reads the job instead."""
        try:
            await self._in_time(this, job, work)
        except OvertakenError as error:  # the process that is reading the job records its result
            this.overtaken[job.key] = str(error)
        except LongReadError as error:
            this.overtaken[job.key] = str(error)
            this.queue(job, await self._clock.now())

    async def _in_time(self, this: RoundState, job: Job, work: Coroutine[Any, Any, None]) -> None:
        """Interrupts work long after the deadline, as a crash might at any moment. Raises LongReadError then."""
        try:
            async with asyncio.timeout_at(this.deadline + _TO_END) as limit:
                await work
        except TimeoutError:
            if not limit.expired():
                raise
            self._task_poll.forget(job)
            raise LongReadError(job.facts.id) from None

    async def _save(self, job: Job) -> Job | None:
        """Writes a listed change of a job; after another process's write only if it is newer.

        Returns the job if it was written under the known ETag, otherwise None. Raises UnreadableError, StorageError.
        """
        account = self._source.account
        try:
            return await self._records.save(account.key, job)
        except CacheConflictError:
            _LOG.info("Another process wrote %s of %s first.", job.facts.id, account.id)
            stored = await self._records.load(account.key, job.facts.id)
            if stored and not job.deleted and job.facts.is_later_than(stored.facts):
                with suppress(CacheConflictError):
                    await self._records.save(account.key, stored.seen(job.facts))
        return None
