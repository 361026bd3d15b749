"""The table `nodes`, partitioned by account: the nodes of a pool packed some hundred to a row, and a head.

Row `<pool>~!` is the head, which names by a digest what the rows `<pool>~n…` hold. Every write changes it under its
ETag, so two polls of one pool can't mix what they found, and a reader who meets rows of two writes knows it.
"""

import zlib
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import batched
from typing import Any

import orjson

from shared.domain.keys import SEPARATOR, partition_of
from shared.domain.nodes import Node, NodeError, RecentTask, StartRun
from shared.errors import CacheConflictError
from shared.stores.tables import Row, Tables, delete_rows, json_columns, json_of, load_range
from shared.stores.unit_writes import Unit, deleted, write_units, written

_HEAD = "!"
_NODES_A_ROW = 250
_REMEMBERED = 20_000  # nodes
_TRIES = 5
_UNREADABLE = (ValueError, TypeError, LookupError, zlib.error)


@dataclass(frozen=True, slots=True)
class StoredNodes:
    """A pool's nodes by key as they were stored, and under which ETags: digest and ETag of each row by its key.

    `is_torn` where rows aren't what the head names, or can't be read: there are no nodes then, and the next write
    replaces all of them.
    """

    account_key: str
    pool_key: str
    nodes: Mapping[str, Node] = field(default_factory=dict)
    digest: str = ""
    rows: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    head_etag: str | None = None
    is_torn: bool = False

    @property
    def head(self) -> str:
        return partition_of(self.pool_key, _HEAD)


@dataclass(frozen=True, slots=True)
class NodesWrite:
    """What is to become of a pool's stored nodes: `unit` writes it, and is empty where nothing differs."""

    before: StoredNodes
    nodes: Mapping[str, Node]
    digest: str
    digests: Mapping[str, str] = field(default_factory=dict)
    unit: Unit = ()

    def done(self, etags: Mapping[str, str]) -> StoredNodes:
        """What is stored after it was written under these new ETags."""
        rows = {name: (digest, etags.get(name) or self.before.rows[name][1]) for name, digest in self.digests.items()}
        head_etag = etags[self.before.head]
        return StoredNodes(
            self.before.account_key, self.before.pool_key, dict(self.nodes), self.digest, rows, head_etag
        )


def planned(before: StoredNodes, nodes: Mapping[str, Node]) -> NodesWrite:
    """What to write of `nodes` over what was stored: the rows that differ, and the head."""
    if nodes == before.nodes and not before.is_torn:
        return NodesWrite(before, nodes, before.digest)
    packed = _packed(before.pool_key, nodes)
    digests = {name: _digest(body) for name, body in packed.items()}
    whole = _digest("".join(digests.values()).encode())
    head: Row = {"PartitionKey": before.account_key, "RowKey": before.head, "digest": whole}
    unit = (*_changes(before, packed, digests), written(head, before.head_etag))
    return NodesWrite(before, nodes, whole, digests, unit)


class NodeStore:
    """Remembers the nodes of recent pools: an ETag that is out of date only makes a poll give way."""

    def __init__(self, tables: Tables) -> None:
        self._table = tables["nodes"]
        self._known: OrderedDict[str, StoredNodes] = OrderedDict()

    async def load(self, account_key: str, pool_key: str, digest: str | None = None) -> StoredNodes:
        """A pool's nodes as they were before now; from memory where that holds those of the `digest` wanted."""
        known = self._known.get(partition_of(account_key, pool_key))
        if known and known.digest == digest:
            return known
        return self._remember(await self._stored(account_key, pool_key))

    async def read(self, account_key: str, pool_key: str) -> StoredNodes:
        """A pool's nodes as storage has them now. Raises StorageError, and CacheConflictError if they never rest."""
        for _ in range(_TRIES):
            found = await self._stored(account_key, pool_key)
            if not found.is_torn:
                return found
        raise CacheConflictError("The nodes of this pool are being written anew; try again.")

    async def save_all(self, writes: Sequence[NodesWrite]) -> list[CacheConflictError | None]:
        """Writes the nodes of pools of one account; says of which another writer was first. Raises StorageError."""
        units = [write.unit for write in writes if write.unit]
        ends = iter(await write_units(self._table, units))
        conflicts: list[CacheConflictError | None] = []
        for write in writes:
            end = next(ends) if write.unit else None
            if isinstance(end, CacheConflictError):
                self._known.pop(_name(write.before), None)
            elif end is not None:
                self._remember(write.done(end))
            conflicts.append(end if isinstance(end, CacheConflictError) else None)
        return conflicts

    async def delete(self, account_key: str, pool_key: str) -> None:
        """Forgets all nodes of a pool that is gone. Raises StorageError."""
        self._known.pop(partition_of(account_key, pool_key), None)
        await delete_rows(self._table, account_key, await load_range(self._table, account_key, *_range(pool_key)))

    async def _stored(self, account_key: str, pool_key: str) -> StoredNodes:
        return _stored(account_key, pool_key, await load_range(self._table, account_key, *_range(pool_key)))

    def _remember(self, stored: StoredNodes) -> StoredNodes:
        self._known[_name(stored)] = stored
        self._known.move_to_end(_name(stored))
        while sum(len(known.nodes) for known in self._known.values()) > _REMEMBERED and len(self._known) > 1:
            self._known.popitem(last=False)
        return stored


def _name(stored: StoredNodes) -> str:
    return partition_of(stored.account_key, stored.pool_key)


def _range(pool_key: str) -> tuple[str, str]:
    """The first and last row key that a pool's rows may have."""
    return pool_key + SEPARATOR, pool_key + SEPARATOR * 2


def _packed(pool_key: str, nodes: Mapping[str, Node]) -> dict[str, bytes]:
    """Nodes in the order of their keys as JSON, by row."""
    ordered = [nodes[key] for key in sorted(nodes)]
    return {
        partition_of(pool_key, f"n{number:05}"): orjson.dumps([_json(node) for node in chunk])
        for number, chunk in enumerate(batched(ordered, _NODES_A_ROW, strict=False))
    }


def _changes(before: StoredNodes, packed: Mapping[str, bytes], digests: Mapping[str, str]) -> Unit:
    """Rows that differ from what was stored, and those that aren't needed any more."""
    found = []
    for name, body in packed.items():
        digest, etag = before.rows.get(name, (None, None))
        if digest != digests[name]:
            row: Row = {"PartitionKey": before.account_key, "RowKey": name, "digest": digests[name]}
            found.append(written(row | json_columns("nodes", orjson.Fragment(body)), etag))
    gone = sorted(before.rows.keys() - packed.keys())
    return [*found, *(deleted(before.account_key, name, before.rows[name][1]) for name in gone)]


def _stored(account_key: str, pool_key: str, rows: Mapping[str, Row]) -> StoredNodes:
    """What rows hold. Rows of two writers, or of another version of the app, are torn."""
    empty = StoredNodes(account_key, pool_key)
    head = rows.get(empty.head)
    leaves = [rows[name] for name in sorted(rows) if name != empty.head]
    if not rows:
        return empty
    digests = [row["digest"] for row in leaves]
    try:
        nodes = {node.key: node for row in leaves for node in map(_node, json_of(row, "nodes"))}
        is_torn = head is None or _digest("".join(digests).encode()) != head["digest"]
    except _UNREADABLE:
        nodes, is_torn = {}, True
    etags = {row["RowKey"]: ("" if is_torn else row["digest"], row["etag"]) for row in leaves}
    if is_torn or head is None:
        return StoredNodes(account_key, pool_key, {}, "", etags, head["etag"] if head else None, is_torn=True)
    return StoredNodes(account_key, pool_key, nodes, head["digest"], etags, head["etag"])


def _json(node: Node) -> list[Any]:
    start = list(node.start) if node.start else None
    *plain, _, _, _, recent_at = node
    return [*plain, start, [list(error) for error in node.errors], [list(task) for task in node.recent], recent_at]


def _node(values: list[Any]) -> Node:
    *plain, start, errors, recent, recent_at = values
    pairs = tuple(NodeError(*error) for error in errors)
    tasks = tuple(RecentTask(*task) for task in recent)
    return Node._make((*plain, StartRun(*start) if start else None, pairs, tasks, recent_at))


def _digest(body: bytes) -> str:
    return blake2b(body, digest_size=12).hexdigest()
