"""Answers about the costs of an account, from the stored usage of days and the prices of then."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal

from shared.domain.accounts.accounts import Account
from shared.domain.core.stamps import from_milliseconds, to_milliseconds
from shared.domain.cost.cost_groups import (
    CostGroup,
    CostTable,
    Grouping,
    LabelGrouping,
    cost_table,
    is_of_jobs,
)
from shared.domain.cost.cost_ranges import MAX_DAYS, CostRange, cost_range
from shared.domain.cost.cost_summary import CostSummary, cost_summary, days_of_summary
from shared.domain.cost.dear_tasks import DearTask
from shared.domain.cost.job_costs import (
    JobForecast,
    TaskCost,
    ended_as_of,
    ended_runs,
    expected_costs,
    job_cost,
)
from shared.domain.cost.job_node_use import JobNodeUse, job_node_use
from shared.domain.cost.pool_costs import BilledCost, billed_costs
from shared.domain.cost.priced_days import PricedDay, Sharing
from shared.domain.cost.run_costs import run_days
from shared.domain.cost.usage_days import DAY
from shared.domain.prices.price_table import PriceTable
from shared.domain.reports.reports import JobReport
from shared.errors import HistoryRangeError
from shared.services.accounts.registry import Registry
from shared.services.cost.dearest_tasks import MAX_UNASKED, dearest_tasks
from shared.services.cost.pool_days import pool_day
from shared.services.prices.price_queries import PriceQueries
from shared.services.queries.queries import Queries
from shared.services.queries.usage_queries import UsageQueries, UsageReport
from shared.services.tasks.leaf_reader import LeafReader
from shared.stores.usage_days import Part, UsageDayStore

_JOBS: tuple[Part, ...] = ("jobs",)
_ERA = date(1970, 1, 1).toordinal()


@dataclass(frozen=True, slots=True)
class CostReport:
    """The costs of a range in one currency, as of the last roll-up of its last day; None without any.

    `missing` are the days without stored usage, `labels` the names of metadata and tags that are kept.
    """

    account: Account
    wanted: CostRange
    currency: str
    as_of: datetime | None
    table: CostTable
    missing: Sequence[int]
    labels: Collection[str]


@dataclass(frozen=True, slots=True)
class CostSummaryReport:
    """An account's costs at a glance.

    Of the days read for it, `unpriced` are milliseconds of nodes without a price, `missing` those without stored usage.
    """

    account: Account
    currency: str
    as_of: datetime | None
    summary: CostSummary
    unpriced: int
    missing: Sequence[int]


@dataclass(frozen=True, slots=True)
class JobCostReport:
    """A job's costs so far, by day; `task` and `forecast` are None where too few tasks completed, or none is left.

    Both hold as of the last roll-up; `as_of` is earlier where the nodes of a pool can't be listed. `missing` are the
    days from its creation to its end without stored usage; with any before today `task` and `forecast` aren't known.
    `dearest` tasks are None where they weren't looked for. `use` is what its tasks held on nodes of both
    kinds. `prices` and `region` are those of the account.
    """

    report: JobReport
    currency: str
    wanted: CostRange
    as_of: datetime | None
    cost: CostGroup
    missing: Sequence[int]
    task: TaskCost | None
    forecast: JobForecast | None
    dearest: Sequence[DearTask] | None
    use: JobNodeUse
    prices: PriceTable
    region: str | None


@dataclass(frozen=True, slots=True)
class PoolCostReport:
    """A pool's node seconds, and what they cost: in total, and in each step; None where prices can't be looked up."""

    usage: UsageReport
    currency: str
    total: BilledCost | None
    steps: Sequence[BilledCost | None]


class CostQueries:
    def __init__(
        self,
        registry: Registry,
        jobs: Queries,
        usage: UsageQueries,
        days: UsageDayStore,
        prices: PriceQueries,
        *,
        leaves: LeafReader,
        labels: Collection[str] = (),
    ) -> None:
        """`labels` are the names of metadata and tags by whose values costs are grouped."""
        self._labels = labels
        self._registry = registry
        self._leaves = leaves
        self._usage = usage
        self._jobs = jobs
        self._days = days
        self._prices = prices

    async def summary(self, account_id: str) -> CostSummaryReport:
        """Returns an account's costs of today, yesterday and this month, with a forecast. Raises NotFoundError."""
        account, now = self._registry.account(account_id), await self._registry.clock.now()
        first, end = (day.toordinal() - _ERA for day in days_of_summary(now.date()))
        wanted = CostRange(range(first, end))
        stored = await self._days.load(account.key, wanted.days)
        prices = await self._prices.table(account)
        amounts, unpriced = dict[date, Decimal](), 0
        for day in stored.values():
            found = cost_table([PricedDay(day, prices)], "day", "none", wanted).total.total
            if found.amount is not None:
                amounts[date.fromordinal(_ERA + day.day)] = found.amount
            unpriced += found.unpriced
        as_of = from_milliseconds(max(day.as_of for day in stored.values())) if stored else None
        summary, missing = cost_summary(amounts, now.date()), wanted.missing_from(stored)
        return CostSummaryReport(account, prices.currency, as_of, summary, unpriced, missing)

    async def of_job(
        self, account_id: str, job_id: str, sharing: Sharing, *, dearest: bool | None = None
    ) -> JobCostReport:
        """Returns a job's costs since its creation. Raises NotFoundError, CacheConflictError, StorageError.

        It looks for the `dearest` tasks or not; None: only where the job has at most MAX_UNASKED tasks.
        """
        report = await self._jobs.job(account_id, job_id)
        now = await self._registry.clock.now()
        today, days = to_milliseconds(now) // DAY, run_days(report.job, now)
        last = min(days.stop, today + 1)
        wanted = CostRange(range(max(days.start, last - MAX_DAYS), last))
        stored = await self._days.load(report.account.key, wanted.days, _JOBS)
        prices = await self._prices.table(report.account)
        priced = [PricedDay(day, prices) for day in stored.values()]
        cost, use = job_cost(priced, report.job.key, sharing), job_node_use(priced, report.job.key)
        missing = [day for day in wanted.missing_from(stored) if day in days]
        snapshot = report.job.snapshot
        as_of = from_milliseconds(max(day.as_of for day in stored.values())) if stored else None
        task, forecast = None, None
        if as_of and all(day >= today for day in missing):
            ended = ended_runs(priced, report.job.key, int(report.job.facts.creation_time.timestamp()))
            task, forecast = expected_costs(cost.total, ended, report.job, ended_as_of(stored.values()))
        found = None
        if dearest or (dearest is None and snapshot and snapshot.counts.total <= MAX_UNASKED):
            found = await dearest_tasks(self._leaves, report, stored.values(), prices)
        return JobCostReport(
            report=report,
            currency=prices.currency,
            wanted=wanted,
            as_of=as_of,
            cost=cost,
            missing=missing,
            task=task,
            forecast=forecast,
            dearest=found,
            use=use,
            prices=prices,
            region=self._prices.region_of(report.account),
        )

    async def of_pool(
        self,
        account_id: str,
        pool_id: str,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        step: timedelta | None = None,
    ) -> PoolCostReport:
        """Returns a pool's node seconds and their costs. Raises NotFoundError, HistoryRangeError, StorageError."""
        usage = await self._usage.of_pool(account_id, pool_id, since=since, until=until, step=step)
        pool = pool_day(usage.facts, usage.ledger, self._prices.region_of(usage.account))
        prices = await self._prices.table(usage.account)
        if pool is None:
            return PoolCostReport(usage, prices.currency, None, [None] * len(usage.steps))
        steps = billed_costs(usage.hours, usage.wanted, pool, prices)
        return PoolCostReport(usage, prices.currency, sum(steps, BilledCost()), steps)

    async def of_account(
        self,
        account_id: str,
        grouping: Grouping | LabelGrouping,
        sharing: Sharing,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        step: timedelta | None = None,
    ) -> CostReport:
        """Returns an account's costs in groups. Raises NotFoundError, HistoryRangeError, StorageError."""
        account = self._registry.account(account_id)
        wanted = cost_range(since, until, step, await self._registry.clock.now())
        if isinstance(grouping, LabelGrouping) and grouping.name not in self._labels:
            raise HistoryRangeError(
                f"Values of '{grouping.name}' aren't kept: name it in COST_LABELS.", target="groupBy"
            )
        of_jobs = is_of_jobs(grouping)
        if of_jobs and wanted.hourly:
            raise HistoryRangeError("Costs of jobs are known by day: leave the step out, or take P1D.", target="step")
        parts: tuple[Part, ...] = _JOBS if of_jobs else ("hours",) if wanted.hourly else ()
        stored = await self._days.load(account.key, wanted.days, parts)
        prices = await self._prices.table(account)
        found = [stored[day] for day in wanted.days if day in stored]
        table = cost_table([PricedDay(day, prices) for day in found], grouping, sharing, wanted)
        as_of = from_milliseconds(found[-1].as_of) if found else None
        missing = wanted.missing_from(stored)
        return CostReport(account, wanted, prices.currency, as_of, table, missing, self._labels)
