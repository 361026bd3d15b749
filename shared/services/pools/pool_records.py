"""Saves and deletes pool rows, so that their history is complete (shared/services/history.py).

A round may change a hundred pools, so each keeps some ended samples in its row and merges them in one step, in turns.
"""

from collections.abc import Sequence
from zlib import crc32

from shared.domain.history.grains import HistoryRetention
from shared.domain.pools.pools import Pool
from shared.errors import CacheConflictError
from shared.services.history import HistoryRecords
from shared.stores.history import HistoryStore
from shared.stores.pools.pools import PoolStore

_TURN = 10
_MINUTE = 60_000  # milliseconds


class PoolRecords(HistoryRecords[Pool]):
    def __init__(self, pools: PoolStore, history: HistoryStore, retention: HistoryRetention) -> None:
        super().__init__(pools, history, retention)
        self._pools = pools

    async def save_all(self, account_key: str, pools: Sequence[Pool]) -> list[Pool | CacheConflictError]:
        """Writes pools under their ETags, or new ones; returns each as stored, or its conflict.

        Samples that leave their rows are written to the histories first. Raises StorageError.
        """
        moved = await self.moved(account_key, filter(_is_due, pools))
        return await self._pools.save_all(account_key, [moved.get(pool.key, pool) for pool in pools])


def _is_due(pool: Pool) -> bool:
    """Returns True in one of ten minutes, staggered by pool, and if more than ten samples wait."""
    if not pool.ended[:-1]:
        return False
    minute = pool.ended[-1].at // _MINUTE
    return len(pool.ended) > _TURN or (minute + crc32(pool.key.encode())) % _TURN == 0
