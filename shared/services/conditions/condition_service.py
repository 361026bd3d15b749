"""Evaluates the conditions of accounts from what is stored of them, after polls that brought news or when it is due."""

import asyncio
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass

from shared.domain.accounts.accounts import Account
from shared.domain.conditions.changes import events_of
from shared.domain.conditions.evaluation import AccountConditions, evaluated
from shared.domain.conditions.evidence import AccountEvidence
from shared.domain.conditions.rules.all_rules import RULES
from shared.domain.conditions.staleness import unknown_by_verdict
from shared.errors import BatchscopeError, CacheConflictError
from shared.log import logger
from shared.services.accounts.registry import Registry
from shared.services.queries.pool_queries import PoolQueries
from shared.services.queries.schedule_queries import ScheduleQueries
from shared.stores.accounts.conditions import ConditionStore
from shared.stores.events import EventStore
from shared.stores.tables.table_requests import reads_shared

_LOG = logger(__name__)
_AT_ONCE = 4  # accounts


@dataclass(frozen=True, slots=True)
class ConditionService:
    """Conditions of all watched accounts.

    Without news, and before an evaluation is due, all accounts together cost a tick one request to storage.
    """

    registry: Registry
    pools: PoolQueries
    schedules: ScheduleQueries
    store: ConditionStore
    events: EventStore

    async def refresh(self, news: Collection[str]) -> None:
        """Evaluates accounts with news, by id, and those that are due. Failures are logged: the next tick goes on."""
        try:
            times, now = await self.store.load_times(), await self.registry.clock.now()
        except BatchscopeError as error:
            _LOG.warning("No conditions were evaluated: %s", error)
            return
        gate = asyncio.Semaphore(_AT_ONCE)

        async def evaluate(account: Account) -> None:
            async with gate:
                try:
                    with suppress(CacheConflictError):  # another host evaluated the same
                        await self._evaluate(account)
                except BatchscopeError as error:
                    _LOG.warning("The conditions of %s weren't evaluated: %s", account.id, error)
                except Exception:  # a defect in a rule mustn't end the tick
                    _LOG.exception("The evaluation of the conditions of %s broke", account.id)

        accounts = self.registry.accounts.values()
        known = {account.key: times.get(account.key) for account in accounts}
        due = [one for one in accounts if (at := known[one.key]) is None or (at.due and at.due <= now)]
        chosen = {one.key: one for one in (*due, *(one for one in accounts if one.id in news))}
        await asyncio.gather(*map(evaluate, chosen.values()))

    async def _evaluate(self, account: Account) -> None:
        """Stores an evaluation with its changes, then these as events, which the next one makes up for after a crash.

        So of hosts that evaluate the same, only the one whose row is written has events.
        """
        before, etag = await self.store.load(account.key)
        if before:
            await self._save_events(account, before)
        with reads_shared():
            evidence = await self._evidence(account)
        after = await asyncio.to_thread(_evaluated, before, evidence)
        await self.store.save(account.key, after, etag)
        await self._save_events(account, after)

    async def _save_events(self, account: Account, found: AccountConditions) -> None:
        await self.events.save_once(account.key, [event for change in found.changes for event in events_of(change)])

    async def _evidence(self, account: Account) -> AccountEvidence:
        watch, last = await self.registry.watch_and_round(account.key)
        jobs, schedules = await self.schedules.with_jobs(account.id)
        pools = await self.pools.pools(account.id)
        now = await self.registry.clock.now()
        return AccountEvidence(now, account, watch, last if last and last.was_run else None, jobs, pools, schedules)


def _evaluated(before: AccountConditions | None, e: AccountEvidence) -> AccountConditions:
    found = [(rule, list(rule.outcomes(e))) for rule in RULES]
    return evaluated(before, found, unknown_by_verdict(e), e.now)
