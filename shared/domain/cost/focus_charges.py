"""Costs of days as charges in the terms of FOCUS 1.2, the FinOps Open Cost and Usage Specification (focus.finops.org).

A charge is what nodes of one kind in one pool spent on one cost class for one job in a day. Its amounts have ten digits
after the point, and those of a day add up to the day's costs: each is the growth of the rounded sum. Time without a
price, unbilled and unwatched time is in no charge, as it is in no amount.
"""

import calendar
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Literal

from shared.domain.cost.busy_nodes import HOUR
from shared.domain.cost.priced_days import NO_JOB, CostLine, PricedDay, Sharing
from shared.domain.cost.usage_days import NodeKind, PoolDay
from shared.domain.prices.price_keys import Price
from shared.domain.usage.billing_classes import UNBILLED

type AllocationMethod = Literal["slotTime", "proportionalIdle", "evenIdle"]
METHODS: dict[AllocationMethod, str] = {
    "slotTime": "By the time for which the job's tasks held slots of the pool's nodes.",
    "proportionalIdle": "Time that no task held, by what jobs held on such nodes of the pool on the day.",
    "evenIdle": "Time that no task held, in even shares among the jobs on such nodes of the pool on the day.",
}
_DIGITS = Decimal("1e-10")
_DAY = timedelta(days=1)
_UNWATCHED = "unwatched"


@dataclass(frozen=True, slots=True)
class FocusCharge:
    """A charge; `cost` is in the currency of the prices, `hours` are node hours.

    `job_id` and `method` are None for what no job bears.
    """

    since: datetime
    pool: PoolDay
    kind: NodeKind
    cost_class: str
    job_id: str | None
    method: AllocationMethod | None
    cost: Decimal
    hours: Decimal
    price: Price

    @property
    def until(self) -> datetime:
        return self.since + _DAY

    @property
    def billing_period(self) -> tuple[datetime, datetime]:
        """The month (UTC), its end excluded."""
        year, month = self.since.year, self.since.month
        start = datetime(year, month, 1, tzinfo=UTC)
        return start, start + timedelta(days=calendar.monthrange(year, month)[1])


def focus_charges(day: PricedDay, sharing: Sharing) -> Iterator[FocusCharge]:
    """Yields the charges of a day in the order of pool, kind, class and job."""
    lines = [line for line in day.job_lines(sharing) if _is_charged(line)]
    total, written = Decimal(0), Decimal(0)
    for line in sorted(lines, key=lambda one: (one.pool, one.kind, one.cost_class, one.job)):
        pool = day.usage.pools[line.pool]
        price = day.prices.at(pool.price_key(line.kind), day.since)
        if line.amount is None or not isinstance(price, Price):
            continue
        total += line.amount
        cost = total.quantize(_DIGITS) - written
        written += cost
        job = None if line.job == NO_JOB else day.usage.jobs[line.job].job_id
        hours = (Decimal(line.time) / HOUR).quantize(_DIGITS)
        yield FocusCharge(day.since, pool, line.kind, line.cost_class, job, _method(line, sharing), cost, hours, price)


def _is_charged(line: CostLine) -> bool:
    return line.amount is not None and line.cost_class not in UNBILLED and line.cost_class != _UNWATCHED


def _method(line: CostLine, sharing: Sharing) -> AllocationMethod | None:
    if line.job == NO_JOB:
        return None
    if not line.is_shared:
        return "slotTime"
    return "proportionalIdle" if sharing == "proportional" else "evenIdle"
