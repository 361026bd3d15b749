"""The table `pools`: a row a pool, partitioned by account; and the row `pools` of each account in `accounts`.

That second row is written by every round, last, and says which pools hold as they are stored. So a process whose own
word is still the last one there knows all pools of the account without reading them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import msgspec

from shared.domain.core.keys import key_of
from shared.domain.polling.pool_rounds import PoolRound
from shared.domain.pools.pools import Pool
from shared.errors import CacheConflictError
from shared.stores.accounts.look_rounds import LookRounds
from shared.stores.tables.schemas import schema_of
from shared.stores.tables.tables import Row, Tables, delete_row, json_columns, json_of, load_row, load_rows
from shared.stores.tables.unit_writes import write_units, written
from shared.stores.tables.unreadable import Unreadable, read, told_apart


@dataclass(frozen=True, slots=True)
class KnownPools:
    """An account's last round over its pools (None before the first), and its pools by key, as it confirmed them."""

    last: PoolRound | None
    pools: Mapping[str, Pool]
    unreadable: Mapping[str, Unreadable] = field(default_factory=dict)


class PoolStore:
    def __init__(self, tables: Tables) -> None:
        self._pools = tables["pools"]
        self._rounds = LookRounds(tables, "pools", PoolRound, what="pools")
        self._known: dict[str, KnownPools] = {}

    async def load_known(self, account_key: str) -> KnownPools:
        """As storage has it: the pools from memory where this process wrote the last round, as its row tells."""
        known, last = self._known.get(account_key), await self.load_round(account_key)
        if known and last and known.last and known.last.etag == last.etag:
            return known
        return await self._load_all(account_key, last)

    async def load_all(self, account_key: str) -> KnownPools:
        """Every pool of an account as storage has it. The round is read first: what it confirms can't be newer."""
        return await self._load_all(account_key, await self.load_round(account_key))

    async def _load_all(self, account_key: str, last: PoolRound | None) -> KnownPools:
        pools, unreadable = told_apart(await load_rows(self._pools, account_key), _pool)
        return KnownPools(last, {key: _confirmed(pool, last) for key, pool in pools.items()}, unreadable)

    async def keys(self, account_key: str) -> set[str]:
        """Of all pools that are stored, be it that their rows can't be read. Raises StorageError."""
        return {row["RowKey"] for row in await load_rows(self._pools, account_key, ["RowKey"])}

    async def load(self, account_key: str, pool_id: str) -> tuple[PoolRound | None, Pool | None]:
        """One pool, with the account's last round; `pool_id` may be anything that a client sent."""
        last = await self.load_round(account_key)
        row = await load_row(self._pools, account_key, key_of(pool_id))
        return last, _confirmed(_pool(row), last) if row else None

    async def load_round(self, account_key: str) -> PoolRound | None:
        return await self._rounds.load(account_key)

    async def save_all(self, account_key: str, pools: Sequence[Pool]) -> list[Pool | CacheConflictError]:
        """Writes pools as they were loaded, new ones where their ETag is None; gives each with its new ETag.

        In place of one that another writer changed meanwhile it gives the conflict. Raises StorageError.
        """
        ends = await write_units(self._pools, [(written(_row(account_key, pool), pool.etag),) for pool in pools])
        return [
            end if isinstance(end, CacheConflictError) else replace(pool, etag=end[pool.key])
            for pool, end in zip(pools, ends, strict=True)
        ]

    async def is_stored(self, account_key: str, pool: Pool) -> bool:
        """Whether a pool's row still is as it was loaded. Raises StorageError."""
        row = await load_row(self._pools, account_key, pool.key)
        return row is not None and row["etag"] == pool.etag

    async def delete(self, account_key: str, key: str, etag: str | None) -> None:
        """Forgets a pool, if its row still is as it was loaded. Raises CacheConflictError."""
        if etag:
            await delete_row(self._pools, account_key, key, etag)

    async def save_round(self, account_key: str, done: PoolRound, pools: Mapping[str, Pool]) -> None:
        """Writes a round and remembers its pools; where another process wrote one meanwhile, both words are kept.

        Raises StorageError, CacheConflictError.
        """
        self.forget(account_key)
        stored, is_ours = await self._rounds.save(account_key, done)
        if is_ours:
            self._known[account_key] = KnownPools(stored, pools)

    def forget(self, account_key: str) -> None:
        """The next round reads storage."""
        self._known.pop(account_key, None)


def _confirmed(pool: Pool, last: PoolRound | None) -> Pool:
    return pool.confirmed(last.confirmations.get(pool.key)) if last else pool


def _row(account_key: str, pool: Pool) -> Row:
    whole = json_columns("pool", msgspec.to_builtins(replace(pool, etag=None)))
    keys = {"PartitionKey": account_key, "RowKey": pool.key}
    return {**keys, **schema_of("pool"), "id": pool.facts.id, **whole}


def _pool(row: Row) -> Pool:
    """Raises UnreadableError."""
    return replace(
        read(row, "pool", lambda row: msgspec.convert(json_of(row, "pool"), Pool), kind="pool"), etag=row["etag"]
    )
