"""Costs of days in groups and steps: by pool, job, job schedule, VM size, cost class or day."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Literal

from shared.domain.cost.cost_ranges import CostRange
from shared.domain.cost.priced_days import NO_JOB, CostLine, PricedDay, Sharing
from shared.domain.prices.price_keys import NoPriceReason
from shared.domain.usage.billing_classes import UNBILLED

type Grouping = Literal["pool", "job", "schedule", "vmSize", "class", "day"]
WASTED: frozenset[str] = frozenset(("failed", "interrupted", "idle", "idleSlots", "startTaskFailed", "unusable"))
"""Cost classes of time that brought no result."""
_UNCERTAIN = "unwatched"


@dataclass(slots=True)
class CostSum:
    """Sums over lines: milliseconds of nodes and money by cost class, and milliseconds that have no price.

    `shared` is the part of the money that is a job's share of time that no task held. Money of unwatched time is in
    `uncertain` alone, as it is unknown whether there was a machine.
    """

    times: Counter[str] = field(default_factory=Counter)
    amounts: defaultdict[str, Decimal] = field(default_factory=lambda: defaultdict(Decimal))
    shared: Decimal = Decimal(0)
    uncertain: Decimal = Decimal(0)
    unpriced: int = 0

    def add(self, line: CostLine) -> None:
        self.times[line.cost_class] += line.time
        if line.amount is None:
            self.unpriced += line.time
        elif line.cost_class == _UNCERTAIN:
            self.uncertain += line.amount
        elif line.cost_class not in UNBILLED:
            self.amounts[line.cost_class] += line.amount
            self.shared += line.amount if line.is_shared else 0

    @property
    def amount(self) -> Decimal | None:
        """The money, without that of unwatched time; None where nothing of it has a price."""
        return sum(self.amounts.values(), Decimal(0)) if self.amounts or not self.unpriced else None

    @property
    def wasted(self) -> Decimal:
        return sum((amount for name, amount in self.amounts.items() if name in WASTED), Decimal(0))


@dataclass(slots=True)
class CostGroup:
    """A group's costs, in total and by the start of the step."""

    total: CostSum = field(default_factory=CostSum)
    steps: defaultdict[datetime, CostSum] = field(default_factory=lambda: defaultdict(CostSum))


@dataclass(slots=True)
class CostTable:
    """Costs by group, in total, and the milliseconds without a price by VM size and reason.

    Groups are named by id; NO_JOB is the group of time that belongs to no job, or to none of a job schedule.
    """

    groups: defaultdict[str, CostGroup] = field(default_factory=lambda: defaultdict(CostGroup))
    total: CostGroup = field(default_factory=CostGroup)
    unpriced: Counter[tuple[str, bool, NoPriceReason]] = field(default_factory=Counter)

    def add(self, name: str, step: datetime, line: CostLine) -> None:
        for group in (self.groups[name], self.total):
            group.total.add(line)
            group.steps[step].add(line)
        if line.unpriced:
            self.unpriced[*line.kind, line.unpriced] += line.time


def cost_table(days: Iterable[PricedDay], grouping: Grouping, sharing: Sharing, wanted: CostRange) -> CostTable:
    """Returns the costs of days in steps of the range; jobs are known by day only."""
    found = CostTable()
    for day in days:
        name_of = _namer(day, grouping)
        for step, line in _lines(day, grouping, sharing, wanted):
            found.add(name_of(line), step, line)
    return found


def _lines(
    day: PricedDay, grouping: Grouping, sharing: Sharing, wanted: CostRange
) -> Iterator[tuple[datetime, CostLine]]:
    start = wanted.step_of(day.since)
    if grouping in {"job", "schedule"}:
        yield from ((start, line) for line in day.job_lines(sharing))
    elif wanted.hourly:
        yield from day.hour_lines()
    else:
        yield from ((start, line) for line in day.pool_lines())


def _namer(day: PricedDay, grouping: Grouping) -> Callable[[CostLine], str]:
    """Returns the function that names the group of a line."""
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
