"""The rule on pools that have nodes and run nothing for hours."""

from shared.domain.cost.waste.evidence import PoolWindow, Waste, WasteEvidence
from shared.domain.cost.waste.texts import hours, resize_to
from shared.domain.findings.thresholds import MIN_IDLE_HOURS


def idle_pool(e: WasteEvidence, pool: PoolWindow) -> Waste | None:
    """Returns the finding on a pool that had idle nodes and no task in at least 8 hours."""
    if pool.idle_hours < MIN_IDLE_HOURS:
        return None
    advice = (
        "Its autoscale formula keeps nodes without tasks: let it go down to 0. Try a formula before you set it: az"
        f" batch pool autoscale evaluate --pool-id {pool.facts.id} --auto-scale-formula FORMULA"
        if pool.facts.auto_scale
        else f"Let an autoscale formula remove idle nodes, or resize the pool when it isn't needed: "
        f"{resize_to(pool.facts, '0')}"
    )
    return e.found(
        "idlePool",
        pool.scope,
        pool.idle_cost,
        title=f"No task ran in {pool.idle_hours} hours",
        sentence=f"In {pool.idle_hours} hours of {e.days_text} the pool had idle nodes and ran no task:"
        f" {hours(pool.idle_cost.time)}.",
        advice=advice,
        evidence={"idleHours": pool.idle_hours, "autoScale": pool.facts.auto_scale is not None},
    )
