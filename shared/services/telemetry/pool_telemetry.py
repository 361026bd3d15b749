"""Answers about the telemetry of whole pools and accounts, from the rows of shards instead of those of nodes."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from shared.domain.core.keys import id_of
from shared.domain.nodes.nodes import Node
from shared.domain.telemetry.catalog.custom_metrics import ShownName
from shared.domain.telemetry.catalog.series import Series
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
from shared.services.telemetry.pool_grids import PoolGridReader, PoolGrids, PoolNodes
from shared.stores.telemetry.pool_telemetry import PoolTelemetryStore

type _Values = Mapping[str, tuple[int, float]]
"""Nodes' values with their minutes, by key."""
_MAX_NAMES = 12
_LISTED = timedelta(minutes=20)  # metrics that nodes sent since
_MAX_VALUES = 4_000_000  # of nodes in minutes or blocks: 12 bytes each


class PoolTelemetryQueries:
    """Answers from the rows of shards; `retention` is theirs."""

    def __init__(self, pools: PoolQueries, store: PoolTelemetryStore, retention: timedelta) -> None:
        self._pools = pools
        self._reader = PoolGridReader(store)
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
        pools = await self._reader.opened([(report, listed)])
        (pool,) = pools.ids
        until = min(at or report.now, report.now)
        selectors = _selectors(asked, CPU)
        grids = (await self._reader.read(pools, selectors, Range(until - SILENT, until, 1))).get(pool, {})
        latest = _shown_alike({metric: grid.latest() for metric, grid in grids.items()})
        metric = _only(_exact(list(latest), asked, selectors[0]) or list(latest))
        values = latest[metric] if metric else {}
        nodes, seen = pools.nodes[pool], pools.seen(pool)
        found = [_value_of(key, nodes.get(key), values.get(key), seen.get(key)) for key in {**nodes, **values}]
        return NodeValues(metric, until, sorted(found, key=lambda one: one.id))

    async def metrics(self, account_id: str, pool_id: str) -> list[ShownName]:
        """Returns the metrics that nodes of a pool sent lately, by name. Raises NotFoundError, StorageError."""
        report, listed = await self._pools.pool_with_nodes(account_id, pool_id)
        pools = await self._reader.opened([(report, listed)])
        found = await self._reader.metrics(pools, report.now - _LISTED)
        by_name = {(one.name, one.attributes): one for one in sorted(map(shown_metric, found))}
        return list(by_name.values())

    async def _statistics(self, found: Sequence[PoolNodes], asked: SeriesQuery) -> list[PoolTelemetry]:
        selectors = _selectors(asked, *UTILIZATION)
        if not found:
            return []
        now = found[0][0].now
        wanted = range_of(asked.since, asked.until, asked.step, now=now, retention=self._retention)
        wanted = pool_range(wanted, is_default=asked.step is None)
        pools = await self._reader.opened(found)
        grids = await self._reader.read(pools, selectors, wanted)
        lines = await asyncio.to_thread(_lines, grids, wanted)
        return [
            PoolTelemetry(name, wanted, lines.get(pool, []), reporting_of(pools.nodes[pool], pools.seen(pool), now))
            for pool, name in pools.ids.items()
        ]


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


def _lines(grids: PoolGrids, wanted: Range) -> dict[str, list[MetricLine]]:
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
        node.id if node else id_of(key),
        node.state if node else None,
        number,
        None if minute is None else moment_of(minute),
        None if seen is None else moment_of(seen),
    )


def _exact(metrics: Sequence[Series], asked: SeriesQuery, selector: MetricSelector) -> list[Series]:
    """Returns metrics that have exactly the name and attributes of a query, not only leading parts and some of them."""
    wanted = asked.name, {name: value for name, value in selector.attributes.items() if value}
    shown = ((metric, shown_metric(metric)) for metric in metrics)
    return [metric for metric, one in shown if (one.name, dict(one.attributes)) == wanted]


def _shown_alike(latest: Mapping[Series, _Values]) -> dict[Series, _Values]:
    """Returns of metrics that differ only in their unit or kind, as custom ones may, the one that most nodes have."""
    found: dict[str, Series] = {}
    for metric in sorted(latest, key=lambda one: (len(latest[one]), one.name, one.attributes)):
        found[_shown(metric)] = metric
    return {metric: latest[metric] for metric in found.values()}


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
