"""What the rules on waste conclude from: some days of an account's usage with prices, and facts of its pools."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import NamedTuple, Unpack

from shared.domain.core.amounts import amount
from shared.domain.cost.allocation import OUTCOMES
from shared.domain.cost.waste.time_cost import NO_COST, TimeCost
from shared.domain.findings.finding import Amount, Details, Finding, Scope, Value
from shared.domain.findings.thresholds import DAYS_OF_MONTH, MAX_WASTE_DAYS, MIN_WASTE_DAYS, MIN_WASTED
from shared.domain.pools.pool_facts import PoolFacts
from shared.domain.tasks.failure_categories import FailedTasks
from shared.domain.usage.billing_classes import UNBILLED

HELD: tuple[str, ...] = OUTCOMES
"""The classes of time that tasks held."""
BUSY: tuple[str, ...] = (*HELD, "idleSlots", "unattributed")
"""The classes of nodes that ran a task."""
_UNCERTAIN = frozenset((*UNBILLED, "unwatched"))


class ClassOfKind(NamedTuple):
    """Time of dedicated or of spot nodes in a cost class."""

    dedicated: bool
    cost_class: str


class BusyNodes(NamedTuple):
    """The largest number of nodes that were running in any of some samples."""

    nodes: int
    samples: int


class SpotRuns(NamedTuple):
    """An account's spot nodes: milliseconds that tasks held, those without a result, and how often Azure took one back.

    The number is the one since `counted_since`, in milliseconds since 1970; 0 where nothing counts.
    """

    held: int
    interrupted: int
    interruptions: int
    counted_since: int


@dataclass(frozen=True, slots=True)
class PoolWindow:
    """What the nodes of a pool did on the days of the evidence.

    `idle_hours` are hours in which nodes were idle and none ran a task, `idle_cost` that of idle nodes in them.
    `failing_hours` are hours in which a start task had failed. `busiest` is the mean number of busy nodes of the
    busiest hour. `weekend` is the cost of nodes on Saturdays and Sundays, `weekend_idle` that of idle ones, and
    `weekend_idle_cost` the part of `idle_cost` on these days. `saving` is what dedicated nodes that ran tasks cost
    beyond the price of spot nodes; its unpriced time lacks one of both prices. `most_busy` is None where it wasn't
    looked up.
    """

    facts: PoolFacts
    costs: Mapping[ClassOfKind, TimeCost] = field(default_factory=dict)
    idle_hours: int = 0
    idle_cost: TimeCost = NO_COST
    failing_hours: int = 0
    busiest: float = 0
    weekend: TimeCost = NO_COST
    weekend_idle: TimeCost = NO_COST
    weekend_idle_cost: TimeCost = NO_COST
    saving: TimeCost = NO_COST
    most_busy: BusyNodes | None = None

    @property
    def scope(self) -> Scope:
        return Scope("pool", self.facts.id)

    def cost(self, *classes: str, dedicated: bool | None = None) -> TimeCost:
        """Returns the cost of some classes, of nodes of one kind or of both."""
        wanted = (
            one for key, one in self.costs.items()
            if key.cost_class in classes and dedicated in {None, key.dedicated}
        )  # fmt: skip
        return sum(wanted, NO_COST)

    @property
    def billed(self) -> TimeCost:
        """The cost of time in which there certainly was a machine."""
        return sum((one for key, one in self.costs.items() if key.cost_class not in _UNCERTAIN), NO_COST)


@dataclass(frozen=True, slots=True)
class FailedJob:
    """What failed tasks of a job held; the failures of all of its tasks by category, None where they aren't known."""

    job_id: str
    cost: TimeCost
    failures: FailedTasks | None = None


@dataclass(frozen=True, slots=True)
class Waste:
    """A finding with its cost on the days seen, and the money for a month of such days, None where it isn't known."""

    finding: Finding
    cost: TimeCost
    monthly: Decimal | None


@dataclass(frozen=True, slots=True)
class WasteEvidence:
    """Days (UTC) of an account's usage in order: full ones, or with today where there are fewer than three.

    `as_of` is when the usage of the last day was rolled up, which may be days before `today`. `pools` are those that
    exist, and `jobs` those whose failed tasks held most. `spot` is None where no task ran on a spot node.
    """

    as_of: datetime
    today: date
    days: Sequence[date]
    full_days: int
    pools: Sequence[PoolWindow] = ()
    jobs: Sequence[FailedJob] = ()
    spot: SpotRuns | None = None

    @property
    def days_text(self) -> str:
        """The days as text: `the last 7 days`, or `1 day so far` where they are too few for a month's amount.

        Where some of the last ones are left out it is `4 full days of the last 7 days`.
        """
        number = len(self.days)
        if not self.has_months:
            return f"{amount(number, 'day')} so far"
        last = (self.today - self.days[0]).days
        if number == last:
            return f"the last {number} days"
        return f"{number} full days of the last {max(last, MAX_WASTE_DAYS)} days"

    @property
    def has_months(self) -> bool:
        """True where there are days enough to estimate a month."""
        return self.full_days >= MIN_WASTE_DAYS

    @property
    def weekend_days(self) -> int:
        return sum(is_weekend(day) for day in self.days)

    def monthly(self, cost: TimeCost) -> Decimal | None:
        """Returns the money for a month of days like these."""
        if not self.has_months or cost.amount is None:
            return None
        return cost.amount * DAYS_OF_MONTH / len(self.days)

    def found(
        self,
        rule: str,
        scope: Scope,
        cost: TimeCost,
        *,
        monthly: Decimal | None = None,
        **details: Unpack[Details],
    ) -> Waste | None:
        """Returns the finding of a rule; None where it concerns less than an hour of nodes.

        The month's amount is that of `monthly`, or follows from the days.
        """
        if cost.time < MIN_WASTED:
            return None
        days: dict[str, Value] = {"days": len(self.days), "asOf": self.as_of}
        finding = Finding(
            rule=rule,
            scope=scope,
            severity="info",
            title=details["title"],
            sentence=details["sentence"],
            advice=details["advice"],
            evidence={**details.get("evidence", {}), **days},
            amount=None if cost.amount is None else Amount(cost.amount, "money"),
        )
        return Waste(finding, cost, self.monthly(cost) if monthly is None else monthly)


def is_weekend(day: date) -> bool:
    return day.isoweekday() in {6, 7}
