"""A round of one account: its job list, then a poll of every live job; the results are written last."""

import asyncio
from collections.abc import Collection, Coroutine
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from shared.clock import Clock
from shared.domain.accounts.operations import JobMessage, Reason
from shared.domain.core.keys import key_of
from shared.domain.jobs.jobs import Job
from shared.domain.outputs.failed_starts import FailingPool
from shared.domain.polling.rounds import ROUND_WAITS, WHOLE, Round
from shared.errors import BatchThrottledError, MonitoringOffError
from shared.services.jobs.discovery import discover, recheck_sealed
from shared.services.jobs.job_records import JobRecords
from shared.services.pools.pool_rounds import PoolRounds
from shared.services.reading.long_deltas import is_behind
from shared.services.reading.task_poll import TaskPoll
from shared.services.round.job_polls import JobPolls
from shared.services.round.resource_state import ResourceRoundResult, RoundRules
from shared.services.round.round_state import RoundState
from shared.services.schedules.schedule_rounds import ScheduleRounds
from shared.stores.accounts.monitoring import AccountRows
from shared.stores.batch.batch import BatchAccount
from shared.stores.stores import Stores
from shared.stores.tables.unreadable import warn_of

_SHORTEST_INTERVAL = 0.1  # seconds of real time between two rounds of an account

type _Beside = Coroutine[Any, Any, ResourceRoundResult]


class AccountRounds:
    """Rounds of one account, one at a time in this process; ETags detect writes of other processes.

    `began` is the start of the last round, in loop time; 0 before the first.
    """

    def __init__(
        self,
        source: BatchAccount,
        stores: Stores,
        records: JobRecords,
        task_poll: TaskPoll,
        *,
        clock: Clock,
        rules: RoundRules,
        pools: PoolRounds | None = None,
        schedules: ScheduleRounds | None = None,
    ) -> None:
        """Rounds skip pools and schedules where these are None."""
        self.source = source
        self._pools = pools
        self._schedules = schedules
        self._records = records
        self._stores = stores
        self._polls = JobPolls(source, records, task_poll, clock)
        self._clock = clock
        self._rules = rules
        self._turn = asyncio.Lock()
        self._messages: list[JobMessage] = []
        self._dependents: list[Job] = []
        self._failing: dict[str, Job] = {}
        self._has_news = False
        self._unreadable = frozenset[str]()
        self._interval = rules.poll_interval
        self.began = 0.0

    def hint(self, jobs: Collection[str]) -> None:
        """Notes jobs with news, by key: the next round polls them first."""
        self._polls.hint(jobs)

    async def run_if_due(self, interval: timedelta, *, budget: timedelta, from_queue: bool = False) -> datetime | None:
        """Runs a round, unless one is running or the interval hasn't passed; records Batch's errors.

        `interval` is that of accounts without their own. Returns when the next round is due. Returns None if the
        account needs no poll soon: it is off or failing, or others handle it, such as the receiver of its queue
        message. `from_queue` means that this call is for that message.
        """
        if self._turn.locked():
            return None
        async with self._turn:
            account = await self._stores.monitoring.load_account(self.source.account.key)
            monitoring, last = account.monitoring, account.last
            if not monitoring.enabled:
                return None
            interval, now = monitoring.interval(interval), await self._clock.now()
            self._interval = interval
            is_queued = last is not None and last.is_queued(WHOLE, now)
            if is_queued and (not from_queue or (last and last.wait(now))):
                return None
            if last is not None and not is_queued and not last.is_due(now, interval):
                return last.due_at(interval) if last.succeeded else None
            done = await self._run(account, last, wanted=None, budget=budget)
            return None if done.reason else now + interval * 0.9

    async def leave_to_queue(self, interval: timedelta) -> None:
        """Queues a due round that didn't fit into a tick, unless its message is already waiting. Raises StorageError.

        An account that was never polled gets a row that holds only this mark.
        """
        account, now = self.source.account, await self._clock.now()
        monitoring = await self._stores.monitoring.load(account.key)
        if self._turn.locked() or not monitoring.enabled:
            return
        interval = monitoring.interval(interval)
        mark = partial(Round.left_to_queue, now=now, until=now + ROUND_WAITS, interval=interval)
        if await self._stores.rounds.change(account.key, mark, new=Round(now, finished_at=now)):
            self._messages.append(JobMessage(account.id, None))

    def take_messages(self) -> list[JobMessage]:
        """Returns messages about jobs, or the account, left to the queue since the last call."""
        messages, self._messages = self._messages, []
        return messages

    def take_dependents(self) -> list[Job]:
        """Returns the jobs of the last round since the last call whose waiting tasks may depend on others."""
        jobs, self._dependents = self._dependents, []
        return jobs

    def take_failing(self) -> list[Job]:
        """Returns the jobs with failed tasks that rounds polled since the last call."""
        jobs, self._failing = list(self._failing.values()), {}
        return jobs

    def take_failing_pools(self) -> list[FailingPool]:
        """Returns the pools with failed start tasks that rounds polled since the last call."""
        return self._pools.take_failing() if self._pools else []

    def take_news(self) -> bool:
        """Returns whether rounds since the last call changed what is stored, or couldn't."""
        found, self._has_news = self._has_news, False
        return found

    async def run_now(self, wanted: Collection[str] | None, *, budget: timedelta) -> tuple[int, tuple[Reason, ...]]:
        """Polls all live jobs, or those with the `wanted` ids; returns the number polled, and the failures.

        `wanted` None also lists every job, so that deleted ones are noticed. Polls nothing while monitoring is off or
        the service requests back-off.
        """
        async with self._turn:
            await self._breathe()
            account = await self._stores.monitoring.load_account(self.source.account.key)
            monitoring, last = account.monitoring, account.last
            self._interval = monitoring.interval(self._rules.poll_interval)
            if monitoring.off_reason:
                return 0, (Reason(None, str(MonitoringOffError(self.source.account.id, monitoring.off_reason))),)
            wait = last.wait(await self._clock.now()) if last else None
            if wait:
                return 0, (Reason(None, str(BatchThrottledError(self.source.account.endpoint, wait))),)
            if wanted is None and last is not None:
                last = replace(last, full_list_at=None)
            done = await self._run(account, last, wanted=wanted, budget=budget, thorough=True)
        return len(done.polled) - len(done.failures), done.reasons(wanted)

    @property
    def _calls(self) -> int:
        """Requests sent so far, except for those about pools and schedules."""
        return self.source.calls - sum(beside.source.calls for beside in (self._pools, self._schedules) if beside)

    async def _breathe(self) -> None:
        """Keeps a pause between rounds, however often polls are requested."""
        wait = self.began + _SHORTEST_INTERVAL - asyncio.get_running_loop().time()
        if wait > 0:
            await asyncio.sleep(wait)

    async def _run(
        self,
        account: AccountRows,
        last: Round | None,
        *,
        wanted: Collection[str] | None,
        budget: timedelta,
        thorough: bool = False,
    ) -> RoundState:
        started, calls = await self._clock.now(), self._calls
        self.began = asyncio.get_running_loop().time()
        deadline = self.began + budget.total_seconds()
        keys = None if wanted is None else frozenset(map(key_of, wanted))
        this = RoundState(last, keys, deadline, thorough=thorough)
        beside_deadline = self.began + budget.total_seconds() / 2  # so that hanging requests don't delay the next round
        over_jobs = self._run_jobs(this, started, calls)
        beside = self._beside(this, beside_deadline, account) if keys is None else []
        ends = await asyncio.gather(over_jobs, *beside, return_exceptions=True)  # none ends with another's failure
        if ends[0] is None:
            self._messages += this.messages(self.source.account.id)
        self._dependents = this.dependents
        self._failing |= {job.key: job for job in this.failing}
        results = [end for end in ends if isinstance(end, ResourceRoundResult)]
        self._has_news |= this.has_news or any(result.has_news for result in results)
        await self._note_beside(this, results)
        if failed := [end for end in ends if isinstance(end, BaseException)]:
            raise failed[0]
        return this

    async def _note_beside(self, this: RoundState, ends: list[ResourceRoundResult]) -> None:
        """Records the back-off that the service requested from polls of pools or schedules."""
        this.beside += [end.problem for end in ends if end.problem]
        if throttled := [end.throttled.retry_after for end in ends if end.throttled]:
            until = await self._clock.now() + max(throttled)
            await self._stores.rounds.change(self.source.account.key, lambda last: last.waiting(until))

    def _beside(self, this: RoundState, deadline: float, account: AccountRows) -> list[_Beside]:
        """Returns the polls that run beside the round over jobs: of pools and schedules."""

        def has_time() -> bool:
            return this.may_continue(deadline)

        over_pools = [self._pools.run(has_time, deadline, self._interval, account)] if self._pools else []
        if self._schedules is None:
            return over_pools
        return [*over_pools, self._schedules.run(this.jobs_of_schedules, has_time, thorough=this.thorough)]

    async def _run_jobs(self, this: RoundState, started: datetime, calls: int) -> None:
        async def poll(this: RoundState) -> None:
            try:
                await self._discover(this, started)
            finally:
                this.listed.set()
            await self._polls.poll_all(this)
            await self._polls.save_listed(this)
            if this.wanting:  # the dates of other jobs don't wait for longer reads
                await self._note(this, started, calls)
                await self._polls.reconcile_all(this)

        if not await this.run(f"of {self.source.account.id}", poll):
            this.discovery = None
        await self._note(this, started, calls)

    async def _note(self, this: RoundState, started: datetime, calls: int) -> None:
        """Writes the round's row in its current state; `calls` are the requests before the round."""
        done = this.as_round(started, await self._clock.now(), self._calls - calls)
        this.noted = await self._stores.rounds.save(
            self.source.account.key, done.merged(this.noted) if this.noted else done
        )

    async def _discover(self, this: RoundState, now: datetime) -> None:
        known = await self._records.load_all(self.source.account.key, this.last)
        news = known.unreadable.keys() - self._unreadable  # a full list shows their jobs
        warn_of(self.source.account.key, (known.unreadable[key] for key in news))
        full = this.last is None or this.last.full_list_is_due(now, self._rules.full_list_interval) or bool(news)
        found = await discover(
            self.source, known, this.last, full=full, overlap=self._rules.overlap, horizon=self._rules.horizon
        )
        this.discovery = await recheck_sealed(self.source, found) if found.was_full else found
        this.failures |= {key: row.why for key, row in known.unreadable.items() if key in found.jobs}
        self._unreadable = frozenset(known.unreadable)
        if not this.thorough:
            this.behind = await self._behind([job for job in found.live() if this.is_in_queue(job, now)])

    async def _behind(self, queued: list[Job]) -> frozenset[str]:
        """Returns the keys of queued jobs with more changes than a round may read. Raises StorageError."""
        behind = await asyncio.gather(*(is_behind(self._stores.plans, self.source.account.key, job) for job in queued))
        return frozenset(job.key for job, left in zip(queued, behind, strict=True) if left)
