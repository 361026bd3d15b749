"""What a pool's nodes cost by the hour, as its ledger has them: fresher than rolled-up days, and without tasks."""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import cache

from shared.domain.core.stamps import from_milliseconds
from shared.domain.cost.allocation import amount
from shared.domain.cost.usage_days import DAY, HOURS, NodeKind, PoolDay
from shared.domain.prices.price_keys import NoPriceReason, Price
from shared.domain.prices.price_table import PriceTable
from shared.domain.usage.billing_classes import BILLED
from shared.domain.usage.usage_ledger import UsageHours
from shared.domain.usage.usage_steps import UsageRange

type _PriceOf = Callable[[NodeKind, int], Price | NoPriceReason]


@dataclass(frozen=True, slots=True)
class BilledCost:
    """The money for time that certainly costs, milliseconds of it that have a price, and of it without one."""

    amount: Decimal = Decimal(0)
    unpriced: int = 0
    priced: int = 0

    def __add__(self, other: "BilledCost") -> "BilledCost":
        return BilledCost(self.amount + other.amount, self.unpriced + other.unpriced, self.priced + other.priced)

    @property
    def known(self) -> Decimal | None:
        """The money, None where all of the time is without a price; a price may be 0."""
        return self.amount if self.priced or not self.unpriced else None


def billed_costs(hours: UsageHours, wanted: UsageRange, pool: PoolDay, prices: PriceTable) -> list[BilledCost]:
    """Returns the costs of the steps of a range; a price holds for the day at whose start (UTC) it is valid."""

    @cache
    def price_of(kind: NodeKind, day: int) -> Price | NoPriceReason:
        return prices.at(pool.price_key(kind), from_milliseconds(day * DAY))

    return [
        sum((_of_hour(hours, hour, price_of) for hour in range(start, wanted.end_of(start))), BilledCost())
        for start in wanted.starts
    ]


def _of_hour(hours: UsageHours, hour: int, price_of: _PriceOf) -> BilledCost:
    found = BilledCost()
    for (billing_class, dedicated, vm_size), time in hours.get(hour, {}).items():
        if billing_class in BILLED:
            price = price_of(NodeKind(vm_size.lower(), dedicated), hour // HOURS)
            if isinstance(price, Price):
                found += BilledCost(amount(time, slots_per_node=1, hourly=price.hourly), priced=time)
            else:
                found += BilledCost(unpriced=time)
    return found
