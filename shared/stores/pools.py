"""The table `pools`: a row a pool, partitioned by account; and the row `pools` of each account in `accounts`.

That second row is written by every round, last, and says which pools hold as they are stored. So a process whose own
word is still the last one there knows all pools of the account without reading them.
"""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import msgspec
import orjson

from shared.domain.keys import key_of
from shared.domain.pool_rounds import PoolRound
from shared.domain.pools import Pool
from shared.errors import CacheConflictError, StorageError
from shared.stores.tables import Row, Tables, delete_row, json_columns, json_of, load_row, load_rows, save_row
from shared.stores.unit_writes import write_units, written

_ROW = "pools"
_TRIES = 5
_UNREADABLE = (msgspec.ValidationError, orjson.JSONDecodeError, zlib.error)


@dataclass(frozen=True, slots=True)
class KnownPools:
    """An account's last round over its pools (None before the first), and its pools by key, as it confirmed them."""

    last: PoolRound | None
    pools: Mapping[str, Pool]


class PoolStore:
    def __init__(self, tables: Tables) -> None:
        self._pools = tables["pools"]
        self._accounts = tables["accounts"]
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
        rows = await load_rows(self._pools, account_key)
        pools = (_pool(row) for row in rows)
        return KnownPools(last, {pool.key: _confirmed(pool, last) for pool in pools})

    async def load(self, account_key: str, pool_id: str) -> tuple[PoolRound | None, Pool | None]:
        """One pool, with the account's last round; `pool_id` may be anything that a client sent."""
        last = await self.load_round(account_key)
        row = await load_row(self._pools, account_key, key_of(pool_id))
        return last, _confirmed(_pool(row), last) if row else None

    async def load_round(self, account_key: str) -> PoolRound | None:
        row = await load_row(self._accounts, account_key, _ROW)
        return _round(row) if row else None

    async def save_all(self, account_key: str, pools: Sequence[Pool]) -> list[Pool | CacheConflictError]:
        """Writes pools as they were loaded, new ones where their ETag is None; gives each with its new ETag.

        In place of one that another writer changed meanwhile it gives the conflict. Raises StorageError.
        """
        ends = await write_units(self._pools, [(written(_row(account_key, pool), pool.etag),) for pool in pools])
        return [
            end if isinstance(end, CacheConflictError) else replace(pool, etag=end[pool.key])
            for pool, end in zip(pools, ends, strict=True)
        ]

    async def delete(self, account_key: str, pool: Pool) -> None:
        """Forgets a pool, if its row still is as it was loaded. Raises CacheConflictError."""
        if pool.etag:
            await delete_row(self._pools, account_key, pool.key, pool.etag)

    async def save_round(self, account_key: str, done: PoolRound, pools: Mapping[str, Pool]) -> None:
        """Writes a round and remembers its pools; where another process wrote one meanwhile, both words are kept.

        Raises StorageError, CacheConflictError.
        """
        self.forget(account_key)
        for attempt in range(_TRIES):
            try:
                etag = await save_row(self._accounts, _round_row(account_key, done), done.etag)
            except CacheConflictError:
                done = done.merged(await self.load_round(account_key))
                continue
            if attempt == 0:
                self._known[account_key] = KnownPools(replace(done, etag=etag), pools)
            return
        raise CacheConflictError("Too many processes write the pools of one account at once.")

    def forget(self, account_key: str) -> None:
        """The next round reads storage."""
        self._known.pop(account_key, None)


def _confirmed(pool: Pool, last: PoolRound | None) -> Pool:
    return pool.confirmed(last.confirmations.get(pool.key)) if last else pool


def _row(account_key: str, pool: Pool) -> Row:
    whole = json_columns("pool", msgspec.to_builtins(replace(pool, etag=None)))
    return {"PartitionKey": account_key, "RowKey": pool.key, "id": pool.facts.id, **whole}


def _pool(row: Row) -> Pool:
    """Raises StorageError where the row makes no sense."""
    try:
        return replace(msgspec.convert(json_of(row, "pool"), Pool), etag=row["etag"])
    except _UNREADABLE as error:
        raise StorageError(f"The pool '{row.get('id')}' can't be read: {error}") from error


def _round_row(account_key: str, done: PoolRound) -> Row:
    return {
        "PartitionKey": account_key,
        "RowKey": _ROW,
        "startedAt": done.started_at,
        **json_columns("round", msgspec.to_builtins(replace(done, etag=None))),
    }


def _round(row: Row) -> PoolRound:
    try:
        return replace(msgspec.convert(json_of(row, "round"), PoolRound), etag=row["etag"])
    except _UNREADABLE as error:
        raise StorageError(f"The round over the pools of '{row['PartitionKey']}' can't be read: {error}") from error
