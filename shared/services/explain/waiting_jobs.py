"""Explains the jobs that wait, a few of them every five minutes, so that tasks can be counted by cause at any time.

The explanations of an account share what they read from storage and Batch, and stay within its budget of requests.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from shared.domain.accounts.accounts import Account
from shared.domain.explain.causes import UNKNOWN
from shared.domain.history.grains import HistoryRetention
from shared.domain.jobs.jobs import Job
from shared.domain.jobs.waited_history import waited_rows
from shared.domain.jobs.waiting_causes import WaitingCauses, waiting_tasks
from shared.errors import BatchscopeError, CacheConflictError, StorageError
from shared.log import logger
from shared.services.accounts.registry import Registry
from shared.services.explain.explanations import Explanations
from shared.services.explain.request_budgets import RequestBudgets
from shared.services.explain.shared_evidence import SharedEvidence
from shared.stores.batch.batch import BatchAccount
from shared.stores.stores import Stores
from shared.stores.tables.table_requests import reads_shared

_LOG = logger(__name__)
_MAX_EXPLAINED = 5  # jobs of an account a pass
_ACCOUNTS_AT_ONCE = 4
_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class WaitingJobs:
    """Passes over the jobs that wait; `sources` are keyed by account id, `explanations` makes those of a pass.

    This process's last passes are remembered by account key, so that nothing is read before the next one is due.
    """

    registry: Registry
    stores: Stores
    sources: Mapping[str, BatchAccount]
    explanations: Callable[[SharedEvidence], Explanations]
    budgets: RequestBudgets
    retention: HistoryRetention
    _last: dict[str, WaitingCauses] = field(default_factory=dict)

    async def run(self, *, turn: timedelta, budget: timedelta) -> None:
        """Makes the passes that are due, those of accounts that waited longest first.

        No account is begun after `turn` and no job after two of them, nor after `budget`, so that the next polls aren't
        late. Failures are logged: the next run goes on.
        """
        time = asyncio.get_running_loop().time
        last_begin, deadline = time() + turn.total_seconds(), time() + min(2 * turn, budget).total_seconds()
        gate = asyncio.Semaphore(_ACCOUNTS_AT_ONCE)

        async def guarded(account: Account) -> None:
            async with gate:
                if time() >= last_begin:
                    return
                try:
                    with suppress(CacheConflictError):  # another host made the same pass
                        await self._run(account, deadline)
                except StorageError as error:
                    _LOG.warning("Why jobs of %s wait wasn't stored: %s", account.id, error)

        await asyncio.gather(*map(guarded, sorted(self.registry.accounts.values(), key=self._passed_at)))

    def _passed_at(self, account: Account) -> datetime:
        """Returns the time of the last pass in this process's memory, long ago without one."""
        known = self._last.get(account.key)
        return known.at if known and known.at else _NEVER

    async def _run(self, account: Account, deadline: float) -> None:
        now, known = await self.registry.clock.now(), self._last.get(account.key)
        if (known and not known.is_due(now)) or asyncio.get_running_loop().time() >= deadline:
            return
        with reads_shared():
            before = await self.stores.waiting_causes.load(account.key)
            self._last[account.key] = WaitingCauses(before.at)
            if not before.is_due(now):
                return
            watch, last = await self.registry.watch_and_round(account.key)
            if watch.monitoring.off_reason or last is None or not (last.was_run and last.succeeded):
                return  # an account that doesn't answer would hold up those that do
            jobs, pools = await self.stores.jobs.load_all(account.key), await self.stores.pools.load_all(account.key)
            waiting = {key: job for key, job in jobs.items() if waiting_tasks(job)}
            found = await self._causes(account, before.next_jobs(waiting, _MAX_EXPLAINED), deadline)
        stored = pools.resources.keys() | pools.unreadable.keys()
        after: WaitingCauses = before.after(waiting, found, now).within(stored)
        await self.stores.pool_history.save(account.key, waited_rows(before, after, self.retention))
        await self.stores.waiting_causes.save(account.key, after)
        self._last[account.key] = WaitingCauses(now)

    async def _causes(self, account: Account, jobs: Sequence[Job], deadline: float) -> dict[str, str]:
        """Returns the causes of jobs by key, without those for which time or requests don't suffice."""
        source, found = self.sources[account.id], dict[str, str]()
        explanations = self.explanations(SharedEvidence(source, self.stores.dependencies))
        if jobs:
            await self.budgets.refill(account.key)
        for job in jobs:
            if asyncio.get_running_loop().time() < deadline and self.budgets.has_room(account.key):
                with self.budgets.spending(source):
                    found[job.key] = await self._cause(explanations, account, job)
        return found

    async def _cause(self, explanations: Explanations, account: Account, job: Job) -> str:
        """Returns the cause of a job, UNKNOWN also where explaining it fails: its next turn comes after the others'."""
        try:
            findings = (await explanations.explain(account.id, job.facts.id)).explanation.findings
        except BatchscopeError as error:  # it is gone, or other polls write all the time
            _LOG.info("Why %s of %s waits isn't known: %s", job.facts.id, account.id, error)
        except Exception:  # a defect in one explanation mustn't stop the others, nor end the tick
            _LOG.exception("Explaining %s of %s broke", job.facts.id, account.id)
        else:
            return findings[0].rule if findings else UNKNOWN
        return UNKNOWN
