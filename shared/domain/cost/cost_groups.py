"""Costs of days in groups and steps: by pool, job, job schedule, VM size, cost class or day."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from typing import Literal, NamedTuple, get_args

from shared.domain.cost.allocation import OUTCOMES
from shared.domain.cost.cost_ranges import CostRange
from shared.domain.cost.priced_days import NO_JOB, CostLine, PricedDay, Sharing
from shared.domain.cost.usage_days import UsageDay
from shared.domain.pools.vm_sizes import vcpus_of
from shared.domain.prices.price_keys import NoPriceReason
from shared.domain.usage.billing_classes import UNBILLED

type Grouping = Literal["pool", "job", "schedule", "vmSize", "class", "day"]
GROUPINGS: tuple[Grouping, ...] = get_args(Grouping.__value__)


class LabelGrouping(NamedTuple):
    """Groups by the value of a label: metadata of jobs, else of their pools; or a tag of the account."""

    source: Literal["metadata", "tag"]
    name: str


WASTED: frozenset[str] = frozenset(
    ("failed", "retried", "interrupted", "idle", "idleSlots", "startTaskFailed", "unusable")
)
"""Cost classes of time that brought no result."""
_UNCERTAIN = "unwatched"
_NO_CORES = frozenset((_UNCERTAIN, *UNBILLED))
_BUSY = frozenset(OUTCOMES)
_vcpus_of = lru_cache(maxsize=1024)(vcpus_of)


@dataclass(slots=True)
class CostSum:
    """Sums over lines: milliseconds of nodes, money, and milliseconds that have no price, by cost class.

    `shared` is the part of the money that is a job's share of time that no task held. Money of unwatched time is in
    `uncertain` alone, as it is unknown whether there was a machine. `core_time` are milliseconds of vCPUs of billed
    nodes, of sizes whose vCPUs are known, and `busy_core_time` what of it tasks held.
    """

    times: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    amounts: defaultdict[str, Decimal] = field(default_factory=lambda: defaultdict(Decimal))
    shared: Decimal = Decimal(0)
    uncertain: Decimal = Decimal(0)
    unpriced_times: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    core_time: int = 0
    busy_core_time: int = 0

    def add(self, line: CostLine) -> None:
        _, _, kind, name, time, amount, _, is_shared = line
        self.times[name] += time
        if name not in _NO_CORES and (vcpus := _vcpus_of(kind.vm_size)):
            self.core_time += time * vcpus
            if name in _BUSY:
                self.busy_core_time += time * vcpus
        if amount is None:
            self.unpriced_times[name] += time
        elif name == _UNCERTAIN:
            self.uncertain += amount
        elif name not in UNBILLED:
            self.amounts[name] += amount
            if is_shared:
                self.shared += amount

    def add_sum(self, other: "CostSum") -> None:
        """Adds the sums over other lines."""
        for name, time in other.times.items():
            self.times[name] += time
        for name, amount in other.amounts.items():
            self.amounts[name] += amount
        self.shared += other.shared
        self.uncertain += other.uncertain
        for name, time in other.unpriced_times.items():
            self.unpriced_times[name] += time
        self.core_time += other.core_time
        self.busy_core_time += other.busy_core_time

    @property
    def unpriced(self) -> int:
        """The milliseconds without a price."""
        return sum(self.unpriced_times.values())

    @property
    def amount(self) -> Decimal | None:
        """The money, without that of unwatched time; None where nothing of it has a price."""
        return sum(self.amounts.values(), Decimal(0)) if self.amounts or not self.unpriced else None

    @property
    def wasted(self) -> Decimal:
        return sum((amount for name, amount in self.amounts.items() if name in WASTED), Decimal(0))


@dataclass(slots=True)
class CostGroup:
    """A group's costs by the start of the step."""

    steps: defaultdict[datetime, CostSum] = field(default_factory=lambda: defaultdict(CostSum))

    @property
    def total(self) -> CostSum:
        """The sums over all steps."""
        found = CostSum()
        for step in self.steps.values():
            found.add_sum(step)
        return found


@dataclass(slots=True)
class CostTable:
    """Costs by group, in total, and the milliseconds without a price by VM size and reason.

    Groups are named by id, by the latest one where ids differ only by case. NO_JOB is the group of time that belongs to
    no job, or to none of a job schedule.
    """

    groups: defaultdict[str, CostGroup] = field(default_factory=lambda: defaultdict(CostGroup))
    total: CostGroup = field(default_factory=CostGroup)
    unpriced: Counter[tuple[str, bool, NoPriceReason]] = field(default_factory=Counter)

    def add_to_total(self, step: datetime, line: CostLine) -> None:
        self.total.steps[step].add(line)
        if line.unpriced:
            self.unpriced[*line.kind, line.unpriced] += line.time


def is_of_jobs(grouping: Grouping | LabelGrouping) -> bool:
    """Returns whether groups follow from jobs, whose costs are known by day only."""
    return grouping in {"job", "schedule"} or (isinstance(grouping, LabelGrouping) and grouping.source == "metadata")


def cost_table(
    days: Iterable[PricedDay], grouping: Grouping | LabelGrouping, sharing: Sharing, wanted: CostRange
) -> CostTable:
    """Returns the costs of days, in order, in steps of the range; jobs are known by day only."""
    found = CostTable()
    for day in days:
        name_of, start = _namer(day, grouping), wanted.step_of(day.since)
        if is_of_jobs(grouping):
            for line in day.job_lines(sharing):
                found.groups[name_of(line)].steps[start].add(line)
            for line in day.pool_lines():
                if line.cost_class not in UNBILLED:
                    found.add_to_total(start, line)
            continue
        for step, line in day.hour_lines() if wanted.hourly else ((start, line) for line in day.pool_lines()):
            found.groups[name_of(line)].steps[step].add(line)
            found.add_to_total(step, line)
    if grouping in {"pool", "job", "schedule"}:
        found.groups = _joined(found.groups)
    return found


def _joined(groups: defaultdict[str, CostGroup]) -> defaultdict[str, CostGroup]:
    """Returns groups whose ids differ only by case as one, as Batch takes them for one id: under the latest of them."""
    if len({name.lower() for name in groups}) == len(groups):
        return groups
    found = dict[str, tuple[str, CostGroup]]()
    for name, group in sorted(groups.items(), key=lambda one: max(one[1].steps)):
        _, before = found.get(name.lower(), ("", CostGroup()))
        for step, sums in before.steps.items():
            group.steps[step].add_sum(sums)
        found[name.lower()] = (name, group)
    return defaultdict(CostGroup, found.values())


def _namer(day: PricedDay, grouping: Grouping | LabelGrouping) -> Callable[[CostLine], str]:
    """Returns the function that names the group of a line."""
    if isinstance(grouping, LabelGrouping):
        return _label_namer(day.usage, grouping)
    jobs: Mapping[str, str] = {key: job.job_id for key, job in day.usage.jobs.items()} | {NO_JOB: NO_JOB}
    date = day.since.date().isoformat()
    namers: Mapping[Grouping, Callable[[CostLine], str]] = {
        "pool": lambda line: day.usage.pools[line.pool].pool_id,
        "job": lambda line: jobs[line.job],
        "schedule": lambda line: jobs[line.job].rpartition(":")[0],
        "vmSize": lambda line: line.kind.vm_size,
        "class": lambda line: line.cost_class,
        "day": lambda _: date,
    }
    return namers[grouping]


def _label_namer(day: UsageDay, grouping: LabelGrouping) -> Callable[[CostLine], str]:
    """Returns the function that names the group of a line by a label; a line without it is in the group NO_JOB."""
    name, nothing = grouping.name, dict[str, str]()
    if grouping.source == "tag":
        return lambda _: day.tags.get(name, NO_JOB)

    def value(line: CostLine) -> str:
        of_pool = day.pool_labels.get(line.pool, nothing).get(name, NO_JOB)
        return day.job_labels.get(line.job, nothing).get(name, of_pool)

    return value
