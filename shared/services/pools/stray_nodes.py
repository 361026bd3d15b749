"""Nodes without a pool: those of a new pool are written first, and then its host may die, and the pool be deleted.

No list shows that pool any more, and no row of its own says that there was one: so no round ever forgets its nodes.
"""

from contextlib import suppress
from datetime import datetime

from shared.errors import CacheConflictError
from shared.stores.pools.nodes import NodeStore
from shared.stores.pools.pools import PoolStore


class StrayNodes:
    def __init__(self, pools: PoolStore, nodes: NodeStore) -> None:
        self._pools = pools
        self._nodes = nodes

    async def collect(self, account_key: str, *, before: datetime) -> int:
        """Deletes those that were written `before` then, by storage's clock; gives of how many pools they were.

        Later ones may be of a pool that is being read just now. Raises StorageError.
        """
        found = await self._nodes.pool_keys(account_key)  # before the pools: nodes written since aren't among them
        collected = 0
        for key in sorted(found - await self._pools.keys(account_key)):
            stored = await self._nodes.load(account_key, key)
            written = await self._nodes.written_at(stored)
            if written is not None and written < before:
                with suppress(CacheConflictError):  # such a pool was made anew
                    await self._nodes.delete(stored)
                    collected += 1
        return collected
