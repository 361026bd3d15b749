"""Keeps the ends of what failed tasks and start tasks wrote, before their nodes are gone.

Rounds name polled jobs with failed tasks, and pools with failed start tasks. One with failures that this process hasn't
seen is due. After each tick some of their runs are read from Batch, for a few seconds, within the account's limits and
half of its calls: however long the tick took, some runs of one job or pool of each account. What is left stays due for
the next tick.
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from shared.domain.jobs.jobs import Job
from shared.domain.outputs.failed_starts import FailingPool, chosen_starts
from shared.domain.outputs.kept_outputs import JobOutputs, OutputMark
from shared.domain.outputs.output_limits import OutputLimits
from shared.errors import (
    BatchMissingError,
    BatchRefusedError,
    BatchscopeError,
    BatchThrottledError,
    NotFoundError,
)
from shared.log import logger
from shared.services.accounts.registry import Registry, found
from shared.services.files.failed_run_finder import FailedRunFinder
from shared.services.files.run_keeper import Pass, RunKeeper
from shared.services.files.run_owners import NodesOfPool, TasksOfJob
from shared.stores.accounts.rounds import RoundStore
from shared.stores.batch.batch import BatchAccount
from shared.stores.jobs.outputs import OutputStore

_LOG = logger(__name__)
_BUDGET, _LEAST = timedelta(seconds=5), timedelta(seconds=1)
_REFUSED_FOR = timedelta(hours=1)  # until it is tried again whether the app may read files now
_MAX_SEEN = 10_000  # jobs and pools

type Failing = Job | FailingPool
type _Seen = tuple[datetime, int, int] | frozenset[str]
"""When a job was created, how many of its tasks had failed, and how often any had; the failed start tasks of a pool."""


@dataclass(frozen=True, slots=True)
class OutputKeeper:
    """Keeps outputs of all accounts; `sources` are keyed by account id."""

    sources: Mapping[str, BatchAccount]
    registry: Registry
    rounds: RoundStore
    finder: FailedRunFinder
    store: OutputStore
    limits: OutputLimits
    runs: RunKeeper
    _seen: dict[tuple[str, str], _Seen] = field(default_factory=dict)
    _due: dict[str, dict[str, Failing]] = field(default_factory=dict)
    _refused: dict[str, datetime] = field(default_factory=dict)

    def note(self, failing: Mapping[str, Sequence[Failing]]) -> None:
        """Notes polled jobs or pools with failures, by account id; those with new ones become due."""
        if not self.limits.keeps_any:
            return
        if len(self._seen) > _MAX_SEEN:
            self._seen.clear()
        for account, some in failing.items():
            for one in some:
                now, seen = _seen_of(one), self._seen.get((account, one.key))
                self._seen[account, one.key] = now
                if seen is None or _has_more(now, seen):
                    due = self._due.setdefault(account, {})
                    due[one.key] = _joined(one, due.get(one.key))

    async def keep(self, budget: timedelta = _BUDGET) -> None:
        """Keeps some outputs of what is due, one or five seconds long, as the `budget` allows.

        Reads that have begun are waited for. Errors are logged, and the next call tries again.
        """
        seconds = max(_LEAST, min(budget, _BUDGET)).total_seconds()
        due = [(account, some) for account, some in self._due.items() if some]
        await asyncio.gather(*(self._keep_of_account(account, some, seconds) for account, some in due))

    async def _keep_of_account(self, account_id: str, due: dict[str, Failing], seconds: float) -> None:
        source = found(self.sources, account_id)
        try:
            await self.registry.require_polling_allowed(source.account)
            refused, now = self._refused.get(account_id), await self.registry.clock.now()
            if refused and now - refused < _REFUSED_FOR:
                return
            last = await self.rounds.load(source.account.key)
            if last and (not last.succeeded or last.wait(now)):
                return  # a tick ends with this, so it doesn't wait for an account that doesn't answer
            await self._keep_of_each(source, due, seconds)
        except BatchscopeError as error:
            _LOG.warning("Outputs of failed tasks in %s weren't kept: %s", account_id, error)
            if isinstance(error, BatchRefusedError):
                self._refused[account_id] = await self.registry.clock.now()
            if isinstance(error, BatchThrottledError):
                await self._wait(source, error)

    async def _wait(self, source: BatchAccount, error: BatchThrottledError) -> None:
        """Has rounds wait, too, for as long as the service requests, and say why."""
        with suppress(BatchscopeError):
            until = await self.registry.clock.now() + error.retry_after
            await self.rounds.change(source.account.key, lambda last: last.waiting(until, str(error)))

    async def _keep_of_each(self, source: BatchAccount, due: dict[str, Failing], seconds: float) -> None:
        """Gives each job or pool a share of the time, the one that has waited longest first."""
        time = asyncio.get_running_loop().time
        end, rate = time() + seconds, self.limits.rate(source.account.id)
        for left, (key, one) in zip(range(len(due), 0, -1), list(due.items()), strict=True):
            if time() >= end:
                return
            now = await self.registry.clock.now()
            if not (await self.store.load_spent(source.account.key)).at(now).room(rate):
                return
            deadline = time() + (end - time()) / left
            due.pop(key, None)
            due[key] = one  # behind the others, also if it fails
            if await self._is_done(source, one, now, deadline) and due.get(key) is one:
                del due[key]

    async def _is_done(self, source: BatchAccount, one: Failing, now: datetime, deadline: float) -> bool:
        """Keeps runs of a job or a pool; returns whether none is left.

        Raises BatchError, StorageError, CacheConflictError.
        """
        try:
            if isinstance(one, FailingPool):
                stored = await self.store.load_job(source.account.key, one.key)
                return await self._keep_of_pool(Pass(source, NodesOfPool(one), stored, now, deadline), one)
            stored = await self._stored(source, one)
            return await self._keep_of_job(Pass(source, TasksOfJob(one), stored, now, deadline), one)
        except (NotFoundError, BatchMissingError):  # the job or pool was deleted
            return True

    async def _keep_of_pool(self, here: Pass, pool: FailingPool) -> bool:
        """Keeps runs of start tasks; returns whether none is left, or had nothing to keep."""
        if not (each := self.limits.each(here.source.account.id, pool.id)):
            return True
        wanted = chosen_starts(pool.runs, here.stored, here.stored.mark.begins(here.now), each)
        return not await self.runs.keep(here, wanted)

    async def _stored(self, source: BatchAccount, job: Job) -> JobOutputs:
        """Returns what is stored of a job, first of all its mark; outputs of an earlier job of its id are deleted."""
        key, created = source.account.key, job.facts.creation_time
        stored = await self.store.load_job(key, job.key)
        if stored.mark.created == created:
            return stored
        await self.store.delete_job(key, job.key)
        return JobOutputs(OutputMark(created), await self.store.save_mark(key, job.key, OutputMark(created), None))

    async def _keep_of_job(self, here: Pass, job: Job) -> bool:
        """Keeps runs of a job's tasks; returns whether none is left, or had nothing to keep."""
        account, mark = here.source.account, here.stored.mark
        walk = self.finder.take_walk(account.id, job, here.now)
        half = (asyncio.get_running_loop().time() + here.deadline) / 2
        since = mark.begins(here.now)
        wanted = await self.finder.find(account.id, job, here.stored, walk, since=since, deadline=half)
        walk.note_left(await self.runs.keep(here, wanted))
        if walk.rest is not None:
            self.finder.put_back(account.id, job, walk)
            return False
        if (since := walk.since(mark)) != mark.since:
            await self.store.save_mark(account.key, job.key, replace(mark, since=since), here.stored.etag)
        return walk.left is None


def _seen_of(one: Failing) -> _Seen:
    if isinstance(one, FailingPool):
        return frozenset(run.task for run in one.runs)
    failed = one.snapshot.counts.failed if one.snapshot else 0
    return one.facts.creation_time, failed, one.counters.total.failed if one.counters else 0


def _has_more(now: _Seen, seen: _Seen) -> bool:
    if isinstance(now, frozenset):
        return not isinstance(seen, frozenset) or not now <= seen
    return isinstance(seen, frozenset) or seen[0] != now[0] or seen[1] < now[1] or seen[2] < now[2]


def _joined(one: Failing, before: Failing | None) -> Failing:
    """Returns what is due now; failed start tasks of the last poll stay due, as their nodes may be gone."""
    return one.joined(before) if isinstance(one, FailingPool) and isinstance(before, FailingPool) else one
