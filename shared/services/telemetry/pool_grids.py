"""Reads the values of nodes from the rows of pools: those of shards, however many nodes there are."""

import asyncio
from collections import defaultdict
from collections.abc import KeysView, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from shared.domain.blobs.blobs import SHARDS
from shared.domain.core.stamps import to_milliseconds
from shared.domain.nodes.nodes import Node
from shared.domain.reports.reports import NodeReport, PoolReport
from shared.domain.telemetry.catalog.series import Attributes, Series
from shared.domain.telemetry.pools.blocks import MINUTES, Line, lines_of, metrics_of, sources_of
from shared.domain.telemetry.pools.node_grid import NodeGrid
from shared.domain.telemetry.pools.pool_reports import MetricSelector
from shared.domain.telemetry.query.ranges import Range
from shared.errors import HistoryRangeError
from shared.services.telemetry.node_sessions import some_at_once
from shared.stores.telemetry.pool_telemetry import BlockColumn, BlockQuery, LastSeen, PoolTelemetryStore

_UNKNOWN_POOL = ""
_MAX_VALUES = 4_000_000  # of nodes in minutes or blocks: 12 bytes each
type PoolNodes = tuple[PoolReport, Sequence[NodeReport]]
"""A pool and its listed nodes."""
type PoolGrids = dict[str, dict[Series, NodeGrid]]
"""Values of nodes by the key of a pool and by metric."""


@dataclass(frozen=True, slots=True)
class OpenedPools:
    """Pools of an account: id and listed nodes by the pool's key, and by shard when their nodes had data."""

    account_key: str
    ids: Mapping[str, str]
    nodes: Mapping[str, Mapping[str, Node]]
    last_seen: Sequence[LastSeen]

    @property
    def shards(self) -> list[int]:
        """Returns the shards with rows of the pools, or of nodes whose pool isn't known."""
        return [shard for shard, pools in enumerate(self.last_seen) if pools]

    def seen(self, pool: str) -> dict[str, int]:
        """Returns the last minute with data of each node of a pool, also of those that aren't listed any more."""
        found: dict[str, int] = {}
        for pools in self.last_seen:
            unknown = pools.get(_UNKNOWN_POOL, {})
            listed = {node: minute for node, minute in unknown.items() if node in self.nodes[pool]}
            for nodes in (pools.get(pool, {}), listed):
                for node, minute in nodes.items():
                    found[node] = max(found.get(node, 0), minute)
        return found


class PoolGridReader:
    """Reads values of nodes of some pools of an account."""

    def __init__(self, store: PoolTelemetryStore) -> None:
        self._store = store

    async def opened(self, found: Sequence[PoolNodes]) -> OpenedPools:
        """Returns one or more pools of an account with the last minutes of their nodes. Raises StorageError."""
        account_key = found[0][0].account.key
        ids = {report.pool.key: report.pool.facts.id for report, _ in found}
        keys = {*ids, _UNKNOWN_POOL}
        seen = await some_at_once(lambda shard: self._store.load_seen(account_key, shard, keys), range(SHARDS))
        nodes = {report.pool.key: {one.node.key: one.node for one in listed} for report, listed in found}
        return OpenedPools(account_key, ids, nodes, seen)

    async def read(self, pools: OpenedPools, selectors: Sequence[MetricSelector], wanted: Range) -> PoolGrids:
        """Returns the selected metrics in minutes, or in blocks for steps of whole blocks.

        Raises HistoryRangeError for too many values, StorageError.
        """
        minutes = range(_minute(wanted.since), -(-to_milliseconds(wanted.until) // 60_000))
        found: PoolGrids = defaultdict(dict)
        if not minutes:
            return found
        query = BlockQuery(
            names=list(dict.fromkeys(selector.name for selector in selectors)),
            first=minutes.start // MINUTES,
            last=(minutes.stop - 1) // MINUTES,
            minutes=bool(wanted.minutes % MINUTES),
            pool=next(iter(pools.ids)) if len(pools.ids) == 1 else None,
        )

        turn = asyncio.Lock()

        async def add(shard: int) -> None:
            columns = [one async for one in self._store.columns(pools.account_key, shard, query)]
            async with turn:  # threads would interfere with each other's grids
                collection = _Collection(found, pools, selectors)
                await asyncio.to_thread(collection.add, columns, minutes if query.minutes else None)

        await some_at_once(add, pools.shards)
        return {pool: {metric: grid for metric, grid in some.items() if grid.nodes} for pool, some in found.items()}

    async def metrics(self, pools: OpenedPools, since: datetime) -> set[Series]:
        """Returns the metrics of one pool's nodes since some minutes, from the lists of its rows. Raises StorageError.

        Only rows of unknown pools need to say whose they are.
        """
        (pool,) = pools.ids
        first = _minute(since) // MINUTES

        async def listed(shard: int) -> set[Series]:
            has_unknown = _UNKNOWN_POOL in pools.last_seen[shard]
            rows = self._store.metrics(pools.account_key, shard, pool, first, with_sources=has_unknown)
            return {
                metric
                async for row in rows
                if row.pool or any(source.node in pools.nodes[pool] for source in sources_of(row.sources))
                for metric in metrics_of(row.metrics)
            }

        return set().union(*await some_at_once(listed, pools.shards))


@dataclass(slots=True)
class _Collection:
    """Columns of a shard on their way to the grids of their pools and metrics; blocks mostly have the same sources."""

    found: PoolGrids
    pools: OpenedPools
    selectors: Sequence[MetricSelector]
    _nodes: dict[bytes, list[str]] = field(default_factory=dict)
    _places: dict[tuple[int, bytes], Sequence[int]] = field(default_factory=dict)
    _metrics: dict[tuple[str, Attributes], Series | None] = field(default_factory=dict)

    def add(self, columns: Sequence[BlockColumn], minutes: range | None) -> None:
        """Adds columns of minutes; without these they are of blocks. Raises HistoryRangeError for too many values."""
        for column in columns:
            lines = [(self._selected(column.name, line.attributes), line) for line in lines_of(column.lines)]
            for pool, known in _owners(self.pools, column.pool):
                for metric, line in lines:
                    if metric:
                        self._add(self.found[pool].setdefault(metric, NodeGrid(metric)), column, line, known, minutes)
        if sum(grid.size for grids in self.found.values() for grid in grids.values()) > _MAX_VALUES:
            raise HistoryRangeError(
                f"That would be more than {_MAX_VALUES:,} values of nodes: select a metric by its attributes, a "
                "shorter range or a longer step.",
                target="attributes",
            )

    def _add(
        self, grid: NodeGrid, column: BlockColumn, line: Line, known: KeysView[str] | None, minutes: range | None
    ) -> None:
        key = id(grid), column.sources
        if key not in self._places:
            if column.sources not in self._nodes:
                self._nodes[column.sources] = [source.node for source in sources_of(column.sources)]
            self._places[key] = grid.places_of(self._nodes[column.sources], known)
        if minutes is None:
            grid.add_block(column.number, self._places[key], line)
        else:
            grid.add_minutes(column.number, self._places[key], line, minutes)

    def _selected(self, name: str, attributes: Attributes) -> Series | None:
        """Returns a metric if it is selected."""
        key = name, attributes
        if key not in self._metrics:
            metric = Series(name, attributes)
            self._metrics[key] = metric if any(selector.has(metric) for selector in self.selectors) else None
        return self._metrics[key]


def _owners(pools: OpenedPools, pool: str) -> list[tuple[str, KeysView[str] | None]]:
    """Returns the pools that a row counts for, and which of its nodes; None for all."""
    if pool == _UNKNOWN_POOL:
        return [(own, nodes.keys()) for own, nodes in pools.nodes.items()]
    return [(pool, None)] if pool in pools.ids else []


def _minute(moment: datetime) -> int:
    return to_milliseconds(moment) // 60_000
