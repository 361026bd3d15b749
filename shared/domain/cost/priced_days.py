"""What the usage of a day costs: money by pool, kind of node and cost class, and what of it each job has.

A price holds for the whole day at whose start (UTC) it is valid, so the parts of a day add up exactly.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Literal, NamedTuple

from shared.domain.core.stamps import from_milliseconds
from shared.domain.cost.allocation import OUTCOMES, amount
from shared.domain.cost.usage_days import DAY, NodeKind, PoolDay, UnitsByHour, UnitsByKind, UsageDay
from shared.domain.prices.price_keys import NoPriceReason, Price
from shared.domain.prices.price_table import PriceTable
from shared.domain.usage.billing_classes import UNBILLED

NO_JOB = ""
"""The job of what isn't allocated to any."""
type Sharing = Literal["proportional", "even", "none"]
"""How the cost of idle slots, idle nodes and overhead is shared among the jobs of a pool, kind of node and day."""
_HELD = frozenset(OUTCOMES)
_ANY = ""  # outcome
_NOTHING = Decimal(0)


class CostLine(NamedTuple):
    """Time of nodes in milliseconds and what it costs; `amount` is None without a price, for the reason `unpriced`.

    `pool` and `job` are keys. `is_shared` is what a job bears of time that no task held.
    """

    pool: str
    job: str
    kind: NodeKind
    cost_class: str
    time: int
    amount: Decimal | None
    unpriced: NoPriceReason | None = None
    is_shared: bool = False


@dataclass(frozen=True, slots=True)
class PricedDay:
    """A day of usage with the prices of its nodes; `since` is its start."""

    usage: UsageDay
    prices: PriceTable

    @property
    def since(self) -> datetime:
        return from_milliseconds(self.usage.day * DAY)

    def pool_lines(self) -> Iterator[CostLine]:
        """Yields the lines of each pool, of no job."""
        for key, pool in self.usage.pools.items():
            yield from self._lines(key, pool, pool.units)

    def hour_lines(self) -> Iterator[tuple[datetime, CostLine]]:
        """Yields the lines of each pool by hour, with the start of the hour."""
        nothing: UnitsByHour = {}
        for key, pool in self.usage.pools.items():
            for hour, units in self.usage.hours.get(key, nothing).items():
                at = self.since + timedelta(hours=hour)
                yield from ((at, line) for line in self._lines(key, pool, units))

    def job_lines(self, sharing: Sharing, only: str | None = None) -> Iterator[CostLine]:
        """Yields the lines of each job, and of NO_JOB what no job has; together they are the lines of pools.

        With `only`, the key of a job, those of pools on which it had no tasks are left out.
        """
        shares = self._shares()
        for line in self.pool_lines():
            if line.cost_class in UNBILLED:
                continue
            held = shares.get((line.pool, line.kind), {})
            is_shared = line.cost_class not in _HELD
            weights = held.get(_ANY if is_shared else line.cost_class, {})
            if is_shared and sharing != "proportional":
                weights = dict.fromkeys(weights, 1) if sharing == "even" else {}
            if only is None or only in weights:
                yield from _divided(line, weights, is_shared=is_shared)

    def _lines(self, key: str, pool: PoolDay, units: UnitsByKind) -> Iterator[CostLine]:
        slots = pool.slots_per_node
        for kind, classes in units.items():
            price = self.prices.at(pool.price_key(kind), self.since)
            for name, held in classes.items():
                time = round(held / slots)
                if name in UNBILLED:
                    yield CostLine(key, NO_JOB, kind, name, time, _NOTHING)
                elif isinstance(price, Price):
                    money = amount(held, slots_per_node=slots, hourly=price.hourly)
                    yield CostLine(key, NO_JOB, kind, name, time, money)
                else:
                    yield CostLine(key, NO_JOB, kind, name, time, None, price)

    def _shares(self) -> Mapping[tuple[str, NodeKind], Mapping[str, Mapping[str, int]]]:
        """Returns slot milliseconds of jobs by pool and kind of node, by outcome and under _ANY over all of them."""
        found: defaultdict[tuple[str, NodeKind], defaultdict[str, defaultdict[str, int]]] = defaultdict(_by_outcome)
        for job, usage in self.usage.jobs.items():
            for part in (usage.settled, usage.open):
                for (pool, kind, outcome), units in part.items():
                    if not units:  # of a run that began and ended at once
                        continue
                    shares = found[pool, kind]
                    shares[outcome][job] += units
                    shares[_ANY][job] += units
        return found


def _by_outcome() -> defaultdict[str, defaultdict[str, int]]:
    return defaultdict(lambda: defaultdict(int))


def _divided(line: CostLine, weights: Mapping[str, int], *, is_shared: bool) -> Iterator[CostLine]:
    """Yields the line divided among jobs by their weights, undivided where none has any; sums are exact."""
    rest = sum(weights.values())
    if not rest:
        yield line
        return
    pool, _, kind, name, time, money, unpriced, _ = line
    for job, weight in weights.items():
        own_time = time * weight // rest
        own_money = None if money is None else (money if weight == rest else money * weight / rest)
        yield CostLine(pool, job, kind, name, own_time, own_money, unpriced, is_shared)
        rest, time = rest - weight, time - own_time
        if money is not None and own_money is not None:
            money -= own_money
