"""Answers from storage about what Azure retires, and which pools that concerns."""

from collections.abc import Collection

from shared.domain.jobs.jobs import COMPLETED
from shared.domain.retirements.announcements import announcements
from shared.domain.retirements.retirements import Retirement, jobs_by_pool, retirements
from shared.services.accounts.registry import Registry
from shared.stores.stores import Stores


class RetirementQueries:
    def __init__(self, registry: Registry, stores: Stores) -> None:
        self._registry = registry
        self._jobs, self._pools = stores.jobs, stores.pools

    async def retirements(self, accounts: Collection[str]) -> list[Retirement]:
        """Returns all retirements with the pools of these watched accounts, given by id.

        Raises StorageError.
        """
        pools, jobs = {}, {}
        for name in sorted(accounts):
            key = self._registry.accounts[name].key
            stored = await self._pools.load_known(key)
            pools[name] = [stored.resources[pool] for pool in sorted(stored.resources)]
            known = (await self._jobs.load_known(key)).jobs.values()
            live = (job.facts for job in known if not job.deleted and job.facts.state != COMPLETED)
            jobs[name] = jobs_by_pool(facts.pool_id for facts in live)
        today = (await self._registry.clock.now()).date()
        return retirements(announcements(), pools, jobs, today)
