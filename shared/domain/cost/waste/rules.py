"""All rules on waste, and what they find, the dearest first."""

from collections.abc import Callable
from decimal import Decimal

from shared.domain.cost.waste.evidence import PoolWindow, Waste, WasteEvidence
from shared.domain.cost.waste.failed_tasks import failed_tasks
from shared.domain.cost.waste.failing_start_tasks import failing_start_task
from shared.domain.cost.waste.idle.idle_between_tasks import idle_between_tasks
from shared.domain.cost.waste.idle.idle_pools import idle_pool
from shared.domain.cost.waste.idle.idle_slots import idle_slots
from shared.domain.cost.waste.idle.idle_weekends import idle_weekend
from shared.domain.cost.waste.idle.oversized_pools import oversized_pool
from shared.domain.cost.waste.interrupted_runs import interrupted_runs
from shared.domain.cost.waste.preempted_runs import preempted_runs
from shared.domain.cost.waste.retried_runs import retried_runs
from shared.domain.cost.waste.spot_instead import spot_instead
from shared.domain.cost.waste.starts_without_runs import starts_without_runs

_OF_POOLS: tuple[Callable[[WasteEvidence, PoolWindow], Waste | None], ...] = (
    idle_pool,
    idle_weekend,
    oversized_pool,
    idle_between_tasks,
    starts_without_runs,
    failing_start_task,
    idle_slots,
    interrupted_runs,
    preempted_runs,
    retried_runs,
    spot_instead,
)


def waste_found(e: WasteEvidence) -> list[Waste]:
    """Returns what all rules find, by the money of a month or else of the days seen; without a price by time."""
    found = [rule(e, pool) for pool in e.pools for rule in _OF_POOLS]
    found += [failed_tasks(e, job) for job in e.jobs]
    return sorted((one for one in found if one), key=_order)


def _order(one: Waste) -> tuple[Decimal, int]:
    money = one.cost.amount if one.monthly is None else one.monthly
    return (Decimal(1) if money is None else -money), -one.cost.time
