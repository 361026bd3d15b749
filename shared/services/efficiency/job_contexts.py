"""Reads what is known of a job beside its measured runs: its limit, kills, start-ups, and figures of its nodes."""

import asyncio
from datetime import datetime, timedelta

from shared.domain.core.keys import key_of
from shared.domain.cost.job_node_use import NodeKindTime
from shared.domain.efficiency.job_context import JobContext, Kills, NodeKindUse, StartUpTime, TimeLimit
from shared.domain.events.event_lists import EventFilter
from shared.domain.events.node_events import OOM_KILL
from shared.domain.jobs.jobs import COMPLETED, JobFacts
from shared.services.cost.cost_queries import JobCostReport
from shared.services.efficiency.node_figures import NodeFigureReader
from shared.services.events.event_queries import EventQueries

_MAX_KILLS = 1_000
_TIMED_OUT = "maxwallclocktimeexpiry"


class JobContextReader:
    def __init__(self, events: EventQueries, nodes: NodeFigureReader) -> None:
        self._events = events
        self._nodes = nodes

    async def context(self, cost: JobCostReport, last_end: datetime, cores: int | None) -> JobContext:
        """Returns the context of a job whose last measured run ended then, on nodes of so many vCPUs.

        Raises NotFoundError, StorageError.
        """
        report = cost.report
        facts, use = report.job.facts, cost.use
        kills, nodes = await asyncio.gather(
            self._kills(report.account.id, facts),
            self._nodes.figures(report.account.id, facts.pool_id or "", facts.creation_time, last_end, cores),
        )
        return JobContext(
            time_limit=_time_limit(facts),
            kills=kills,
            start_ups=StartUpTime(use.starting, use.held) if use.held else None,
            dedicated=_kind_use(use.dedicated),
            spot=_kind_use(use.spot),
            nodes=nodes,
        )

    async def _kills(self, account_id: str, facts: JobFacts) -> Kills | None:
        wanted = EventFilter(
            jobs=frozenset({facts.id}), kinds=frozenset({OOM_KILL}), since=facts.creation_time, until=facts.end_time
        )
        page = await self._events.events(account_id, wanted, after=None, most=_MAX_KILLS)
        killed = [event for event in page.events if event.task]
        if not killed:
            return None
        is_limit = all(event.properties.get("is_cgroup_limit") is True for event in killed)
        return Kills(len({key_of(event.task or "") for event in killed}), is_limit)


def _time_limit(facts: JobFacts) -> TimeLimit | None:
    """Returns the limit of a completed job that didn't reach it."""
    limit, end = facts.rules.max_wall_clock_time, facts.end_time
    if facts.state != COMPLETED or limit is None or end is None or (facts.terminate_reason or "").lower() == _TIMED_OUT:
        return None
    return TimeLimit(limit, max(end - facts.creation_time, timedelta()))


def _kind_use(found: NodeKindTime) -> NodeKindUse:
    return NodeKindUse(found.held, found.interrupted, found.cost, found.otherwise)
