"""Answers about the telemetry of whole pools and accounts, from the rows of shards instead of those of nodes."""

import asyncio
from collections import defaultdict
from collections.abc import KeysView, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from shared.domain.blobs.shards import SHARDS
from shared.domain.core.stamps import to_milliseconds
from shared.domain.nodes.nodes import Node
from shared.domain.reports.reports import NodeReport, PoolReport
from shared.domain.telemetry.catalog.series import Series
from shared.domain.telemetry.pools.blocks import MINUTES, lines_of, sources_of
from shared.domain.telemetry.pools.node_grid import NodeGrid
from shared.domain.telemetry.pools.node_metrics import shown_metric
from shared.domain.telemetry.pools.pool_reports import (
    CPU,
    SILENT,
    UTILIZATION,
    MetricLine,
    MetricSelector,
    NodeValue,
    NodeValues,
    PoolTelemetry,
    moment_of,
    pool_range,
    reporting_of,
)
from shared.domain.telemetry.query.ranges import Range, range_of
from shared.domain.telemetry.query.series_query import SeriesQuery
from shared.domain.telemetry.query.series_selectors import selector_of
from shared.errors import HistoryRangeError
from shared.services.queries.pool_queries import PoolQueries
from shared.services.telemetry.node_sessions import some_at_once
from shared.stores.telemetry.pool_telemetry import BlockColumn, BlockQuery, PoolTelemetryStore, ShardHead

_UNKNOWN_POOL = ""
_MAX_NAMES = 12
_MAX_VALUES = 4_000_000  # of nodes in minutes or blocks: 12 bytes each
type _Grids = dict[str, dict[Series, NodeGrid]]
"""Values of nodes by the key of a pool and by metric."""


@dataclass(frozen=True, slots=True)
class _Pools:
    """Pools of an account: id and listed nodes by the pool's key, and the heads of all shards."""

    account_key: str
    ids: Mapping[str, str]
    nodes: Mapping[str, Mapping[str, Node]]
    heads: Sequence[ShardHead]

    @property
    def shards(self) -> list[int]:
        """Returns the shards with rows of the pools, or of nodes whose pool isn't known."""
        wanted = {*self.ids, _UNKNOWN_POOL}
        return [shard for shard, head in enumerate(self.heads) if not wanted.isdisjoint(head.seen)]

    def seen(self, pool: str) -> dict[str, int]:
        """Returns the last minute with data of each node of a pool, also of those that aren't listed any more."""
        found: dict[str, int] = {}
        for head in self.heads:
            unknown = head.seen.get(_UNKNOWN_POOL, {})
            listed = {node: minute for node, minute in unknown.items() if node in self.nodes[pool]}
            for nodes in (head.seen.get(pool, {}), listed):
                for node, minute in nodes.items():
                    found[node] = max(found.get(node, 0), minute)
        return found


class PoolTelemetryQueries:
    """Answers from the rows of shards; `retention` is theirs."""

    def __init__(self, pools: PoolQueries, store: PoolTelemetryStore, retention: timedelta) -> None:
        self._pools = pools
        self._store = store
        self._retention = retention

    async def of_pool(self, account_id: str, pool_id: str, asked: SeriesQuery) -> PoolTelemetry:
        """Returns statistics over a pool's nodes. Raises NotFoundError, HistoryRangeError, StorageError."""
        (found,) = await self._statistics([await self._pools.pool_with_nodes(account_id, pool_id)], asked)
        return found

    async def of_account(self, account_id: str, asked: SeriesQuery) -> list[PoolTelemetry]:
        """Returns statistics over the nodes of each pool with data. Raises the errors of `of_pool`."""
        ids = [report.pool.facts.id for report in await self._pools.pools(account_id)]
        pools = await some_at_once(lambda pool: self._pools.pool_with_nodes(account_id, pool), ids)
        return [one for one in await self._statistics(pools, asked) if one.lines or one.nodes.has_any]

    async def by_node(self, account_id: str, pool_id: str, asked: SeriesQuery, at: datetime | None) -> NodeValues:
        """Returns the values of one metric by node, as of the last minutes before a moment, or of now.

        By default it is the share of CPU in use.

        Raises NotFoundError, HistoryRangeError, also where several metrics fit, and StorageError.
        """
        report, listed = await self._pools.pool_with_nodes(account_id, pool_id)
        pools = await self._opened([(report, listed)])
        (pool,) = pools.ids
        until = min(at or report.now, report.now)
        selectors = _selectors(asked, CPU)
        grids = (await self._grids(pools, selectors, Range(until - SILENT, until, 1))).get(pool, {})
        metric = _only(list(grids))
        values = grids[metric].latest() if metric else {}
        nodes, seen = pools.nodes[pool], pools.seen(pool)
        found = [_value_of(key, nodes.get(key), values.get(key), seen.get(key)) for key in {**nodes, **values}]
        return NodeValues(metric, until, sorted(found, key=lambda one: one.id))

    async def _statistics(
        self, found: Sequence[tuple[PoolReport, Sequence[NodeReport]]], asked: SeriesQuery
    ) -> list[PoolTelemetry]:
        selectors = _selectors(asked, *UTILIZATION)
        if not found:
            return []
        now = found[0][0].now
        wanted = range_of(asked.since, asked.until, asked.step, now=now, retention=self._retention)
        wanted = pool_range(wanted, is_default=asked.step is None)
        pools = await self._opened(found)
        grids = await self._grids(pools, selectors, wanted)
        lines = await asyncio.to_thread(_lines, grids, wanted)
        return [
            PoolTelemetry(name, wanted, lines.get(pool, []), reporting_of(pools.nodes[pool], pools.seen(pool), now))
            for pool, name in pools.ids.items()
        ]

    async def _opened(self, found: Sequence[tuple[PoolReport, Sequence[NodeReport]]]) -> _Pools:
        account_key = found[0][0].account.key
        heads = await some_at_once(lambda shard: self._store.load_head(account_key, shard), range(SHARDS))
        ids = {report.pool.key: report.pool.facts.id for report, _ in found}
        nodes = {report.pool.key: {one.node.key: one.node for one in listed} for report, listed in found}
        return _Pools(account_key, ids, nodes, heads)

    async def _grids(self, pools: _Pools, selectors: Sequence[MetricSelector], wanted: Range) -> _Grids:
        """Returns the selected metrics in minutes, or in blocks for steps of whole blocks."""
        minutes = range(_minute(wanted.since), -(-to_milliseconds(wanted.until) // 60_000))
        found: _Grids = defaultdict(dict)
        if not minutes:
            return found
        query = BlockQuery(
            names=list(dict.fromkeys(selector.name for selector in selectors)),
            first=minutes.start // MINUTES,
            last=(minutes.stop - 1) // MINUTES,
            minutes=bool(wanted.minutes % MINUTES),
            pool=next(iter(pools.ids)) if len(pools.ids) == 1 else None,
        )

        async def add(shard: int) -> None:
            columns = [one async for one in self._store.columns(pools.account_key, shard, query)]
            await asyncio.to_thread(_collect, found, pools, selectors, columns, minutes if query.minutes else None)

        await some_at_once(add, pools.shards)
        return found


def _selectors(asked: SeriesQuery, *default: MetricSelector) -> Sequence[MetricSelector]:
    """Returns the selected metrics. Raises HistoryRangeError."""
    if asked.name is None:
        if asked.attributes is not None:
            raise HistoryRangeError("Attributes select among metrics of a name: give a name, too.", target="name")
        return default
    choice = selector_of(asked.name, asked.attributes)
    number = len(choice.names)
    if number > _MAX_NAMES:
        raise HistoryRangeError(f"'{asked.name}' are {number} metrics, and {_MAX_NAMES} are the most.", target="name")
    return [MetricSelector(one, choice.attributes, choice.metrics) for one in choice.names]


def _collect(
    found: _Grids,
    pools: _Pools,
    selectors: Sequence[MetricSelector],
    columns: Sequence[BlockColumn],
    minutes: range | None,
) -> None:
    """Adds the columns of a shard to the grids of their pools and metrics; without `minutes` they are of blocks."""
    for column in columns:
        nodes = [source.node for source in sources_of(column.sources)]
        lines = [(Series(column.name, tuple(line.attributes)), line) for line in lines_of(column.lines)]
        wanted = [(metric, line) for metric, line in lines if any(selector.has(metric) for selector in selectors)]
        for pool, known in _owners(pools, column.pool):
            if known is not None and known.isdisjoint(nodes):
                continue
            for metric, line in wanted:
                grid = found[pool].setdefault(metric, NodeGrid(metric))
                places = grid.places_of(nodes, known)
                if minutes is None:
                    grid.add_block(column.number, places, line)
                else:
                    grid.add_minutes(column.number, places, line, minutes)
    if sum(grid.size for grids in found.values() for grid in grids.values()) > _MAX_VALUES:
        raise HistoryRangeError(
            f"That would be more than {_MAX_VALUES:,} values of nodes: select a metric by its attributes, a shorter "
            "range or a longer step.",
            target="attributes",
        )


def _owners(pools: _Pools, pool: str) -> list[tuple[str, KeysView[str] | None]]:
    """Returns the pools that a row counts for, and which of its nodes; None for all."""
    if pool == _UNKNOWN_POOL:
        return [(own, nodes.keys()) for own, nodes in pools.nodes.items()]
    return [(pool, None)] if pool in pools.ids else []


def _lines(grids: _Grids, wanted: Range) -> dict[str, list[MetricLine]]:
    found = {}
    for pool, by_metric in grids.items():
        lines = [
            MetricLine(metric, [(moment_of(minute), one) for minute, one in grid.steps(wanted.minutes)])
            for metric, grid in sorted(by_metric.items(), key=lambda one: (one[0].name, one[0].attributes))
        ]
        found[pool] = [line for line in lines if line.points]
    return found


def _value_of(key: str, node: Node | None, value: tuple[int, float] | None, seen: int | None) -> NodeValue:
    minute, number = value or (None, None)
    return NodeValue(
        node.id if node else key,
        node.state if node else None,
        number,
        None if minute is None else moment_of(minute),
        None if seen is None else moment_of(seen),
    )


def _only(metrics: Sequence[Series]) -> Series | None:
    """Returns the one metric, or the one without attributes; None without any. Raises HistoryRangeError for several."""
    plain = [metric for metric in metrics if not metric.attributes]
    if len(metrics) > 1 and not plain:
        some = ", ".join(sorted(_shown(metric) for metric in metrics))
        raise HistoryRangeError(f"Several metrics fit: select one of {some}.", target="attributes")
    return next(iter((*plain, *metrics)), None)


def _shown(metric: Series) -> str:
    name, attributes, _ = shown_metric(metric)
    return f"{name} {';'.join(f'{key}={value}' for key, value in attributes)}".strip()


def _minute(moment: datetime) -> int:
    return to_milliseconds(moment) // 60_000
