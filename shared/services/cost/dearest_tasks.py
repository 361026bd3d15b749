"""Finds the dearest tasks of a job in the cache, without requests to Batch."""

from collections.abc import Iterable, Sequence
from contextlib import aclosing

from shared.domain.core.stamps import to_milliseconds
from shared.domain.cost.dear_tasks import DearestTasks, DearTask
from shared.domain.cost.usage_days import UsageDay
from shared.domain.prices.price_table import PriceTable
from shared.domain.reports.reports import JobReport
from shared.domain.timeline.timeline import runs_of
from shared.services.tasks.leaf_reader import LeafReader

MAX_UNASKED = 20_000
"""The most tasks of a job that are read where nobody asks for the dearest."""


async def dearest_tasks(
    leaves: LeafReader, report: JobReport, days: Iterable[UsageDay], prices: PriceTable
) -> Sequence[DearTask]:
    """Returns the dearest tasks of a job, dearest first; reads all of its leaves. Raises CacheConflictError."""
    known = to_milliseconds(report.verdict.as_of or report.job.facts.creation_time)
    found = DearestTasks.of_days(days, prices, known)
    async with aclosing(leaves.slices(report.account.id, report.job.facts.id)) as slices:
        async for part in slices:
            found.take(runs_of(part.leaf, part.places))
    return found.tasks()
