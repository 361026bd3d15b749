"""Finds the sessions with a node's telemetry by the index, and checks them against the blobs' own rows."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from shared.domain.blobs.blobs import SessionKey, telemetry_ingest_partition
from shared.domain.core.keys import key_of
from shared.domain.telemetry.query.task_runs import TaskAffinity, tie_of
from shared.domain.telemetry.records.labels import Identity
from shared.domain.telemetry.rollups.chunks import HOURS_A_DAY
from shared.domain.telemetry.sessions.node_facts import NodeFacts
from shared.stores.blobs.checkpoints import BlobEntryStore
from shared.stores.telemetry.node_index import IndexEntry, NodeIndex, task_name
from shared.stores.telemetry.telemetry import SessionRow, TelemetryStore


@dataclass(frozen=True, slots=True)
class NodeSession:
    """A session with data of a day, its identity, and the facts about its node."""

    entry: IndexEntry
    whose: Identity
    facts: NodeFacts


type SessionsByPartition = dict[str, Collection[NodeSession]]


class NodeSessions:
    def __init__(self, telemetry: TelemetryStore, index: NodeIndex, entries: BlobEntryStore) -> None:
        self._telemetry = telemetry
        self._index = index
        self._entries = entries

    async def find(self, account_key: str, pool: str, node: str, hours: tuple[int, int]) -> SessionsByPartition:
        """Returns a node's sessions in hours since 1970, both ends included, by partition. Raises StorageError."""
        return await self._found(account_key, node, hours, lambda row: _is_of(row.whose, pool, node))

    async def find_of_task(
        self, account_key: str, job: str, task: str, pool: str, hours: tuple[int, int]
    ) -> SessionsByPartition:
        """Returns sessions that name a task of a pool and only a host name, or no node; otherwise as `find`."""

        def is_wanted(row: SessionRow) -> bool:
            is_nodes = bool(row.whose.node) and not row.by_host
            return not is_nodes and _may_be_in(row.whose, pool) and tie_of(row.whose, job, task) is TaskAffinity.TASK

        return await self._found(account_key, task_name(job, task), hours, is_wanted)

    async def find_attempts(
        self, account_key: str, job: str, task: str, hours: tuple[int, int]
    ) -> Sequence[NodeSession]:
        """Returns sessions that name an attempt of a task, on any node; one for each day with data."""

        def is_wanted(row: SessionRow) -> bool:
            return bool(row.whose.attempt) and tie_of(row.whose, job, task) is TaskAffinity.TASK

        found = await self._found(account_key, task_name(job, task), hours, is_wanted)
        return [session for sessions in found.values() for session in sessions]

    async def _found(
        self, account_key: str, name: str, hours: tuple[int, int], is_wanted: Callable[[SessionRow], bool]
    ) -> SessionsByPartition:
        """Returns the sessions that the index has under a name, if their own rows match."""
        first, last = hours
        indexed = await self._index.load(account_key, name, first // HOURS_A_DAY, last // HOURS_A_DAY)
        entries = await self._counting(account_key, indexed)
        partitions: dict[str, list[IndexEntry]] = {}
        for one in sorted(entries, key=lambda one: one.rows.partition):
            partitions.setdefault(one.rows.partition, []).append(one)
        rows = await some_at_once(self._telemetry.load_session_rows, partitions)
        pairs = zip(partitions.items(), rows, strict=True)
        found = {partition: _sessions(some, known, is_wanted) for (partition, some), known in pairs}
        return {partition: sessions for partition, sessions in found.items() if sessions}

    async def _counting(self, account_key: str, entries: Collection[IndexEntry]) -> Collection[IndexEntry]:
        """Returns the index without the parts that an older version has read again, or has begun to, after a rollback.

        Those are in partitions of the incarnations' own. They count where the blobs are read on there, in place of the
        group's.
        """
        grouped = {one.rows.incarnation for one in entries if one.rows.group}
        twice = sorted(grouped & {one.rows.incarnation for one in entries if not one.rows.group})
        partition = telemetry_ingest_partition(account_key)
        known = await some_at_once(lambda incarnation: self._entries.load_of(partition, incarnation), twice)
        by_group = {name: bool(entry and entry.group) for name, entry in zip(twice, known, strict=True)}
        return [
            one for one in entries if by_group.get(one.rows.incarnation, one.rows.group != "") == bool(one.rows.group)
        ]


async def some_at_once[K, T](load: Callable[[K], Awaitable[T]], keys: Iterable[K], most: int = 16) -> list[T]:
    """Returns the loaded values in the order of their keys; `most` load at the same time, none after an error."""
    gate = asyncio.Semaphore(most)

    async def loaded(key: K) -> T:
        async with gate:
            return await load(key)

    tasks = [asyncio.ensure_future(loaded(key)) for key in keys]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()


def _sessions(
    entries: Collection[IndexEntry], rows: Mapping[SessionKey, SessionRow], is_wanted: Callable[[SessionRow], bool]
) -> Collection[NodeSession]:
    known = [(one, rows[one.session_key]) for one in entries if one.session_key in rows]
    return [NodeSession(one, some.whose, some.facts) for one, some in known if is_wanted(some)]


def _is_of(whose: Identity, pool: str, node: str) -> bool:
    return key_of(whose.node) == key_of(node) and _may_be_in(whose, pool)


def _may_be_in(whose: Identity, pool: str) -> bool:
    """Returns True also for a session without a pool, which may belong to any."""
    return not whose.pool or key_of(whose.pool) == key_of(pool)
