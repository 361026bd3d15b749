"""Keeps the ends of what failed tasks and start tasks wrote, before their nodes are gone.

Rounds name polled jobs with failed tasks, and pools with failed start tasks. One with failures that this process hasn't
seen is due. After each tick some of their runs are read from Batch, for a few seconds, within the account's
limits and half of its calls. What is left stays due for the next tick.
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial

from shared.domain.jobs.jobs import Job
from shared.domain.outputs.failed_runs import (
    FailedRun,
    Node,
    failed_since,
    may_have_failed_since,
)
from shared.domain.outputs.failed_starts import FOLDER, FailingPool, chosen_starts
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
from shared.services.files.run_keeper import Pass, RunKeeper
from shared.services.tasks.leaf_reader import LeafReader
from shared.stores.accounts.rounds import RoundStore
from shared.stores.batch.batch import BatchAccount
from shared.stores.batch.batch_files import FileOwner, files_of_node, files_of_task
from shared.stores.jobs.outputs import OutputStore

_LOG = logger(__name__)
_BUDGET = timedelta(seconds=5)
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
    walk: LeafReader
    store: OutputStore
    limits: OutputLimits
    _seen: dict[tuple[str, str], _Seen] = field(default_factory=dict)
    _due: dict[str, dict[str, Failing]] = field(default_factory=dict)

    async def keep(
        self,
        failing: Mapping[str, Sequence[Job]],
        pools: Mapping[str, Sequence[FailingPool]],
        budget: timedelta = _BUDGET,
    ) -> None:
        """Keeps some outputs of what is due; `failing` and `pools` are polled ones with failures, by account id.

        Errors are logged, and the next call tries again. Without a `budget` they only become due.
        """
        if not self.limits.keeps_any:
            return
        self._note(failing)
        self._note(pools)
        if seconds := max(0.0, min(budget, _BUDGET).total_seconds()):
            due = [(account, some) for account, some in self._due.items() if some]
            await asyncio.gather(*(self._keep_of_account(account, some, seconds) for account, some in due))

    def _note(self, failing: Mapping[str, Sequence[Failing]]) -> None:
        if len(self._seen) > _MAX_SEEN:
            self._seen.clear()
        for account, some in failing.items():
            for one in some:
                now, seen = _seen_of(one), self._seen.get((account, one.key))
                self._seen[account, one.key] = now
                if seen is None or _has_more(now, seen):
                    due = self._due.setdefault(account, {})
                    due[one.key] = _joined(one, due.get(one.key))

    async def _keep_of_account(self, account_id: str, due: dict[str, Failing], seconds: float) -> None:
        source = found(self.sources, account_id)
        try:
            await self.registry.require_polling_allowed(source.account)
            last = await self.rounds.load(source.account.key)
            if last and (not last.succeeded or last.wait(await self.registry.clock.now())):
                return  # a tick ends with this, so it doesn't wait for an account that doesn't answer
            async with asyncio.timeout(2 * seconds):
                await self._keep_of_each(source, due, seconds)
        except (BatchscopeError, TimeoutError) as error:
            _LOG.warning("Outputs of failed tasks in %s weren't kept: %s", account_id, str(error) or "no time was left")
            if isinstance(error, BatchRefusedError):
                due.clear()  # until more tasks fail
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
        end = time() + seconds
        for left, (key, one) in zip(range(len(due), 0, -1), list(due.items()), strict=True):
            now = await self.registry.clock.now()
            spent = await self.store.load_spent(source.account.key)
            if time() >= end or not spent.at(now).room(self.limits):
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
                files = partial(_files_of_start, one)
                here = Pass(source, one.key, files, f"{FOLDER}/", stored, now, deadline)
                return not await self._keep_of_pool(here, one)
            files, stored = partial(_files_of_run, one), await self._stored(source, one)
            return not await self._keep_of_job(Pass(source, one.key, files, "", stored, now, deadline), one)
        except (NotFoundError, BatchMissingError):  # the job or pool was deleted
            return True

    async def _keep_of_pool(self, here: Pass, pool: FailingPool) -> list[FailedRun]:
        """Keeps runs of start tasks; returns those that are left, or had nothing to keep."""
        if not self.limits.kept_for(here.source.account.id, pool.id):
            return []
        wanted = chosen_starts(pool.runs, here.stored, here.stored.mark.begins(here.now))
        return await RunKeeper(self.store, self.limits).keep(here, wanted)

    async def _stored(self, source: BatchAccount, job: Job) -> JobOutputs:
        """Returns what is stored of a job, first of all its mark; outputs of an earlier job of its id are deleted."""
        key, created = source.account.key, job.facts.creation_time
        stored = await self.store.load_job(key, job.key)
        if stored.mark.created == created:
            return stored
        await self.store.delete_job(key, job.key)
        return JobOutputs(OutputMark(created), await self.store.save_mark(key, job.key, OutputMark(created), None))

    async def _keep_of_job(self, here: Pass, job: Job) -> list[FailedRun]:
        """Keeps runs of a job's tasks; returns those that are left, or had nothing to keep."""
        mark, (wanted, newest) = here.stored.mark, await self._wanted(here, job)
        left = await RunKeeper(self.store, self.limits).keep(here, wanted)
        since = min((run.ended for run in left), default=max(mark.since, newest + 1))
        if since != mark.since:
            after = replace(mark, since=since)
            await self.store.save_mark(here.source.account.key, job.key, after, here.stored.etag)
        return left

    async def _wanted(self, here: Pass, job: Job) -> tuple[list[FailedRun], int]:
        """Returns the runs to keep, the most telling first, and the newest end of a failed run."""
        account_id, stored, since = here.source.account.id, here.stored, here.stored.mark.begins(here.now)
        known, kept = {(run.task, run.ended) for run in stored.runs}, stored.kept_tasks

        def is_open(task: str, ended: int, node: Node) -> bool:
            return (task, ended) not in known and bool(self.limits.kept_for(account_id, node[0]))

        wanted, newest = list[FailedRun](), since
        slices = self.walk.slices(account_id, job.facts.id, wanted=may_have_failed_since(since))
        async with aclosing(slices):
            async for part in slices:
                runs, last = failed_since(part.leaf, part.places, since, is_open, kept)
                wanted = stored.chosen([*wanted, *runs])
                newest = max(newest, last)
        return wanted, newest


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


def _files_of_run(job: Job, run: FailedRun) -> FileOwner:
    return files_of_task(job.facts.id, run.task_id)


def _files_of_start(pool: FailingPool, run: FailedRun) -> FileOwner:
    return files_of_node(pool.id, run.node[1])
