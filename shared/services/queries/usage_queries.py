"""Answers from storage about the usage of pools: node seconds by billing class."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from shared.domain.accounts.accounts import Account
from shared.domain.core.keys import key_of
from shared.domain.core.stamps import from_milliseconds, to_milliseconds
from shared.domain.pools.pool_facts import PoolFacts
from shared.domain.pools.pools import Pool
from shared.domain.usage.usage_ledger import UsageHours, UsageLedger
from shared.domain.usage.usage_steps import UsageRange, UsageStep, usage_range, usage_steps, usage_total
from shared.errors import NotFoundError
from shared.services.accounts.registry import Registry
from shared.services.queries.pool_queries import PoolQueries
from shared.stores.pools.nodes import NodeStore, StoredNodes


@dataclass(frozen=True, slots=True)
class UsageReport:
    """A pool's node seconds as of a list of its nodes: in steps, and in `total`.

    `since` is from when on they are known; None, as `as_of`, before the first list that counts. `facts` are None where
    the pool is deleted, and its usage is kept for some days. `hours` are those of the ledger, and of what lasts.
    """

    account: Account
    pool_id: str
    facts: PoolFacts | None
    ledger: UsageLedger | None
    hours: UsageHours
    as_of: datetime | None
    since: datetime | None
    wanted: UsageRange
    steps: Sequence[UsageStep]
    total: UsageStep


class UsageQueries:
    def __init__(self, registry: Registry, pools: PoolQueries, nodes: NodeStore) -> None:
        self._registry = registry
        self._pools = pools
        self._nodes = nodes

    async def of_pool(
        self,
        account_id: str,
        pool_id: str,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        step: timedelta | None = None,
    ) -> UsageReport:
        """Returns a pool's node seconds in a range. Raises NotFoundError, HistoryRangeError, StorageError."""
        now = await self._registry.clock.now()
        wanted = usage_range(since, until, step, now)
        try:
            report, stored = await self._pools.pool_with_stored_nodes(account_id, pool_id)
        except NotFoundError:
            stored = await self._of_deleted(account_id, pool_id, now)
            return _report(self._registry.account(account_id), pool_id, None, stored, wanted)
        return _report(report.account, report.pool.facts.id, report.pool, stored, wanted)

    async def _of_deleted(self, account_id: str, pool_id: str, now: datetime) -> StoredNodes:
        """Returns what a deleted pool left. Raises NotFoundError."""
        account = self._registry.account(account_id)
        stored = await self._nodes.read(account.key, key_of(pool_id))
        if not stored.keeps_usage(to_milliseconds(now)):
            raise NotFoundError("pool", pool_id, f" in the account '{account.id}'")
        return stored


def _report(account: Account, pool_id: str, pool: Pool | None, stored: StoredNodes, wanted: UsageRange) -> UsageReport:
    ledger, listed = stored.usage, pool.nodes_as_of if pool else None
    as_of = max(ledger.as_of, to_milliseconds(listed) if listed else 0) if ledger else 0
    hours = ledger.total(stored.nodes, as_of) if ledger else {}
    steps = usage_steps(wanted, hours)
    return UsageReport(
        account=account,
        pool_id=pool_id,
        facts=pool.facts if pool else None,
        ledger=ledger,
        hours=hours,
        as_of=from_milliseconds(as_of) if ledger else None,
        since=from_milliseconds(ledger.known_since(as_of)) if ledger else None,
        wanted=wanted,
        steps=steps,
        total=usage_total(wanted, steps),
    )
