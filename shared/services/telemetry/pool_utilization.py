"""The present utilization of an account's pools, for metrics: read once a minute, however often it is asked for."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from shared.clock import Clock
from shared.domain.nodes.nodes import Node
from shared.domain.telemetry.catalog.series import Series
from shared.domain.telemetry.pools.node_grid import NodeGrid, statistics_of
from shared.domain.telemetry.pools.pool_reports import SILENT, UTILIZATION, PoolUtilization, reporting_of
from shared.domain.telemetry.query.ranges import Range
from shared.services.queries.pool_queries import PoolQueries
from shared.services.telemetry.node_sessions import some_at_once
from shared.services.telemetry.pool_grids import PoolGridReader
from shared.stores.telemetry.pool_telemetry import PoolTelemetryStore

_FRESH = timedelta(minutes=1)


class PoolUtilizationQueries:
    """The utilization of pools as of the last minutes; each host remembers it for a minute."""

    def __init__(self, pools: PoolQueries, store: PoolTelemetryStore, clock: Clock) -> None:
        self._pools = pools
        self._reader = PoolGridReader(store)
        self._clock = clock
        self._known: dict[str, tuple[datetime, Sequence[PoolUtilization]]] = {}

    async def of_account(self, account_id: str) -> Sequence[PoolUtilization]:
        """Returns the utilization of each pool of an account of which any node ever reported.

        Raises NotFoundError, StorageError.
        """
        now = await self._clock.now()
        read_at, found = self._known.get(account_id, (None, ()))
        if read_at is None or not timedelta() <= now - read_at < _FRESH:
            found = await self._read(account_id, now)
            self._known[account_id] = now, found
        return found

    async def _read(self, account_id: str, now: datetime) -> Sequence[PoolUtilization]:
        ids = [report.pool.facts.id for report in await self._pools.pools(account_id)]
        listed = await some_at_once(lambda pool: self._pools.pool_with_nodes(account_id, pool), ids)
        if not listed:
            return ()
        pools = await self._reader.opened(listed)
        grids = await self._reader.read(pools, UTILIZATION, Range(now - SILENT, now, 1))
        found = []
        for pool, name in pools.ids.items():
            reporting = reporting_of(pools.nodes[pool], pools.seen(pool), now)
            if reporting.has_any:
                values = _values(grids.get(pool, {}), pools.nodes[pool])
                statistics = [statistics_of(list(one.values())) if one else None for one in values]
                found.append(PoolUtilization(account_id, name, reporting, statistics, values))
        return found


def _values(grids: Mapping[Series, NodeGrid], nodes: Mapping[str, Node]) -> list[dict[str, float]]:
    """Returns the latest values of listed nodes by id, for each metric of UTILIZATION."""
    found = []
    for selector in UTILIZATION:
        fitting = sorted((metric for metric in grids if selector.has(metric)), key=lambda one: len(one.attributes))
        latest = grids[fitting[0]].latest() if fitting else {}
        found.append({nodes[key].id: value for key, (_, value) in latest.items() if key in nodes})
    return found
