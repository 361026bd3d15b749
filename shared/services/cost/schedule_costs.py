"""Answers about the costs of job schedules: of each run, to compare them, from the days on which they ran."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from shared.domain.core.stamps import from_milliseconds
from shared.domain.cost.priced_days import PricedDay, Sharing
from shared.domain.cost.run_costs import RunCost, day_blocks, run_cost, run_days
from shared.domain.reports.schedule_reports import ScheduleReport
from shared.services.accounts.registry import Registry
from shared.services.prices.price_queries import PriceQueries
from shared.services.queries.schedule_queries import ScheduleQueries
from shared.stores.usage_days import Part, UsageDayStore

_JOBS: tuple[Part, ...] = ("jobs",)


@dataclass(frozen=True, slots=True)
class ScheduleCostReport:
    """The costs of a job schedule's latest runs, latest first; `as_of` is None where none of their days is stored."""

    report: ScheduleReport
    currency: str
    as_of: datetime | None
    runs: Sequence[RunCost]


class ScheduleCostQueries:
    def __init__(
        self, registry: Registry, schedules: ScheduleQueries, days: UsageDayStore, prices: PriceQueries
    ) -> None:
        self._registry = registry
        self._schedules = schedules
        self._days = days
        self._prices = prices

    async def of_schedule(
        self, account_id: str, schedule_id: str, sharing: Sharing, *, runs: int
    ) -> ScheduleCostReport:
        """Returns the costs of a job schedule's latest `runs` runs. Raises NotFoundError, StorageError."""
        report = await self._schedules.schedule(account_id, schedule_id)
        now, jobs = await self._registry.clock.now(), [one.job for one in report.jobs[:runs]]
        spans = [run_days(job, now) for job in jobs]
        reads = [self._days.load(report.account.key, block, _JOBS) for block in day_blocks(spans)]
        prices = await self._prices.table(report.account)
        stored = {day: PricedDay(one, prices) for some in await asyncio.gather(*reads) for day, one in some.items()}
        as_of = max((one.usage.as_of for one in stored.values()), default=None)
        costs = [run_cost(job, days, stored, sharing) for job, days in zip(jobs, spans, strict=True)]
        return ScheduleCostReport(report, prices.currency, None if as_of is None else from_milliseconds(as_of), costs)
