"""Answers what of an account's costs was wasted, from the stored usage of days, pools, jobs and pools' histories."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from shared.domain.accounts.accounts import Account
from shared.domain.core.stamps import to_milliseconds
from shared.domain.cost.priced_days import PricedDay
from shared.domain.cost.usage_days import DAY
from shared.domain.cost.waste.evidence import BusyNodes, FailedJob, PoolWindow, Waste, WasteEvidence
from shared.domain.cost.waste.gathering import waste_evidence
from shared.domain.cost.waste.idle.oversized_pools import may_be_oversized
from shared.domain.cost.waste.rules import waste_found
from shared.domain.findings.thresholds import MAX_SAMPLED_POOLS, MAX_WASTE_DAYS
from shared.domain.nodes.nodes import RUNNING, by_state
from shared.domain.pools.pool_samples import PoolNumbers
from shared.errors import NotFoundError, UnreadableError
from shared.services.accounts.registry import Registry
from shared.services.prices.price_queries import PriceQueries
from shared.services.queries.histories import Histories
from shared.stores.stores import Stores

_STEP = timedelta(minutes=15)  # of samples of pools


@dataclass(frozen=True, slots=True)
class WasteReport:
    """What was wasted on some days, the dearest first; `evidence` is None without stored usage."""

    account: Account
    currency: str
    evidence: WasteEvidence | None
    found: Sequence[Waste]


class WasteQueries:
    def __init__(
        self, registry: Registry, stores: Stores, prices: PriceQueries, histories: Histories[PoolNumbers]
    ) -> None:
        self._registry = registry
        self._stores = stores
        self._prices = prices
        self._histories = histories

    async def of_account(self, account_id: str) -> WasteReport:
        """Returns what of an account's costs was wasted. Raises NotFoundError, StorageError."""
        account, now = self._registry.account(account_id), await self._registry.clock.now()
        today = to_milliseconds(now) // DAY
        stored = await self._stores.usage_days.load(
            account.key, range(today - MAX_WASTE_DAYS - 1, today + 1), ("hours", "jobs")
        )
        prices = await self._prices.table(account)
        pools = (await self._stores.pools.load_known(account.key)).resources
        e = waste_evidence([PricedDay(stored[day], prices) for day in sorted(stored)], pools, today)
        if e is None:
            return WasteReport(account, prices.currency, None, ())
        e = replace(e, pools=await self._sampled(account, e, now), jobs=await self._with_failures(account, e.jobs))
        return WasteReport(account, prices.currency, e, waste_found(e))

    async def _sampled(self, account: Account, e: WasteEvidence, now: datetime) -> list[PoolWindow]:
        """Returns the pools, with the largest number of busy nodes of those that may have too many."""
        wanted = sorted(filter(may_be_oversized, e.pools), key=lambda pool: -pool.cost("idle").time)
        chosen = {pool.facts.id for pool in wanted[:MAX_SAMPLED_POOLS]}

        async def sampled(pool: PoolWindow) -> PoolWindow:
            if pool.facts.id not in chosen:
                return pool
            return replace(pool, most_busy=await self._most_busy(account, pool.facts.id, e, now))

        return await asyncio.gather(*map(sampled, e.pools))

    async def _most_busy(self, account: Account, pool_id: str, e: WasteEvidence, now: datetime) -> BusyNodes | None:
        since = datetime.combine(e.days[0], datetime.min.time(), now.tzinfo)
        try:
            history = await self._histories.read(account.id, pool_id, since=since, until=now, step=_STEP)
        except NotFoundError:
            return None
        busy = [by_state(one.numbers.counts).get(RUNNING, 0) for one in history.points if one.numbers]
        return BusyNodes(max(busy), len(busy)) if busy else None

    async def _with_failures(self, account: Account, jobs: Sequence[FailedJob]) -> list[FailedJob]:
        """Returns jobs with their failures by category, as far as they are stored."""

        async def one(found: FailedJob) -> FailedJob:
            try:
                job = await self._stores.jobs.load(account.key, found.job_id)
            except UnreadableError:
                return found
            return replace(found, failures=job.snapshot.failed_tasks if job and job.snapshot else None)

        return await asyncio.gather(*map(one, jobs))
