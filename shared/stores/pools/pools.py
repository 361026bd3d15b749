"""The table `pools`: one row per pool, partitioned by account; and each account's row `pools` in `accounts`."""

from shared.domain.polling.pool_rounds import PoolRound
from shared.domain.pools.pools import Pool
from shared.stores.resources import KnownResources, ResourceStore
from shared.stores.tables.tables import Tables

type KnownPools = KnownResources[Pool, PoolRound]


class PoolStore(ResourceStore[Pool, PoolRound]):
    def __init__(self, tables: Tables) -> None:
        super().__init__(tables, "pools", Pool, PoolRound, round_row="pools", column="pool", noun="pool")

    def _confirmed(self, resource: Pool, last: PoolRound | None) -> Pool:
        return resource.confirmed(last.confirmations.get(resource.key)) if last else resource
