"""The table `nodes`: a partition a pool, its nodes packed some hundred to a row, and a head that names what they are.

Row `!` is the head: how many rows there are, and a digest of all of them. Every write changes it under its ETag, so two
polls of one pool can't mix what they found, and a reader who meets rows of two writes knows it by the digest.
"""

import zlib
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import batched
from typing import Any

import orjson
from azure.core import MatchConditions
from azure.data.tables import UpdateMode

from shared.domain.keys import partition_of
from shared.domain.nodes import Node, NodeError, RecentTask, StartRun
from shared.errors import CacheConflictError, StorageError
from shared.stores.tables import Row, Tables, delete_partition, json_columns, json_of, load_rows, translated

HEAD = "!"
_NODES_A_ROW = 250
_MOST_OPERATIONS = 100
_MOST_BYTES = 3_000_000  # of 4 MiB, as the wire form is base64 in JSON in a multipart body
_REMEMBERED = 20_000  # nodes
_TRIES = 5
_GONE = 404
_UNREADABLE = (ValueError, TypeError, LookupError, zlib.error)
EMPTY_DIGEST = ""


type Operation = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class StoredNodes:
    """A pool's nodes by key as they were stored, and under which ETags: digest and ETag of each row by its key.

    `is_torn` where rows aren't what the head names, or can't be read: there are no nodes then, and the next write
    replaces all of them.
    """

    partition: str
    nodes: Mapping[str, Node] = field(default_factory=dict)
    digest: str = EMPTY_DIGEST
    rows: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    head_etag: str | None = None
    is_torn: bool = False


class NodeStore:
    """Remembers the nodes of recent pools: an ETag that is out of date only makes a poll give way."""

    def __init__(self, tables: Tables) -> None:
        self._table = tables["nodes"]
        self._known: OrderedDict[str, StoredNodes] = OrderedDict()

    async def load(self, account_key: str, pool_key: str, digest: str | None = None) -> StoredNodes:
        """A pool's nodes as they were before now; from memory where that holds those of the `digest` wanted."""
        partition = partition_of(account_key, pool_key)
        known = self._known.get(partition)
        if known and known.digest == digest:
            return known
        return self._remember(_stored(partition, await load_rows(self._table, partition)))

    async def read(self, account_key: str, pool_key: str) -> StoredNodes:
        """A pool's nodes as storage has them now. Raises StorageError, and CacheConflictError if they never rest."""
        partition = partition_of(account_key, pool_key)
        for _ in range(_TRIES):
            found = _stored(partition, await load_rows(self._table, partition))
            if not found.is_torn:
                return found
        raise CacheConflictError("The nodes of this pool are being written anew; try again.")

    def forget(self, account_key: str, pool_key: str) -> None:
        """After a conflict: the next `load` reads storage."""
        self._known.pop(partition_of(account_key, pool_key), None)

    async def save(self, before: StoredNodes, nodes: Mapping[str, Node]) -> StoredNodes:
        """Writes what differs from `before`, and nothing where nothing does. Raises CacheConflictError."""
        if nodes == before.nodes and not before.is_torn:
            return before
        packed = _packed(nodes)
        digests = {name: _digest(body) for name, body in packed.items()}
        whole = _digest("".join(digests.values()).encode())
        head: Row = {"PartitionKey": before.partition, "RowKey": HEAD, "digest": whole, "rows": len(packed)}
        etags = await self._write([*_operations(before, packed, digests), _written(head, before.head_etag)])
        rows = {name: (digest, str(etags.get(name) or before.rows[name][1])) for name, digest in digests.items()}
        return self._remember(StoredNodes(before.partition, dict(nodes), whole, rows, str(etags[HEAD])))

    async def delete(self, account_key: str, pool_key: str) -> None:
        """Forgets all nodes of a pool that is gone. Raises StorageError."""
        self.forget(account_key, pool_key)
        await delete_partition(self._table, partition_of(account_key, pool_key))

    async def _write(self, operations: Sequence[tuple[Operation, int]]) -> dict[str, str]:
        """Writes rows, the head last; gives their ETags. Raises CacheConflictError where another writer was first."""
        etags: dict[str, str] = {}
        for step in _transactions(operations):
            try:
                with translated("write the nodes of a pool"):
                    answers = await self._table.submit_transaction(step)
            except StorageError as error:
                if getattr(error.__cause__, "status_code", None) == _GONE:
                    raise CacheConflictError("The nodes of a pool are gone: the pool was deleted.") from error
                raise
            for operation, answer in zip(step, answers, strict=False):
                etags[operation[1]["RowKey"]] = str(answer.get("etag"))
        return etags

    def _remember(self, stored: StoredNodes) -> StoredNodes:
        self._known[stored.partition] = stored
        self._known.move_to_end(stored.partition)
        while sum(len(known.nodes) for known in self._known.values()) > _REMEMBERED and len(self._known) > 1:
            self._known.popitem(last=False)
        return stored


def _packed(nodes: Mapping[str, Node]) -> dict[str, bytes]:
    """Nodes in the order of their keys as JSON, by row."""
    ordered = [nodes[key] for key in sorted(nodes)]
    return {
        f"n{number:05}": orjson.dumps([_json(node) for node in chunk])
        for number, chunk in enumerate(batched(ordered, _NODES_A_ROW, strict=False))
    }


def _operations(
    before: StoredNodes, packed: Mapping[str, bytes], digests: Mapping[str, str]
) -> Sequence[tuple[Operation, int]]:
    """What is to be written and deleted, each with its size in bytes."""
    found: list[tuple[Operation, int]] = []
    for name, body in packed.items():
        digest, etag = before.rows.get(name, (None, None))
        if digest != digests[name]:
            row: Row = {"PartitionKey": before.partition, "RowKey": name, "digest": digests[name]}
            found.append(_written(row | json_columns("nodes", orjson.Fragment(body)), etag))
    for name in before.rows.keys() - packed.keys():
        row = {"PartitionKey": before.partition, "RowKey": name}
        found.append((("delete", row, _condition(before.rows[name][1])), 500))
    return found


def _written(row: Row, etag: str | None) -> tuple[Operation, int]:
    size = 1500 + sum(len(value) * 4 // 3 for value in row.values() if isinstance(value, bytes))
    if etag is None:
        return ("create", row), size
    return ("update", row, {"mode": UpdateMode.REPLACE, **_condition(etag)}), size


def _condition(etag: str) -> dict[str, Any]:
    return {"etag": etag, "match_condition": MatchConditions.IfNotModified}


def _transactions(operations: Sequence[tuple[Operation, int]]) -> list[list[Operation]]:
    """As few transactions as the limits allow, mostly one."""
    steps: list[list[Operation]] = [[]]
    size = 0
    for operation, more in operations:
        if len(steps[-1]) == _MOST_OPERATIONS or (steps[-1] and size + more > _MOST_BYTES):
            steps.append([])
            size = 0
        steps[-1].append(operation)
        size += more
    return steps


def _stored(partition: str, rows: list[Row]) -> StoredNodes:
    """What rows hold. Rows of two writers, or of another version of the app, are torn."""
    head = next((row for row in rows if row["RowKey"] == HEAD), None)
    leaves = sorted((row for row in rows if row["RowKey"] != HEAD), key=lambda row: str(row["RowKey"]))
    if head is None and not leaves:
        return StoredNodes(partition)
    digests = [row["digest"] for row in leaves]
    try:
        nodes = {node.key: node for row in leaves for node in map(_node, json_of(row, "nodes"))}
        is_torn = head is None or _digest("".join(digests).encode()) != head["digest"]
    except _UNREADABLE:
        nodes, is_torn = {}, True
    etags = {row["RowKey"]: ("" if is_torn else row["digest"], row["etag"]) for row in leaves}
    head_etag = head["etag"] if head else None
    if is_torn or head is None:
        return StoredNodes(partition, rows=etags, head_etag=head_etag, is_torn=True)
    return StoredNodes(partition, nodes, head["digest"], etags, head_etag)


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
