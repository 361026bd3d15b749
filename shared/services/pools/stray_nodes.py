"""Deletion of nodes without a pool, left by a host that died between writing a new pool's nodes and its row.

If that pool is deleted, no list shows it and it has no row, so no round deletes its nodes. The usage ledger that a
deleted pool leaves is deleted when it is older than ledgers keep.
"""

from contextlib import suppress
from datetime import datetime

from shared.domain.core.stamps import to_milliseconds
from shared.errors import CacheConflictError
from shared.stores.stores import Stores


async def collect_stray_nodes(stores: Stores, account_key: str, *, before: datetime) -> None:
    """Deletes such nodes written `before` then, by storage's clock.

    Later ones may belong to a pool that is being read. Raises StorageError.
    """
    found = await stores.nodes.pool_keys(account_key)  # before the pools, so that later nodes aren't included
    for key in sorted(found - await stores.pools.keys(account_key)):
        stored = await stores.nodes.load(account_key, key)
        if stored.keeps_usage(to_milliseconds(before)):
            continue
        written = await stores.nodes.written_at(stored)
        if written is not None and written < before:
            with suppress(CacheConflictError):  # such a pool was re-created
                await stores.nodes.delete(stored)
