"""The table `pools`: one row per pool, partitioned by account; and each account's row `pools` in `accounts`.

Every round writes the second row last, with the pools that hold as stored. While a process's own round is the last
there, it knows all pools of the account without reading them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import msgspec

from shared.domain.core.keys import key_of
from shared.domain.polling.pool_rounds import PoolRound
from shared.domain.pools.pools import Pool
from shared.errors import CacheConflictError
from shared.stores.accounts.resource_rounds import ResourceRoundStore
from shared.stores.tables.tables import Row, Tables, delete_row, json_columns, json_of, load_row, load_rows
from shared.stores.tables.unit_writes import write_units, written
from shared.stores.tables.unreadable import UndecodedRow, decoded_rows, decoding, schema_of


@dataclass(frozen=True, slots=True)
class KnownPools:
    """An account's last round over its pools (None before the first), and its pools by key, as it confirmed them."""

    last: PoolRound | None
    pools: Mapping[str, Pool]
    unreadable: Mapping[str, UndecodedRow] = field(default_factory=dict)


class PoolStore:
    def __init__(self, tables: Tables) -> None:
        self._pools = tables["pools"]
        self._rounds = ResourceRoundStore(tables, "pools", PoolRound, what="pools")
        self._known: dict[str, KnownPools] = {}

    async def load_known(self, account_key: str) -> KnownPools:
        """Returns stored pools, from memory if the round's row shows that this process wrote it last."""
        known, last = self._known.get(account_key), await self.load_round(account_key)
        if known and last and known.last and known.last.etag == last.etag:
            return known
        return await self._load_all(account_key, last)

    async def load_all(self, account_key: str) -> KnownPools:
        """Returns every pool from storage. The round is read first, so that its confirmations aren't newer."""
        return await self._load_all(account_key, await self.load_round(account_key))

    async def _load_all(self, account_key: str, last: PoolRound | None) -> KnownPools:
        pools, unreadable = decoded_rows(await load_rows(self._pools, account_key), _pool)
        return KnownPools(last, {key: _confirmed(pool, last) for key, pool in pools.items()}, unreadable)

    async def keys(self, account_key: str) -> set[str]:
        """Returns the keys of all stored pools, also of unreadable rows. Raises StorageError."""
        return {row["RowKey"] for row in await load_rows(self._pools, account_key, ["RowKey"])}

    async def load(self, account_key: str, pool_id: str) -> tuple[PoolRound | None, Pool | None]:
        """Returns one pool, with the account's last round; `pool_id` may be any client string."""
        last = await self.load_round(account_key)
        row = await load_row(self._pools, account_key, key_of(pool_id))
        return last, _confirmed(_pool(row), last) if row else None

    async def load_round(self, account_key: str) -> PoolRound | None:
        return await self._rounds.load(account_key)

    async def save_all(self, account_key: str, pools: Sequence[Pool]) -> list[Pool | CacheConflictError]:
        """Writes pools under their ETags, or new ones if these are None; returns each with its new ETag.

        A pool that another writer changed meanwhile is replaced by the conflict. Raises StorageError.
        """
        ends = await write_units(self._pools, [(written(_row(account_key, pool), pool.etag),) for pool in pools])
        return [
            end if isinstance(end, CacheConflictError) else replace(pool, etag=end[pool.key])
            for pool, end in zip(pools, ends, strict=True)
        ]

    async def is_stored(self, account_key: str, pool: Pool) -> bool:
        """Returns whether a pool's row is unchanged since it was loaded. Raises StorageError."""
        row = await load_row(self._pools, account_key, pool.key)
        return row is not None and row["etag"] == pool.etag

    async def delete(self, account_key: str, pool: Pool) -> None:
        """Deletes a pool's row if it is unchanged since it was loaded. Raises CacheConflictError."""
        if pool.etag:
            await delete_row(self._pools, account_key, pool.key, pool.etag)

    async def delete_unreadable(self, account_key: str, row: UndecodedRow) -> None:
        """Deletes an unreadable row if it is unchanged since it was loaded. Raises CacheConflictError."""
        await delete_row(self._pools, account_key, row.key, row.etag)

    async def save_round(self, account_key: str, done: PoolRound, pools: Mapping[str, Pool]) -> None:
        """Writes a round and caches its pools; a round that another process wrote meanwhile is merged.

        Raises StorageError, CacheConflictError.
        """
        self.forget(account_key)
        stored, is_ours = await self._rounds.save(account_key, done)
        if is_ours:
            self._known[account_key] = KnownPools(stored, pools)

    def forget(self, account_key: str) -> None:
        """Drops the cache: the next round reads storage."""
        self._known.pop(account_key, None)


def _confirmed(pool: Pool, last: PoolRound | None) -> Pool:
    return pool.confirmed(last.confirmations.get(pool.key)) if last else pool


def _row(account_key: str, pool: Pool) -> Row:
    whole = json_columns("pool", msgspec.to_builtins(replace(pool, etag=None)))
    keys = {"PartitionKey": account_key, "RowKey": pool.key}
    return {**keys, **schema_of("pool"), "id": pool.facts.id, **whole}


def _pool(row: Row) -> Pool:
    """Raises UnreadableError."""
    with decoding(row, "pool", kind="pool"):
        return replace(msgspec.convert(json_of(row, "pool"), Pool), etag=row["etag"])
