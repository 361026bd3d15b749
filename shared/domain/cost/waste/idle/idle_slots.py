"""The rule on nodes whose slots are never full while they run tasks."""

from shared.domain.cost.waste.evidence import HELD, PoolWindow, Waste, WasteEvidence
from shared.domain.cost.waste.texts import hours, percent
from shared.domain.findings.thresholds import MIN_IDLE_SLOTS


def idle_slots(e: WasteEvidence, pool: PoolWindow) -> Waste | None:
    """Returns the finding on a pool with at least 30 % of its slots free while its nodes ran tasks."""
    free, held = pool.cost("idleSlots"), pool.cost(*HELD)
    whole = free.time + held.time
    if free.time < MIN_IDLE_SLOTS * whole:
        return None
    share, slots = percent(free.time, whole), pool.facts.slots_per_node
    return e.found(
        "idleSlots",
        pool.scope,
        free,
        title=f"{share} % of slots are free while nodes run tasks",
        sentence=f"In {e.days_text} {share} % of the slots of nodes that ran tasks were free, with {slots} slots per"
        f" node: {hours(free.time)}.",
        advice="Fill nodes before others get tasks (taskSchedulingPolicy.nodeFillType pack), take a smaller VM size"
        " with fewer slots, or submit jobs together. The present settings: az batch pool show --pool-id"
        f' {pool.facts.id} --query "[taskSlotsPerNode, taskSchedulingPolicy]"',
        evidence={"idleShare": share, "slotsPerNode": slots},
    )
