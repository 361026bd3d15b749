"""Figures of a pool's nodes while a job ran, from rows of shards: CPU time that they lost, network, memory and GPUs.

Jobs of a pool share what was read: all jobs with the same minutes or blocks the figures, others when nodes had data.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from shared.domain.core.stamps import to_milliseconds
from shared.domain.efficiency.job_context import NodeFigures
from shared.domain.telemetry.catalog.field_mappings import SOURCE
from shared.domain.telemetry.catalog.series import Series
from shared.domain.telemetry.pools.blocks import MINUTES
from shared.domain.telemetry.pools.node_grid import NodeGrid, NodeStatistics
from shared.domain.telemetry.pools.node_metrics import HIGHEST
from shared.domain.telemetry.pools.pool_reports import GPU, RECEIVED, SENT, MetricSelector
from shared.domain.telemetry.query.ranges import Range
from shared.errors import HistoryRangeError, NotFoundError
from shared.recent_cache import RecentCache
from shared.services.queries.pool_queries import PoolQueries
from shared.services.telemetry.pool_grids import OpenedPools, PoolGridReader
from shared.stores.telemetry.pool_telemetry import PoolTelemetryStore

_DEVICE, _SOURCE = HIGHEST[0], SOURCE[0]
_STOLEN = MetricSelector("system.cpu.utilization", {"cpu.mode": "steal", _DEVICE: "", _SOURCE: ""})
_THROTTLED = MetricSelector("batchscope.container.cpu.throttled", {_DEVICE: "", _SOURCE: ""})
_MEMORY = MetricSelector("system.memory.limit", {_SOURCE: ""})
_SELECTORS = (_STOLEN, _THROTTLED, RECEIVED, SENT, _MEMORY, GPU)
_WINDOW, _FINE = timedelta(hours=3), timedelta(hours=1)
_MOMENT = timedelta(milliseconds=1)
_WHOLE = 1 << 40  # minutes of a step that has the whole range
_MINUTE = 60_000  # milliseconds
_MAX_KNOWN = 500
_MAX_SEEN = 100_000  # nodes in shards that are remembered


class _Window(NamedTuple):
    """A pool's steps of some minutes, from the first to the last, and the vCPUs of its nodes."""

    account_id: str
    pool_id: str
    minutes: int
    first: int
    last: int
    cores: int | None


class NodeFigureReader:
    """Reads figures of pools' nodes; those of a time that was read before come from memory.

    What was read for a job serves others that didn't end later: samples until then had come.
    """

    def __init__(self, pools: PoolQueries, store: PoolTelemetryStore) -> None:
        self._pools = pools
        self._reader = PoolGridReader(store)
        self._known: dict[_Window, tuple[datetime, NodeFigures | None]] = {}
        self._opened = RecentCache[tuple[str, str], tuple[datetime, OpenedPools]](_MAX_SEEN)

    async def figures(
        self, account_id: str, pool_id: str, since: datetime, until: datetime, cores: int | None
    ) -> NodeFigures | None:
        """Returns the figures of at most the last three hours before `until`; None where no node reported any.

        `cores` are the vCPUs of a node, None where they aren't known. Raises StorageError.
        """
        since = max(since, until - _WINDOW)
        minutes = 1 if until - since < _FINE else MINUTES
        first, last = _minute(since) // minutes, _minute(until - _MOMENT) // minutes
        window = _Window(account_id, pool_id, minutes, first, last, cores)
        known = self._known.get(window)
        if known is None or known[0] < until:
            if len(self._known) >= _MAX_KNOWN:
                self._known = {}
            known = self._known[window] = until, await self._read(window, since, until)
        return known[1]

    async def _read(self, window: _Window, since: datetime, until: datetime) -> NodeFigures | None:
        try:
            pools = await self._pool(window, until)
            (pool,) = pools.ids
            grids = (await self._reader.read(pools, _SELECTORS, Range(since, until, window.minutes))).get(pool, {})
        except (NotFoundError, HistoryRangeError):
            return None
        return _figures(grids, window.cores)

    async def _pool(self, window: _Window, until: datetime) -> OpenedPools:
        """Returns the pool with the last minutes of its nodes."""
        key = window.account_id, window.pool_id
        known = self._opened.get(key)
        if known is None or known[0] < until:
            opened = await self._reader.opened([await self._pools.pool_with_nodes(*key)])
            known = until, opened
            seen = sum(len(nodes) for pools in opened.last_seen for nodes in pools.values())
            self._opened.put(key, known, seen + 1)
        return known[1]


def _minute(moment: datetime) -> int:
    return to_milliseconds(moment) // _MINUTE


def _figures(grids: Mapping[Series, NodeGrid], cores: int | None) -> NodeFigures | None:
    found = [_statistics(grids, selector) for selector in _SELECTORS]
    known = [one.nodes for one in found if one]
    if not known:
        return None
    stolen, throttled, received, sent, memory, gpus = found
    return NodeFigures(
        nodes=max(known),
        stolen=stolen.mean if stolen else None,
        throttled=throttled.mean / cores if throttled and cores else None,
        network=received.mean + sent.mean if received and sent else None,
        memory=memory.mean if memory else None,
        gpus=gpus.mean if gpus else None,
    )


def _statistics(grids: Mapping[Series, NodeGrid], selector: MetricSelector) -> NodeStatistics | None:
    """Returns the statistics over nodes of each node's mean in the whole range, None without any value."""
    fitting = sorted((metric for metric in grids if selector.has(metric)), key=lambda one: len(one.attributes))
    return next((one for _, one in grids[fitting[0]].steps(_WHOLE)), None) if fitting else None
