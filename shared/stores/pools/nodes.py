"""The table `nodes`, partitioned by account: a pool's nodes, packed 250 to a row, and a head.

Row `<pool>~!` is the head, with a digest of the rows `<pool>~n…`. Every write changes it under its ETag. So two polls
of one pool can't mix their results, and a reader detects rows of two writes. Nodes that fit into one row are in the
head. So is the pool's usage ledger, to which each change of the nodes adds once; the digest leaves it out, as earlier
versions don't know it and replace the head as a whole.
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from itertools import batched

import msgspec
import orjson

from shared.domain.core.keys import SEPARATOR, partition_of
from shared.domain.nodes.interruptions import InterruptionCount
from shared.domain.nodes.nodes import Node
from shared.domain.usage.usage_ledger import UsageLedger
from shared.errors import CacheConflictError
from shared.stores.pools.node_json import json_of_node, node_of
from shared.stores.pools.packed_usage import PackedUsage, packed_usage, usage_of
from shared.stores.tables.rows import Row, Unit, deleted, json_columns, json_of, write_units, written
from shared.stores.tables.tables import Tables, load_range, load_rows, written_at
from shared.stores.tables.unreadable import NONSENSE

_HEAD = "!"
_NODES_A_ROW = 250
_REMEMBERED = 20_000  # nodes
_TRIES = 5


@dataclass(frozen=True, slots=True)
class StoredNodes:
    """A pool's stored nodes by key, and their rows: digest and ETag of each by its key.

    `tally` counts the pool's interruptions. `usage` is its ledger, None in rows of an earlier version. `is_torn`: rows
    don't match the head or are unreadable; then there are no nodes and no ledger, and the next write replaces all rows.
    `texts` is the JSON of nodes by key, as far as this process wrote it, and `packed` its ledger.
    """

    account_key: str
    pool_key: str
    nodes: Mapping[str, Node] = field(default_factory=dict)
    digest: str = ""
    rows: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    head_etag: str | None = None
    is_torn: bool = False
    tally: InterruptionCount | None = None
    usage: UsageLedger | None = None
    texts: Mapping[str, bytes] = field(default_factory=dict, compare=False)
    packed: PackedUsage | None = field(default=None, compare=False)

    @property
    def head(self) -> str:
        return partition_of(self.pool_key, _HEAD)

    @property
    def etags(self) -> dict[str, str]:
        """Returns the ETags of all rows by key, the head's last."""
        found = {name: etag for name, (_, etag) in self.rows.items()}
        return found | ({self.head: self.head_etag} if self.head_etag else {})

    def keeps_usage(self, now: int) -> bool:
        """Returns whether these are the rows of a deleted pool whose usage is still to be kept; ms since 1970."""
        return not self.nodes and self.usage is not None and self.usage.has_time and not self.usage.is_over(now)


@dataclass(frozen=True, slots=True)
class NodesTransaction:
    """A write of a pool's nodes: `unit` has the operations, none without a change."""

    before: StoredNodes
    nodes: Mapping[str, Node]
    tally: InterruptionCount | None
    usage: UsageLedger | None
    digest: str
    digests: Mapping[str, str] = field(default_factory=dict)
    unit: Unit = ()
    texts: Mapping[str, bytes] = field(default_factory=dict)
    packed: PackedUsage | None = None

    def done(self, etags: Mapping[str, str]) -> StoredNodes:
        """Returns the stored nodes after the write, with its new ETags."""
        rows = {name: (digest, etags.get(name) or self.before.rows[name][1]) for name, digest in self.digests.items()}
        return StoredNodes(
            self.before.account_key,
            self.before.pool_key,
            dict(self.nodes),
            self.digest,
            rows,
            etags[self.before.head],
            tally=self.tally,
            usage=self.usage,
            texts=self.texts,
            packed=self.packed,
        )


def planned(
    before: StoredNodes, nodes: Mapping[str, Node], tally: InterruptionCount | None, usage: UsageLedger | None
) -> NodesTransaction:
    """Returns the write of `nodes` over the stored ones: the changed rows, and the head with tally and ledger."""
    is_same = nodes == before.nodes and tally == before.tally and usage is before.usage
    if is_same and not before.is_torn:
        return NodesTransaction(before, nodes, tally, usage, before.digest)
    texts = _texts(before, nodes)
    packed = _packed(before.pool_key, texts)
    digests = {name: _digest(body) for name, body in packed.items()}
    counted = msgspec.json.encode(tally).decode() if tally else None
    whole = _whole(digests.values(), counted)
    head: Row = {"PartitionKey": before.account_key, "RowKey": before.head, "digest": whole}
    if counted:
        head["tally"] = counted
    used = packed_usage(usage, before.packed) if usage else None
    if used:
        head |= used.column
    if len(packed) == 1:
        (body,), (digest,) = packed.values(), digests.values()
        head |= {"own": digest, **json_columns("nodes", orjson.Fragment(body))}
        packed, digests = {}, {}
    unit = (*_changes(before, packed, digests), written(head, before.head_etag))
    return NodesTransaction(before, nodes, tally, usage, whole, digests, unit, texts, used)


class NodeStore:
    """Nodes of pools; caches those of recent pools, as an outdated ETag only makes a poll yield."""

    def __init__(self, tables: Tables) -> None:
        self._table = tables["nodes"]
        self._known: OrderedDict[str, StoredNodes] = OrderedDict()
        self._remembered = 0  # nodes

    async def load(self, account_key: str, pool_key: str, digest: str | None = None) -> StoredNodes:
        """Returns a pool's nodes before now, from memory if these have the wanted `digest`."""
        known = self._known.get(partition_of(account_key, pool_key))
        if known and known.digest == digest:
            return known
        return self._remember(await self._stored(account_key, pool_key))

    async def read(self, account_key: str, pool_key: str) -> StoredNodes:
        """Returns a pool's nodes from storage. Raises StorageError, and CacheConflictError if they keep changing."""
        for _ in range(_TRIES):
            found = await self._stored(account_key, pool_key)
            if not found.is_torn:
                return found
        raise CacheConflictError("The nodes of this pool are being written anew; try again.")

    async def save_all(self, writes: Sequence[NodesTransaction]) -> list[CacheConflictError | None]:
        """Writes the nodes of pools of one account; returns conflicts with other writers. Raises StorageError."""
        units = [write.unit for write in writes if write.unit]
        ends = iter(await write_units(self._table, units))
        conflicts: list[CacheConflictError | None] = []
        for write in writes:
            end = next(ends) if write.unit else None
            if isinstance(end, CacheConflictError):
                self._forget(_name(write.before))
            elif end is not None:
                self._remember(write.done(end))
            conflicts.append(end if isinstance(end, CacheConflictError) else None)
        return conflicts

    async def retire(self, stored: StoredNodes, usage: UsageLedger) -> None:
        """Deletes all nodes of a deleted pool, if they are unchanged since they were loaded; keeps its ledger.

        Raises CacheConflictError, StorageError.
        """
        if not usage.has_time:
            await self.delete(stored)
            return
        (conflict,) = await self.save_all([planned(stored, {}, None, usage)])
        self._forget(_name(stored))
        if conflict:
            raise conflict

    async def delete(self, stored: StoredNodes) -> None:
        """Deletes all rows of a deleted pool, if they are unchanged since they were loaded.

        Raises CacheConflictError, StorageError.
        """
        self._forget(_name(stored))
        unit = [deleted(stored.account_key, row, etag) for row, etag in stored.etags.items()]
        for end in await write_units(self._table, [unit] if unit else []):
            if isinstance(end, CacheConflictError):
                raise end

    async def pool_keys(self, account_key: str) -> set[str]:
        """Returns the keys of all pools with rows of nodes. Raises StorageError."""
        rows = await load_rows(self._table, account_key, ["RowKey"])
        return {row["RowKey"].partition(SEPARATOR)[0] for row in rows}

    async def written_at(self, stored: StoredNodes) -> datetime | None:
        """Returns when the latest of a pool's rows was written, by storage's clock; None if they have changed.

        Raises StorageError.
        """
        rows = stored.etags.items()
        times = [await written_at(self._table, stored.account_key, row, etag) for row, etag in rows]
        known = [time for time in times if time is not None]
        return max(known) if known and len(known) == len(times) else None

    async def doubt(self, account_key: str) -> None:
        """Drops cached nodes that differ from storage, by one query for the heads' digests. Raises StorageError."""
        mine = {known.head: name for name, known in self._known.items() if known.account_key == account_key}
        rows = await load_rows(self._table, account_key, ["RowKey", "digest"]) if mine else []
        stored = {row["RowKey"]: row.get("digest") for row in rows}
        for head, name in mine.items():
            if (known := self._known.get(name)) and stored.get(head) != known.digest:
                self._forget(name)

    async def _stored(self, account_key: str, pool_key: str) -> StoredNodes:
        first, last = pool_key + SEPARATOR, pool_key + SEPARATOR * 2
        return _stored(account_key, pool_key, await load_range(self._table, account_key, first, last))

    def _remember(self, stored: StoredNodes) -> StoredNodes:
        self._forget(_name(stored))
        self._known[_name(stored)] = stored
        self._remembered += len(stored.nodes)
        while self._remembered > _REMEMBERED and len(self._known) > 1:
            self._forget(next(iter(self._known)))
        return stored

    def _forget(self, name: str) -> None:
        if known := self._known.pop(name, None):
            self._remembered -= len(known.nodes)


def _name(stored: StoredNodes) -> str:
    return partition_of(stored.account_key, stored.pool_key)


def _texts(before: StoredNodes, nodes: Mapping[str, Node]) -> dict[str, bytes]:
    """Returns nodes as JSON in key order; unchanged nodes, which most are, aren't encoded again."""
    known, old = before.nodes, before.texts if before.nodes else {}
    return {
        key: old[key] if key in old and known[key] is nodes[key] else orjson.dumps(json_of_node(nodes[key]))
        for key in sorted(nodes)
    }


def _packed(pool_key: str, texts: Mapping[str, bytes]) -> dict[str, bytes]:
    """Returns the JSON lists of nodes, by row."""
    return {
        partition_of(pool_key, f"n{number:05}"): b"[" + b",".join(chunk) + b"]"
        for number, chunk in enumerate(batched(texts.values(), _NODES_A_ROW, strict=False))
    }


def _changes(before: StoredNodes, packed: Mapping[str, bytes], digests: Mapping[str, str]) -> Unit:
    """Returns operations for changed rows, and for unused ones."""
    found = []
    for name, body in packed.items():
        digest, etag = before.rows.get(name, (None, None))
        if digest != digests[name]:
            row: Row = {"PartitionKey": before.account_key, "RowKey": name, "digest": digests[name]}
            found.append(written(row | json_columns("nodes", orjson.Fragment(body)), etag))
    gone = sorted(before.rows.keys() - packed.keys())
    return [*found, *(deleted(before.account_key, name, before.rows[name][1]) for name in gone)]


def _stored(account_key: str, pool_key: str, rows: Mapping[str, Row]) -> StoredNodes:
    """Returns the nodes in rows; rows of two writers, or of another version of the app, are torn."""
    empty = StoredNodes(account_key, pool_key)
    head = rows.get(empty.head)
    leaves = [rows[name] for name in sorted(rows) if name != empty.head]
    if not rows:
        return empty
    digests, holders = [row.get("digest", "") for row in leaves], leaves
    if head and "own" in head:
        digests, holders = [head["own"], *digests], [head, *leaves]
    try:
        tally = msgspec.json.decode(head["tally"], type=InterruptionCount) if head and "tally" in head else None
        nodes = {node.key: node for row in holders for node in map(node_of, json_of(row, "nodes"))}
        is_torn = head is None or _whole(digests, head.get("tally")) != head["digest"]
    except NONSENSE:
        nodes, tally, is_torn = {}, None, True
    etags = {row["RowKey"]: ("" if is_torn else row["digest"], row["etag"]) for row in leaves}
    if is_torn or head is None:
        head_etag = head["etag"] if head else None
        return StoredNodes(account_key, pool_key, {}, "", etags, head_etag, is_torn=True, tally=tally)
    usage = usage_of(head)
    return StoredNodes(account_key, pool_key, nodes, head["digest"], etags, head["etag"], tally=tally, usage=usage)


def _whole(digests: Iterable[str], tally: str | None) -> str:
    return _digest(("".join(digests) + (tally or "")).encode())


def _digest(body: bytes) -> str:
    return blake2b(body, digest_size=12).hexdigest()
