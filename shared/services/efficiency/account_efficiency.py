"""Efficiency and waste of an account's jobs over weeks: by prefix of ids, job schedule, metadata or tag.

An answer reads a row of use and two of usage for each day, however many jobs and runs there were, and no run.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Literal, NamedTuple

from shared.domain.accounts.accounts import Account
from shared.domain.core.stamps import from_milliseconds
from shared.domain.cost.allocation import OUTCOMES
from shared.domain.cost.cost_groups import CostSum, LabelGrouping
from shared.domain.cost.cost_ranges import CostRange, cost_range
from shared.domain.cost.priced_days import NO_JOB, PricedDay
from shared.domain.cost.usage_days import UsageDay
from shared.domain.efficiency.day_use import Advice, DayUse, latest_advice
from shared.domain.efficiency.task_groups import prefix_of
from shared.domain.efficiency.used_shares import UsedShares
from shared.errors import HistoryRangeError
from shared.services.accounts.registry import Registry
from shared.services.prices.price_queries import PriceQueries
from shared.stores.telemetry.day_use import DayUseStore
from shared.stores.usage_days import Part, UsageDayStore

MAX_SAVINGS = 10
_WEEK, _DAY = timedelta(days=7), timedelta(days=1)
_HELD = frozenset(OUTCOMES)
_JOBS: tuple[Part, ...] = ("jobs",)
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


class Saving(NamedTuple):
    """Advice on a job, what its tasks held in the range, and what of that the advice would have saved."""

    job_id: str
    advice: Advice
    held: Decimal
    amount: Decimal


@dataclass(frozen=True, slots=True)
class AccountEfficiencyReport:
    """Groups by name, and the most rewarding advice, one a job, by money; `as_of` is None without stored usage.

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
        prices: PriceQueries,
        labels: Collection[str] = (),
    ) -> None:
        """`labels` are the names of metadata and tags by whose values jobs are grouped."""
        self._registry = registry
        self._days = days
        self._use = use
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
        wanted = cost_range(since, until, _WEEK if step is None else step, await self._registry.clock.now())
        if wanted.step < _DAY:
            raise HistoryRangeError("Efficiency is known by day: take a step of P1D or P7D.", target="step")
        stored = await self._days.load(account.key, wanted.days, _JOBS)
        use = await self._use.load(account.key, wanted.days)
        prices = await self._prices.table(account)
        groups, held = defaultdict[str, EfficiencyGroup](EfficiencyGroup), defaultdict[str, Decimal](Decimal)
        names = dict[str, str]()
        for day in wanted.days:
            usage, used = stored.get(day, UsageDay(day, 0)), use.get(day, DayUse())
            _add_day(groups, held, PricedDay(usage, prices), used, grouping=grouping, wanted=wanted)
            names |= {key: one.job_id for key, one in used.jobs.items()}
        return AccountEfficiencyReport(
            account,
            wanted,
            prices.currency,
            from_milliseconds(max(day.as_of for day in stored.values())) if stored else None,
            groups,
            _savings(latest_advice(use[day] for day in sorted(use)), held, names),
            wanted.missing_from(stored),
            self._labels,
        )


def _add_day(
    groups: defaultdict[str, EfficiencyGroup],
    held: defaultdict[str, Decimal],
    day: PricedDay,
    used: DayUse,
    *,
    grouping: JobGrouping,
    wanted: CostRange,
) -> None:
    """Adds a day to the groups, and what each job's tasks held in money."""
    usage, start, name_of = day.usage, wanted.step_of(day.since), _namer(day.usage, grouping)
    names = dict[str, str]()
    for line in day.job_lines("proportional"):
        job_id = usage.jobs[line.job].job_id if line.job in usage.jobs else ""
        name = names[line.job] = name_of(line.job, job_id, line.pool)
        groups[name].steps[start].cost.add(line)
        if line.job != NO_JOB and not line.is_shared and line.cost_class in _HELD and line.amount:
            held[line.job] += line.amount
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


def _savings(
    advice: Mapping[str, Sequence[Advice]], held: Mapping[str, Decimal], names: Mapping[str, str]
) -> list[Saving]:
    """Returns the best advice on each job, the ten that would have saved most."""
    found = list[Saving]()
    for key, some in advice.items():
        best, money = max(some, key=lambda one: one.share), held.get(key, Decimal(0))
        if amount := money * Decimal(str(best.share)):
            found.append(Saving(names[key], best, money, amount))
    return sorted(found, key=lambda one: (-one.amount, one.job_id))[:MAX_SAVINGS]
