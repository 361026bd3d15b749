"""Which nodes of a pool report, and why the others don't: from the pool's rows, the index of nodes, and sessions."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from shared.domain.agent.agent_file import NAME
from shared.domain.agent.node_reports import AgentReport, reason_of
from shared.domain.agent.rules.evidence import ReportEvidence
from shared.domain.blobs.uncharted_blobs import why_undrawn
from shared.domain.core.stamps import from_milliseconds, to_milliseconds
from shared.domain.nodes.nodes import Node
from shared.domain.reports.reports import NodeReport, PoolReport
from shared.domain.telemetry.pools.pool_reports import SILENT, MetricSelector, moment_of
from shared.domain.telemetry.query.ranges import Range
from shared.domain.telemetry.rollups.chunks import HOURS_A_DAY
from shared.domain.telemetry.sessions.node_facts import NodeFacts
from shared.services.blobs.ingestion_stores import IngestionStores
from shared.services.queries.pool_queries import PoolQueries
from shared.services.telemetry.node_sessions import NodeSessions, some_at_once
from shared.services.telemetry.pool_grids import PoolGridReader

_WAITING = MetricSelector("batchscope.agent.spool.usage", {})
_DROPPED = MetricSelector("batchscope.agent.records", {"batchscope.agent.state": "dropped"})
_HOUR = timedelta(hours=1)
_DAYS = timedelta(days=2)  # in which blobs without series are looked for
_MILLISECONDS = 3_600_000
_AT_ONCE = 8  # nodes: two or three reads each


@dataclass(frozen=True, slots=True)
class PoolReports:
    """A pool and its listed nodes in the order of keys, and by key the last minute with data of each.

    `waiting` are the latest bytes in spools, `dropped` the records that were dropped within an hour.
    """

    pool: PoolReport
    nodes: Sequence[NodeReport]
    seen: Mapping[str, datetime]
    waiting: Mapping[str, float]
    dropped: Mapping[str, float]

    @property
    def reporting(self) -> set[str]:
        """Returns the keys of nodes that report now."""
        return {key for key, moment in self.seen.items() if self.pool.now - moment <= SILENT}

    @property
    def first_start(self) -> datetime | None:
        """Returns when the first of the nodes that report began its start task; None where none reports."""
        reporting = self.reporting
        starts = [ReportEvidence(one.node).start for one in self.nodes if one.node.key in reporting]
        return min((start for start in starts if start), default=None)


class AgentReports:
    def __init__(self, pools: PoolQueries, stores: IngestionStores) -> None:
        self._pools, self._stores = pools, stores
        self._reader = PoolGridReader(stores.pool_telemetry)
        self._sessions = NodeSessions(stores.telemetry, stores.node_index, stores.entries)

    async def of_pool(self, account_id: str, pool_id: str) -> PoolReports:
        """Returns a pool's nodes with their last reports. Raises NotFoundError, StorageError."""
        report, listed = await self._pools.pool_with_nodes(account_id, pool_id)
        opened = await self._reader.opened([(report, listed)])
        (pool,) = opened.ids
        grids = await self._reader.read(opened, [_WAITING, _DROPPED], Range(report.now - _HOUR, report.now, 1))
        waiting: dict[str, float] = {}
        dropped: dict[str, float] = {}
        for metric, grid in grids.get(pool, {}).items():
            if metric.name == _WAITING.name:
                waiting |= {node: value for node, (_, value) in grid.latest().items()}
            else:
                dropped |= grid.totals()
        nodes = opened.nodes[pool]
        seen = {key: moment_of(minute) for key, minute in opened.seen(pool).items() if key in nodes}
        return PoolReports(report, listed, seen, waiting, dropped)

    async def described(self, found: PoolReports, shown: Sequence[NodeReport]) -> list[AgentReport]:
        """Returns the reports of some nodes of a pool, with the reason of each that is silent. Raises StorageError."""
        reporting, first_start = found.reporting, found.first_start  # over all nodes, so once
        return await some_at_once(lambda one: self._described(found, one.node, reporting, first_start), shown, _AT_ONCE)

    async def _described(
        self, found: PoolReports, node: Node, reporting: Collection[str], first_start: datetime | None
    ) -> AgentReport:
        account_key, pool = found.pool.account.key, found.pool.pool.facts
        seen, is_reporting = found.seen.get(node.key), node.key in reporting
        facts = await self._facts(account_key, pool.id, node.id, seen) if seen else NodeFacts()
        reason = None
        if not is_reporting:
            blob, unread = await self._unread(account_key, pool.id, node.id, found.pool.now)
            starts_agent = pool.start_task is not None and NAME in pool.start_task.command_line
            evidence = ReportEvidence(
                node, seen, blob=blob, unread=unread, starts_agent=starts_agent, first_start=first_start
            )
            reason = reason_of(evidence)
        waiting, dropped = found.waiting.get(node.key), found.dropped.get(node.key)
        return AgentReport(
            id=node.id,
            state=node.state,
            is_reporting=is_reporting,
            seen=seen,
            version=facts.agent_version,
            began=facts.agent_began_at,
            waiting_bytes=None if waiting is None else round(waiting),
            dropped_records=None if dropped is None else round(dropped),
            reason=reason,
        )

    async def _facts(self, account_key: str, pool: str, node: str, seen: datetime) -> NodeFacts:
        """Returns the facts of the latest agent of a node on the day of its last report."""
        hour = to_milliseconds(seen) // _MILLISECONDS
        sessions = await self._sessions.find(account_key, pool, node, (hour, hour))
        facts = [session.facts for some in sessions.values() for session in some if session.facts.agent_version]
        return max(facts, key=lambda one: one.agent_began_at or from_milliseconds(0), default=NodeFacts())

    async def _unread(self, account_key: str, pool: str, node: str, now: datetime) -> tuple[str, str]:
        """Returns a blob of the node that arrived without series lately, and why; two empty texts for none."""
        first, last = (to_milliseconds(at) // _MILLISECONDS // HOURS_A_DAY for at in (now - _DAYS, now))
        arrived = await self._stores.node_index.load_arrivals(account_key, pool, node, first=first, last=last, most=1)
        for one in arrived:
            counts = await self._stores.telemetry.load_left_out(one.rows.partition, {one.rows.owner})
            return one.blob, why_undrawn(one.format, counts)
        return "", ""
