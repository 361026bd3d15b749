"""The table `pools`: one row per pool, partitioned by account; and each account's row `pools` in `accounts`."""

from collections.abc import Mapping
from typing import ClassVar

from shared.domain.polling.pool_rounds import PoolRound
from shared.domain.pools.pools import Pool
from shared.stores.resources import KnownResources, ResourceStore

type KnownPools = KnownResources[Pool, PoolRound]


class PoolStore(ResourceStore[Pool, PoolRound]):
    table = round_row = "pools"
    kind = Pool
    round_kind = PoolRound
    column = noun = "pool"
    stored_names: ClassVar[Mapping[str, str]] = {"snapshot": "picture"}

    def _confirmed(self, resource: Pool, last: PoolRound | None) -> Pool:
        return resource.confirmed(last.confirmations.get(resource.key)) if last else resource
