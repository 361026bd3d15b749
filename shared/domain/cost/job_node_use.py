"""What a job's tasks held on dedicated and on spot nodes, with money, and what the other kind would have cost."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from shared.domain.cost.allocation import OUTCOMES
from shared.domain.cost.busy_nodes import HOUR
from shared.domain.cost.priced_days import CostLine, PricedDay
from shared.domain.cost.usage_days import NodeKind
from shared.domain.prices.price_keys import Price

_HELD, _STARTING = frozenset(OUTCOMES), frozenset(("starting", "startTask"))
_NOTHING = Decimal(0)


@dataclass(slots=True)
class NodeKindTime:
    """Milliseconds of nodes that tasks held, those without a result, and money; None where some has no price.

    `otherwise` is the money for the same time on nodes of the other kind.
    """

    held: int = 0
    interrupted: int = 0
    cost: Decimal | None = _NOTHING
    otherwise: Decimal | None = _NOTHING

    def add(self, line: CostLine, other: Decimal | None) -> None:
        """Adds a line of what tasks held; `other` is the hourly price of a node of the other kind."""
        self.held += line.time
        self.interrupted += line.time if line.cost_class == "interrupted" else 0
        self.cost = None if self.cost is None or line.amount is None else self.cost + line.amount
        otherwise = self.otherwise
        self.otherwise = None if otherwise is None or other is None else otherwise + other * line.time / HOUR


@dataclass(frozen=True, slots=True)
class JobNodeUse:
    """What a job's tasks held on dedicated and on spot nodes, and the job's share of the time in which nodes started.

    Each day's start-ups of a pool are shared among its jobs in proportion to what their tasks held on that day.
    `amounts` are the money for what they held by VM size, of what has a price.
    """

    dedicated: NodeKindTime = field(default_factory=NodeKindTime)
    spot: NodeKindTime = field(default_factory=NodeKindTime)
    starting: int = 0
    amounts: Mapping[str, Decimal] = field(default_factory=dict)

    @property
    def held(self) -> int:
        """The milliseconds of nodes that its tasks held."""
        return self.dedicated.held + self.spot.held


def job_node_use(days: Iterable[PricedDay], job_key: str) -> JobNodeUse:
    """Returns what a job's tasks held in some days."""
    dedicated, spot, starting = NodeKindTime(), NodeKindTime(), 0
    amounts = defaultdict[str, Decimal](Decimal)
    for day in days:
        if job_key not in day.usage.jobs:
            continue
        for line in day.job_lines("proportional", only=job_key):
            if line.job != job_key:
                continue
            if line.cost_class in _HELD:
                (dedicated if line.kind.dedicated else spot).add(line, other_price(day, line.pool, line.kind))
                amounts[line.kind.vm_size] += line.amount or 0
            elif line.cost_class in _STARTING:
                starting += line.time
    return JobNodeUse(dedicated, spot, starting, amounts)


def other_price(day: PricedDay, pool: str, kind: NodeKind) -> Decimal | None:
    """Returns the hourly price of a pool's node of the same size and the other kind, None where it isn't known."""
    other = NodeKind(kind.vm_size, not kind.dedicated)
    price = day.prices.at(day.usage.pools[pool].price_key(other), day.since)
    return price.hourly if isinstance(price, Price) else None
