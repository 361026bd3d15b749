"""Saves and deletes pool rows, so that their history is complete.

As with jobs (`job_records.py`), a sample that ended stays in the pool's row until it is in the history. A process that
loses the race for the row has written the same history as the winner. A round may change a hundred pools, so each keeps
some ended samples in its row and merges them in one step, in turns.
"""

from collections.abc import Sequence
from dataclasses import replace
from zlib import crc32

from shared.domain.history.grains import HistoryRetention
from shared.domain.history.samples import rows_of
from shared.domain.pools.pools import Pool
from shared.errors import CacheConflictError
from shared.stores.pools.pool_history import PoolHistoryStore
from shared.stores.pools.pools import PoolStore

_TURN = 10
_MINUTE = 60_000  # milliseconds


class PoolRecords:
    def __init__(self, pools: PoolStore, history: PoolHistoryStore, retention: HistoryRetention) -> None:
        self._pools = pools
        self._history = history
        self._retention = retention

    async def save_all(self, account_key: str, pools: Sequence[Pool]) -> list[Pool | CacheConflictError]:
        """Writes pools under their ETags, or new ones; returns each as stored, or its conflict.

        Samples that leave their rows are written to the histories first. Raises StorageError.
        """
        due = {pool.key: pool.ended for pool in pools if _is_due(pool)}
        rows = {key: rows_of(samples[:-1], samples[-1], self._retention) for key, samples in due.items()}
        await self._history.save_all(account_key, rows)
        kept = [replace(pool, ended=pool.ended[-1:]) if pool.key in due else pool for pool in pools]
        return await self._pools.save_all(account_key, kept)

    async def forget(self, account_key: str, pool: Pool) -> None:
        """Deletes a pool's row after writing its last samples to its history, which has its own retention.

        If another process has written the row since, these samples aren't written over later ones. Raises
        CacheConflictError, StorageError.
        """
        if pool.samples and await self._pools.is_stored(account_key, pool):
            await self._history.save_all(account_key, {pool.key: rows_of(pool.samples, None, self._retention)})
        await self._pools.delete(account_key, pool.key, pool.etag)


def _is_due(pool: Pool) -> bool:
    """Returns True in one of ten minutes, staggered by pool, and if more than ten samples wait."""
    if not pool.ended[:-1]:
        return False
    minute = pool.ended[-1].at // _MINUTE
    return len(pool.ended) > _TURN or (minute + crc32(pool.key.encode())) % _TURN == 0
