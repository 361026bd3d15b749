"""Efficiency and waste of an account's jobs over weeks: by prefix of ids, job schedule, metadata or tag.

An answer reads a row of use and two of usage for each day, three in ranges short enough for the rules on waste, however
many jobs and runs there were, and no run.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal

from shared.domain.accounts.accounts import Account
from shared.domain.core.stamps import from_milliseconds, to_milliseconds
from shared.domain.cost.cost_groups import CostSum, LabelGrouping
from shared.domain.cost.cost_ranges import CostRange, cost_range
from shared.domain.cost.priced_days import NO_JOB, PricedDay
from shared.domain.cost.usage_days import DAY, UsageDay
from shared.domain.efficiency.day_use import DayUse, latest_advice
from shared.domain.efficiency.task_groups import prefix_of
from shared.domain.efficiency.used_shares import UsedShares
from shared.errors import HistoryRangeError
from shared.services.accounts.registry import Registry
from shared.services.efficiency.account_savings import (
    MAX_SAVINGS_OF_WASTE,
    Saving,
    SavingsTally,
    best_savings,
    waste_of,
)
from shared.services.prices.price_queries import PriceQueries
from shared.stores.pools.pools import PoolStore
from shared.stores.telemetry.day_use import DayUseStore
from shared.stores.usage_days import Part, UsageDayStore

_WEEK, _DAY = timedelta(days=7), timedelta(days=1)
_JOBS: tuple[Part, ...] = ("jobs",)
_WITH_HOURS: tuple[Part, ...] = ("hours", "jobs")
type JobGrouping = Literal["prefix", "schedule"] | LabelGrouping
type _Namer = Callable[[str, str, str], str]
"""Returns the group of a job, by its key, its id, and the key of a pool."""


@dataclass(slots=True)
class EfficiencySum:
    """Costs with their share of idle time, used shares of measured runs, and the keys of the jobs that had any."""

    cost: CostSum = field(default_factory=CostSum)
    shares: UsedShares = field(default_factory=UsedShares)
    jobs: set[str] = field(default_factory=set)

    def add_sum(self, other: "EfficiencySum") -> None:
        self.cost.add_sum(other.cost)
        self.shares = self.shares.plus(other.shares)
        self.jobs |= other.jobs


@dataclass(slots=True)
class EfficiencyGroup:
    """The sums of a group by the start of the step."""

    steps: defaultdict[datetime, EfficiencySum] = field(default_factory=lambda: defaultdict(EfficiencySum))

    @property
    def total(self) -> EfficiencySum:
        found = EfficiencySum()
        for one in self.steps.values():
            found.add_sum(one)
        return found


@dataclass(frozen=True, slots=True)
class AccountEfficiencyReport:
    """Groups by name, and the most rewarding changes, by money; `as_of` is None without stored usage.

    `missing` are the days without stored usage, `labels` the names of metadata and tags that are kept.
    """

    account: Account
    wanted: CostRange
    currency: str
    as_of: datetime | None
    groups: Mapping[str, EfficiencyGroup]
    savings: Sequence[Saving]
    missing: Sequence[int]
    labels: Collection[str]


class AccountEfficiencyQueries:
    def __init__(
        self,
        registry: Registry,
        days: UsageDayStore,
        use: DayUseStore,
        pools: PoolStore,
        prices: PriceQueries,
        *,
        labels: Collection[str] = (),
    ) -> None:
        """`labels` are the names of metadata and tags by whose values jobs are grouped."""
        self._registry = registry
        self._days = days
        self._use = use
        self._pools = pools
        self._prices = prices
        self._labels = labels

    async def of_account(
        self,
        account_id: str,
        grouping: JobGrouping,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        step: timedelta | None = None,
    ) -> AccountEfficiencyReport:
        """Returns the efficiency of an account's jobs in groups.

        Raises NotFoundError, HistoryRangeError, StorageError.
        """
        account = self._registry.account(account_id)
        if isinstance(grouping, LabelGrouping) and grouping.name not in self._labels:
            raise HistoryRangeError(
                f"Values of '{grouping.name}' aren't kept: name it in COST_LABELS.", target="groupBy"
            )
        now = await self._registry.clock.now()
        wanted, today = cost_range(since, until, _WEEK if step is None else step, now), to_milliseconds(now) // DAY
        if wanted.step < _DAY:
            raise HistoryRangeError("Efficiency is known by day: take a step of P1D or P7D.", target="step")
        parts = _JOBS if len(wanted.days) > MAX_SAVINGS_OF_WASTE else _WITH_HOURS
        stored = await self._days.load(account.key, wanted.days, parts)
        pools = (await self._pools.load_known(account.key)).resources
        use = await self._use.load(account.key, wanted.days)
        prices = await self._prices.table(account)
        groups, tally = defaultdict[str, EfficiencyGroup](EfficiencyGroup), SavingsTally()
        for day in wanted.days:
            usage, used = stored.get(day, UsageDay(day, 0)), use.get(day, DayUse())
            _add_day(groups, tally, PricedDay(usage, prices), used, grouping=grouping, wanted=wanted)
        priced = [PricedDay(stored[day], prices) for day in sorted(stored)]
        waste = waste_of(priced, pools, today) if "hours" in parts else []
        return AccountEfficiencyReport(
            account,
            wanted,
            prices.currency,
            from_milliseconds(max(day.as_of for day in stored.values())) if stored else None,
            groups,
            best_savings(tally, latest_advice(use[day] for day in sorted(use)), waste),
            wanted.missing_from(stored),
            self._labels,
        )


def _add_day(
    groups: defaultdict[str, EfficiencyGroup],
    tally: SavingsTally,
    day: PricedDay,
    used: DayUse,
    *,
    grouping: JobGrouping,
    wanted: CostRange,
) -> None:
    """Adds a day to the groups, and to what jobs and pools cost."""
    usage, start, name_of = day.usage, wanted.step_of(day.since), _namer(day.usage, grouping)
    names = dict[str, str]()
    tally.begin(day)
    for line in day.job_lines("proportional"):
        job_id = usage.jobs[line.job].job_id if line.job in usage.jobs else ""
        name = names[line.job] = name_of(line.job, job_id, line.pool)
        groups[name].steps[start].cost.add(line)
        tally.add(day, line)
    for key, one in used.jobs.items():
        sums = groups[names[key] if key in names else name_of(key, one.job_id, "")].steps[start]
        sums.shares = sums.shares.plus(one.shares)
        sums.jobs.add(key)


def _namer(day: UsageDay, grouping: JobGrouping) -> _Namer:
    """Returns the function that names groups; those without a name are NO_JOB."""
    if grouping == "prefix":
        return lambda _key, job_id, _pool: prefix_of(job_id)
    if grouping == "schedule":
        return lambda _key, job_id, _pool: job_id.rpartition(":")[0]
    name, nothing = grouping.name, dict[str, str]()
    if grouping.source == "tag":
        return lambda _key, _job_id, _pool: day.tags.get(name, NO_JOB)

    def of_label(key: str, _job_id: str, pool: str) -> str:
        of_pool = day.pool_labels.get(pool, nothing).get(name, NO_JOB)
        return day.job_labels.get(key, nothing).get(name, of_pool)

    return of_label
