"""Deletion of nodes without a pool, left by a host that died between writing a new pool's nodes and its row.

If that pool is deleted, no list shows it and it has no row, so no round deletes its nodes.
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
        """Deletes such nodes written `before` then, by storage's clock; returns the number of their pools.

        Later ones may belong to a pool that is being read. Raises StorageError.
        """
        found = await self._nodes.pool_keys(account_key)  # before the pools, so that later nodes aren't included
        collected = 0
        for key in sorted(found - await self._pools.keys(account_key)):
            stored = await self._nodes.load(account_key, key)
            written = await self._nodes.written_at(stored)
            if written is not None and written < before:
                with suppress(CacheConflictError):  # such a pool was re-created
                    await self._nodes.delete(stored)
                    collected += 1
        return collected
