"""Figures of a pool's nodes while a job ran, from rows of shards: CPU time that they lost, network, memory and GPUs."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from shared.domain.efficiency.job_context import NodeFigures
from shared.domain.telemetry.catalog.field_mappings import SOURCE
from shared.domain.telemetry.catalog.series import Series
from shared.domain.telemetry.pools.blocks import MINUTES
from shared.domain.telemetry.pools.node_grid import NodeGrid, NodeStatistics
from shared.domain.telemetry.pools.node_metrics import HIGHEST
from shared.domain.telemetry.pools.pool_reports import GPU, RECEIVED, SENT, MetricSelector
from shared.domain.telemetry.query.ranges import Range
from shared.errors import HistoryRangeError, NotFoundError
from shared.services.queries.pool_queries import PoolQueries
from shared.services.telemetry.pool_grids import PoolGridReader
from shared.stores.telemetry.pool_telemetry import PoolTelemetryStore

_DEVICE, _SOURCE = HIGHEST[0], SOURCE[0]
_STOLEN = MetricSelector("system.cpu.utilization", {"cpu.mode": "steal", _DEVICE: "", _SOURCE: ""})
_THROTTLED = MetricSelector("batchscope.container.cpu.throttled", {_DEVICE: "", _SOURCE: ""})
_MEMORY = MetricSelector("system.memory.limit", {_SOURCE: ""})
_SELECTORS = (_STOLEN, _THROTTLED, RECEIVED, SENT, _MEMORY, GPU)
_WINDOW, _FINE = timedelta(hours=3), timedelta(hours=1)
_WHOLE = 1 << 40  # minutes of a step that has the whole range
_MAX_KNOWN = 500
type _Name = tuple[str, str, datetime, datetime]


class NodeFigureReader:
    """Reads figures of pools' nodes; those of a time that was read before come from memory."""

    def __init__(self, pools: PoolQueries, store: PoolTelemetryStore) -> None:
        self._pools = pools
        self._reader = PoolGridReader(store)
        self._known: dict[_Name, NodeFigures | None] = {}

    async def figures(
        self, account_id: str, pool_id: str, since: datetime, until: datetime, cores: int | None
    ) -> NodeFigures | None:
        """Returns the figures of at most the last three hours before `until`; None where no node reported any.

        `cores` are the vCPUs of a node, None where they aren't known. Raises StorageError.
        """
        since = max(since, until - _WINDOW)
        name = account_id, pool_id, since, until
        if name not in self._known:
            if len(self._known) >= _MAX_KNOWN:
                self._known = {}
            self._known[name] = await self._read(account_id, pool_id, since, until, cores)
        return self._known[name]

    async def _read(
        self, account_id: str, pool_id: str, since: datetime, until: datetime, cores: int | None
    ) -> NodeFigures | None:
        try:
            pools = await self._reader.opened([await self._pools.pool_with_nodes(account_id, pool_id)])
            (pool,) = pools.ids
            wanted = Range(since, until, 1 if until - since < _FINE else MINUTES)
            grids = (await self._reader.read(pools, _SELECTORS, wanted)).get(pool, {})
        except (NotFoundError, HistoryRangeError):
            return None
        return _figures(grids, cores)


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
