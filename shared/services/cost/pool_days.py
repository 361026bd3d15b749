"""What determines the prices of a pool's nodes: its facts, or what its ledger has of them once it is deleted."""

from shared.domain.cost.usage_days import PoolDay
from shared.domain.pools.pool_facts import PoolFacts
from shared.domain.prices.pool_prices import system_named, system_of
from shared.domain.usage.usage_ledger import UsageLedger


def pool_day(facts: PoolFacts | None, ledger: UsageLedger | None, region: str | None) -> PoolDay | None:
    """Returns a pool without usage; None for a deleted one whose ledger doesn't say."""
    if facts:
        return PoolDay(facts.id, facts.slots_per_node, region, *system_of(facts))
    gone = ledger.pool if ledger else None
    return gone and PoolDay(gone.id, gone.slots_per_node, region, *system_named(gone.os, gone.license))
