"""The rule on nodes that are idle on Saturdays and Sundays."""

from shared.domain.core.amounts import amount
from shared.domain.cost.waste.evidence import PoolWindow, Waste, WasteEvidence
from shared.domain.cost.waste.texts import hours, percent
from shared.domain.findings.thresholds import DAYS_OF_MONTH, MIN_IDLE_WEEKENDS

_DAYS_OF_WEEK, _DAYS_OF_WEEKEND = 7, 2


def idle_weekend(e: WasteEvidence, pool: PoolWindow) -> Waste | None:
    """Returns the finding on a pool whose nodes were idle for at least half of their time on Saturdays and Sundays."""
    idle, whole, days = pool.weekend_idle, pool.weekend, e.weekend_days
    if not days or idle.time < MIN_IDLE_WEEKENDS * whole.time:
        return None
    of_month = DAYS_OF_MONTH * _DAYS_OF_WEEKEND
    has_month = e.has_months and idle.amount is not None
    return e.found(
        "idleWeekends",
        pool.scope,
        idle,
        monthly=idle.priced * of_month / (_DAYS_OF_WEEK * days) if has_month else None,
        title=f"{percent(idle.time, whole.time)} % idle at weekends",
        sentence=f"On {amount(days, 'day')} of a weekend (UTC) the pool's nodes were idle for {hours(idle.time)},"
        f" {percent(idle.time, whole.time)} % of their time.",
        advice="Let the pool shrink at weekends; an autoscale formula can take the day from time(): az batch pool"
        f" autoscale enable --pool-id {pool.facts.id} --auto-scale-formula '$day = time().weekday;"
        " $TargetDedicatedNodes = $day == 0 || $day == 6 ? 0 : NODES;'",
        evidence={"idleShare": percent(idle.time, whole.time), "weekendDays": days},
    )
