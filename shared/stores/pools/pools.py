"""The table `pools`: one row per pool, partitioned by account; and each account's row `pools` in `accounts`."""

from typing import Any

from shared.domain.polling.pool_rounds import PoolRound
from shared.domain.pools.pools import Pool
from shared.stores.resources import KnownResources, ResourceStore

type KnownPools = KnownResources[Pool, PoolRound]


class PoolStore(ResourceStore[Pool, PoolRound]):
    table = round_row = "pools"
    kind = Pool
    round_kind = PoolRound
    column = noun = "pool"

    def _confirmed(self, resource: Pool, last: PoolRound | None) -> Pool:
        return resource.confirmed(last.confirmations.get(resource.key)) if last else resource

    def _to_json(self, resource: Pool) -> dict[str, Any]:
        plain = super()._to_json(resource)
        return {"picture" if name == "snapshot" else name: value for name, value in plain.items()}

    def _from_json(self, stored: Any) -> Pool:
        plain = {"snapshot" if name == "picture" else name: value for name, value in dict(stored).items()}
        return super()._from_json(plain)
