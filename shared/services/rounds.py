"""A round of one account: its job list, then a poll of every live job, a few at a time; what it found is noted last.

One job that fails spoils nothing else: its failure is kept with the round and makes its verdict stale. Throttling ends
the round, as it concerns the whole account.
"""

import asyncio
import logging
from collections.abc import Collection, Coroutine
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from shared.clock import Clock
from shared.domain.jobs import Job
from shared.domain.keys import key_of
from shared.domain.operations import Reason
from shared.domain.rounds import WHOLE, Round
from shared.errors import (
    BatchscopeError,
    BatchThrottledError,
    CacheConflictError,
    LongReadError,
    MonitoringOffError,
    OvertakenError,
)
from shared.services.discovery import Discovery, discover, recheck_sealed
from shared.services.job_records import JobRecords
from shared.services.pool_rounds import PoolRounds
from shared.services.round_under_way import ROUND_WAITS, RoundUnderWay
from shared.services.task_poll import Polled, TaskPoll
from shared.stores.batch import BatchAccount
from shared.stores.monitoring import MonitoringStore
from shared.stores.rounds import RoundStore

_LOG = logging.getLogger(__name__)
_JOBS_AT_ONCE = 8
_RECONCILED_AT_ONCE = 2
_SHORTEST_INTERVAL = 0.1  # seconds of real time between two rounds of an account


@dataclass(frozen=True, slots=True)
class RoundRules:
    """Settings that rounds go by."""

    overlap: timedelta
    full_list_interval: timedelta
    horizon: timedelta


class AccountRounds:
    """Rounds of one account, one at a time in this process; other processes are met through ETags.

    `began` is when the last one did, in loop time; 0 before the first.
    """

    def __init__(
        self,
        source: BatchAccount,
        *,
        records: JobRecords,
        rounds: RoundStore,
        monitoring: MonitoringStore,
        task_poll: TaskPoll,
        clock: Clock,
        rules: RoundRules,
        pools: PoolRounds | None = None,
    ) -> None:
        """`pools` None: rounds leave pools alone."""
        self.source = source
        self._pools = pools
        self._records = records
        self._rounds = rounds
        self._monitoring = monitoring
        self._task_poll = task_poll
        self._clock = clock
        self._rules = rules
        self._turn = asyncio.Lock()
        self._messages: list[str | None] = []
        self._tried: dict[str, float] = {}
        self.began = 0.0

    async def run_if_due(self, interval: timedelta, *, budget: timedelta, from_queue: bool = False) -> datetime | None:
        """A round, unless one is under way or the interval hasn't passed. What Batch refuses is noted, not raised.

        `interval` is that of accounts without a rate of their own. Gives when the next round is due; None where the
        account needn't be looked at again soon: it is switched off or failing, or others see to it, such as whoever
        gets the message about it that is `from_queue`.
        """
        if self._turn.locked():
            return None
        async with self._turn:
            monitoring, last = await self._monitoring.load_with_round(self.source.account.key)
            if not monitoring.enabled:
                return None
            interval, now = monitoring.interval(interval), await self._clock.now()
            is_queued = last is not None and last.is_queued(WHOLE, now)
            if is_queued and (not from_queue or (last and last.wait(now))):
                return None
            if last is not None and not is_queued and not last.is_due(now, interval):
                return last.due_at(interval) if last.succeeded else None
            done = await self._run(last, wanted=None, budget=budget)
            self._messages += done.messages()
            return None if done.reason else now + interval * 0.9

    async def leave_to_queue(self, interval: timedelta) -> bool:
        """Marks a due round that didn't fit into a tick; False where it needs no message. Raises StorageError."""
        account, now = self.source.account, await self._clock.now()
        monitoring, last = await self._monitoring.load_with_round(account.key)
        if self._turn.locked() or not monitoring.enabled:
            return False
        if last and (not last.is_due(now, monitoring.interval(interval)) or last.is_queued(WHOLE, now)):
            return False
        until = now + ROUND_WAITS
        await self._rounds.change(account.key, lambda last: replace(last, queued={**last.queued, WHOLE: until}))
        return True

    def take_messages(self) -> list[str | None]:
        """The ids of jobs that rounds left to the queue since this was called last; None for a round itself."""
        messages, self._messages = self._messages, []
        return messages

    async def run_now(self, wanted: Collection[str] | None, *, budget: timedelta) -> tuple[int, tuple[Reason, ...]]:
        """A round of all live jobs, or of those whose ids are `wanted`; how many were polled, and what failed.

        `wanted` None also lists every job, so that a deleted one is noticed. An account that is to be left alone is.
        """
        async with self._turn:
            await self._breathe()
            monitoring, last = await self._monitoring.load_with_round(self.source.account.key)
            if monitoring.off_reason:
                return 0, (Reason(None, str(MonitoringOffError(self.source.account.id, monitoring.off_reason))),)
            wait = last.wait(await self._clock.now()) if last else None
            if wait:
                return 0, (Reason(None, str(BatchThrottledError(self.source.account.endpoint, wait))),)
            if wanted is None and last is not None:
                last = replace(last, full_list_at=None)
            done = await self._run(last, wanted=wanted, budget=budget, thorough=True)
        return len(done.polled) - len(done.failures), done.reasons(wanted)

    @property
    def _calls(self) -> int:
        """Requests sent so far, but for those about pools."""
        return self.source.calls - (self._pools.source.calls if self._pools else 0)

    async def _breathe(self) -> None:
        """Keeps a moment between rounds, however often polls are asked for."""
        wait = self.began + _SHORTEST_INTERVAL - asyncio.get_running_loop().time()
        if wait > 0:
            await asyncio.sleep(wait)

    async def _run(
        self, last: Round | None, *, wanted: Collection[str] | None, budget: timedelta, thorough: bool = False
    ) -> RoundUnderWay:
        started, calls = await self._clock.now(), self._calls
        self.began = asyncio.get_running_loop().time()
        deadline = self.began + budget.total_seconds()
        keys = None if wanted is None else frozenset(map(key_of, wanted))
        this = RoundUnderWay(last, keys, deadline, thorough=thorough)
        over_jobs = self._run_jobs(this, started, calls)
        pools_deadline = self.began + budget.total_seconds() / 2  # so that one that hangs puts off no next round
        if self._pools is None or keys is not None:
            await over_jobs
        elif throttled := await self._pools.run_beside(over_jobs, lambda: this.goes_on(pools_deadline)):
            until = await self._clock.now() + throttled.retry_after
            await self._rounds.change(self.source.account.key, lambda last: last.waiting(until))
        return this

    async def _run_jobs(self, this: RoundUnderWay, started: datetime, calls: int) -> None:
        try:
            await self._discover(this, started)
            await self._poll_jobs(this)
            await self._save_listed(this)
            if this.wanting:  # what the others are as of doesn't wait for reads that take longer
                await self._note(this, started, calls)
                await self._reconcile_jobs(this)
        except BatchscopeError as error:
            this.discovery, this.reason = None, str(error)
            this.throttled = error if isinstance(error, BatchThrottledError) else None
            _LOG.warning("A round of %s failed: %s", self.source.account.id, error)
        except Exception as error:  # a defect must show in health and verdicts, too
            this.discovery, this.reason = None, f"{type(error).__name__}: {error}"
            _LOG.exception("A round of %s broke", self.source.account.id)
        await self._note(this, started, calls)

    async def _note(self, this: RoundUnderWay, started: datetime, calls: int) -> None:
        """Writes the round's row as things stand. `calls` are those of before the round."""
        done = this.as_round(started, await self._clock.now(), self._calls - calls)
        this.noted = await self._rounds.save(self.source.account.key, done.merged(this.noted) if this.noted else done)

    async def _discover(self, this: RoundUnderWay, now: datetime) -> None:
        known = await self._records.load_all(self.source.account.key, this.last)
        full = this.last is None or this.last.full_list_is_due(now, self._rules.full_list_interval)
        found = await discover(
            self.source, known, this.last, full=full, overlap=self._rules.overlap, horizon=self._rules.horizon
        )
        this.discovery = await recheck_sealed(self.source, found) if found.was_full else found

    async def _poll_jobs(self, this: RoundUnderWay) -> None:
        """Polls live jobs, stalest first, until the deadline; sealed ones, too, where they are asked for by name."""
        discovery = this.discovery
        if discovery is None:
            return
        gate = asyncio.Semaphore(_JOBS_AT_ONCE)
        now = await self._clock.now()

        async def poll(job: Job) -> None:
            async with gate:
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
        self._tried = {job.key: self._tried[job.key] for job in discovery.live() if job.key in self._tried}
        await asyncio.gather(*map(poll, sorted(live, key=self._turn_of)))

    def _turn_of(self, job: Job) -> tuple[float, str]:
        """Orders jobs by how long ago they were polled, be it in vain: those that fail mustn't always be the first."""
        looked_at = job.picture.looked_at.timestamp() if job.picture else 0.0
        return max(looked_at, self._tried.get(job.key, 0.0)), job.key

    async def _reconcile_jobs(self, this: RoundUnderWay) -> None:
        """When all were polled: reads that take longer, for jobs whose counts want more than a delta."""
        gate = asyncio.Semaphore(_RECONCILED_AT_ONCE)

        async def reconcile(polled: Polled) -> None:
            async with gate:
                this.confirm(polled)
                if this.goes_on():
                    await self._guarded(this, polled.job, self._reconcile_job(this, polled))

        await asyncio.gather(*map(reconcile, this.wanting))

    async def _save_listed(self, this: RoundUnderWay) -> None:
        """Writes what the list told of jobs that no poll has written."""
        discovery = this.discovery
        if discovery is None:
            return
        for key in sorted(discovery.changed - (this.polled - this.failures.keys())):
            await self._save(discovery.jobs[key])

    async def _poll_job(self, this: RoundUnderWay, job: Job, discovery: Discovery) -> None:
        async def poll() -> None:
            polled = await self._task_poll.poll(self.source, job, discovery.date, thorough=this.thorough)
            if polled.confirmation and job.key in discovery.changed:
                polled = replace(polled, job=await self._save(polled.job) or polled.job)
            if self._task_poll.wants_reconciling(polled):
                this.wanting.append(polled)
            else:
                this.confirm(polled)

        if await self._guarded(this, job, poll()):
            this.polled.add(job.key)

    async def _reconcile_job(self, this: RoundUnderWay, polled: Polled) -> None:
        date = this.discovery.date if this.discovery else None
        this.confirm(await self._task_poll.reconcile(self.source, polled, date))

    async def _guarded(self, this: RoundUnderWay, job: Job, work: Coroutine[Any, Any, None]) -> bool:
        """Work on one job, whose failure is noted and spoils nothing else; False where it was left undone."""
        try:
            await work
        except BatchThrottledError as error:
            this.throttled, this.reason = error, str(error)
            return False
        except OvertakenError as error:  # whoever is reading the job says how that went
            this.overtaken[job.key] = str(error)
            return False
        except LongReadError as error:
            this.overtaken[job.key] = str(error)
            this.queue(job, await self._clock.now())
            return False
        except BatchscopeError as error:
            this.failures[job.key] = str(error)
            _LOG.warning("The poll of %s in %s failed: %s", job.facts.id, self.source.account.id, error)
        except Exception as error:  # a defect that one job meets mustn't end the polls of the others
            this.failures[job.key] = f"{type(error).__name__}: {error}"
            _LOG.exception("The poll of %s in %s broke", job.facts.id, self.source.account.id)
        return True

    async def _save(self, job: Job) -> Job | None:
        """Writes what the list told of a job; over what another process wrote meanwhile only if it is news.

        The job as it was written, None where it wasn't.
        """
        account = self.source.account
        try:
            return await self._records.save(account.key, job)
        except CacheConflictError:
            _LOG.info("Another process wrote %s of %s first.", job.facts.id, account.id)
            stored = await self._records.load(account.key, job.facts.id)
            if stored and not job.deleted and job.facts.is_later_than(stored.facts):
                with suppress(CacheConflictError):
                    await self._records.save(account.key, stored.seen(job.facts))
        return None
