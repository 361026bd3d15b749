"""When each node ran which tasks of a job, from the cache, without requests to Batch."""

from contextlib import aclosing
from datetime import datetime

from shared.domain.core.stamps import to_milliseconds
from shared.domain.reports.reports import TimelineReport
from shared.domain.timeline.timeline import RunStatistics, Timeline, Window, runs_of
from shared.domain.timeline.timeline_buckets import NodeBuckets
from shared.services.queries.queries import Queries
from shared.services.tasks.leaf_reader import LeafReader


class Timelines:
    def __init__(self, queries: Queries, walk: LeafReader) -> None:
        self._queries = queries
        self._walk = walk

    async def timeline(
        self, account_id: str, job_id: str, *, start: datetime | None, end: datetime | None
    ) -> TimelineReport:
        """Returns the runs from `start` (None: the first) until before `end` (None: the last); two passes if many.

        Raises NotFoundError, CacheConflictError.
        """
        report = await self._queries.job(account_id, job_id)
        as_of = report.verdict.as_of
        known = to_milliseconds(as_of or report.job.facts.creation_time)
        window = Window(
            None if start is None else to_milliseconds(start), None if end is None else to_milliseconds(end), known
        )
        census = RunStatistics(window)
        await self._show(account_id, job_id, census)
        nodes = census.nodes()
        if census.is_full:
            buckets = NodeBuckets(census.start, census.end, known, census.busiest())
            await self._show(account_id, job_id, buckets)
            nodes = buckets.nodes()
        timeline = Timeline(census.start, census.end, nodes, census.other_nodes(), census.is_full)
        return TimelineReport(as_of, timeline)

    async def _show(self, account_id: str, job_id: str, to: RunStatistics | NodeBuckets) -> None:
        async with aclosing(self._walk.slices(account_id, job_id)) as slices:
            async for part in slices:
                to.take(runs_of(part.leaf, part.places))
