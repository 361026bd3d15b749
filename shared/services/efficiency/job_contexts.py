"""Reads what is known of a job beside its measured runs: its limit, kills, start-ups, and figures of its nodes."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from shared.domain.core.keys import key_of
from shared.domain.cost.job_node_use import NodeKindTime
from shared.domain.efficiency.job_context import (
    BatchRuns,
    JobContext,
    Kills,
    NodeKindUse,
    StartUpTime,
    TimeLimit,
)
from shared.domain.events.batch_events import BatchEvent
from shared.domain.events.event_lists import EventFilter, Position
from shared.domain.events.node_events import OOM_KILL
from shared.domain.jobs.jobs import COMPLETED, JobFacts
from shared.domain.reports.reports import JobReport
from shared.services.cost.cost_queries import JobCostReport
from shared.services.efficiency.node_figures import NodeFigureReader
from shared.services.efficiency.task_limits import TaskLimitReader
from shared.services.events.event_queries import EventQueries

_MAX_KILLS, _MAX_PAGES = 1_000, 5
_TIMED_OUT = "maxwallclocktimeexpiry"


class JobContextReader:
    def __init__(self, events: EventQueries, nodes: NodeFigureReader, limits: TaskLimitReader) -> None:
        self._events = events
        self._nodes = nodes
        self._limits = limits

    async def context(
        self, cost: JobCostReport, last_end: datetime, cores: int | None, examples: Sequence[str] = ()
    ) -> JobContext:
        """Returns the context of a job whose last measured run ended then, on nodes of so many vCPUs.

        The time limit of tasks is that of `examples`.

        Raises NotFoundError, StorageError.
        """
        use, found = cost.use, await self.without_costs(cost.report, last_end, cores)
        return replace(
            found,
            task_limit=await self._limits.limit(cost.report, examples) if examples else None,
            start_ups=StartUpTime(use.starting, use.held) if use.held else None,
            dedicated=_kind_use(use.dedicated),
            spot=_kind_use(use.spot),
        )

    async def without_costs(
        self, report: JobReport, last_end: datetime, cores: int | None, *, with_nodes: bool = True
    ) -> JobContext:
        """Returns what of the context isn't known from costs; also without figures of nodes, which take many reads.

        Raises NotFoundError, StorageError.
        """
        facts = report.job.facts
        kills = await self._kills(report.account.id, facts)
        found = await self.of_nodes(report, last_end, cores) if with_nodes else JobContext()
        return replace(found, time_limit=_time_limit(facts), runs=_runs(report), kills=kills)

    async def of_nodes(self, report: JobReport, last_end: datetime, cores: int | None) -> JobContext:
        """Returns figures of nodes alone, which jobs of a pool share. Raises StorageError."""
        facts = report.job.facts
        nodes = await self._nodes.figures(report.account.id, facts.pool_id or "", facts.creation_time, last_end, cores)
        return JobContext(nodes=nodes)

    async def _kills(self, account_id: str, facts: JobFacts) -> Kills | None:
        """Returns the tasks that were killed, as far as some pages of the account's events show."""
        wanted = EventFilter(
            jobs=frozenset({facts.id}), kinds=frozenset({OOM_KILL}), since=facts.creation_time, until=facts.end_time
        )
        killed = list[BatchEvent]()
        after: Position | None = None
        for _ in range(_MAX_PAGES):
            page = await self._events.events(account_id, wanted, after=after, most=_MAX_KILLS - len(killed))
            killed += [event for event in page.events if event.task]
            after = page.more
            if after is None or len(killed) >= _MAX_KILLS:
                break
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


def _runs(report: JobReport) -> BatchRuns | None:
    """Returns what the stored counts and statistics say of the job's runs, None before its first read."""
    facts, snapshot = report.job.facts, report.job.snapshot
    if snapshot is None:
        return None
    statistics = snapshot.statistics.unpack() if snapshot.statistics else None
    are_over = facts.state == COMPLETED or snapshot.counts.completed == snapshot.counts.total
    if statistics is None or not statistics.runs.count:
        return BatchRuns(are_over)
    return BatchRuns(are_over, *(timedelta(milliseconds=end) for end in statistics.runs.highest))


def _kind_use(found: NodeKindTime) -> NodeKindUse:
    return NodeKindUse(found.held, found.interrupted, found.cost, found.otherwise)
