"""The rule on nodes that are idle between tasks, for shorter than the other rules on idle nodes look at."""

from datetime import timedelta

from shared.domain.cost.waste.evidence import BUSY, PoolWindow, Waste, WasteEvidence
from shared.domain.cost.waste.idle.idle_pools import idle_pool
from shared.domain.cost.waste.idle.idle_slots import idle_slots
from shared.domain.cost.waste.idle.idle_weekends import idle_weekend
from shared.domain.cost.waste.idle.oversized_pools import oversized_pool
from shared.domain.cost.waste.spot_instead import spot_instead
from shared.domain.cost.waste.texts import hours, percent
from shared.domain.cost.waste.time_cost import NO_COST, TimeCost
from shared.domain.findings.thresholds import MIN_IDLE_BETWEEN_TASKS
from shared.domain.pools.pool_facts import PoolFacts


def idle_between_tasks(e: WasteEvidence, pool: PoolWindow) -> Waste | None:
    """Returns the finding on a pool that ran tasks, but in at least 30 % of its nodes' time none.

    Its cost is that of idle nodes and of free slots, as far as no other rule names them.
    """
    named, free = _named_idle(e, pool), _unnamed_slots(e, pool)
    idle = pool.cost("idle") - named
    unused, whole = idle + free, pool.billed - named
    if not pool.cost(*BUSY).time or unused.time < MIN_IDLE_BETWEEN_TASKS * whole.time:
        return None
    share = percent(unused.time, whole.time)
    slots = f", and {hours(free.time)} of slots were free beside other tasks" if free.time else ""
    beyond = " beyond what other findings name" if named.time else ""
    return e.found(
        "idleBetweenTasks",
        pool.scope,
        unused,
        title=f"{share} % of nodes' time is idle between tasks",
        sentence=f"In {e.days_text} nodes were idle for {hours(idle.time)}{slots}: {share} % of their time{beyond}.",
        advice=_advice(pool.facts),
        evidence={
            "idleShare": share,
            "idleTime": timedelta(milliseconds=idle.time),
            "freeSlotTime": timedelta(milliseconds=free.time),
            "autoScale": pool.facts.auto_scale is not None,
        },
    )


def _named_idle(e: WasteEvidence, pool: PoolWindow) -> TimeCost:
    """Returns the cost of idle nodes that other rules name, at most twice where two of them name the same node."""
    in_hours, at_weekends, beyond_size = idle_pool(e, pool), idle_weekend(e, pool), oversized_pool(e, pool)
    named = pool.idle_cost if in_hours else NO_COST
    if at_weekends:
        named += pool.weekend_idle - (pool.weekend_idle_cost if in_hours else NO_COST)
    return named + (beyond_size.cost if beyond_size else NO_COST)


def _unnamed_slots(e: WasteEvidence, pool: PoolWindow) -> TimeCost:
    return NO_COST if idle_slots(e, pool) or spot_instead(e, pool) else pool.cost("idleSlots")


def _advice(facts: PoolFacts) -> str:
    if facts.auto_scale:
        return (
            "Let its autoscale formula remove nodes sooner when no tasks wait: fewer nodes at least, samples of fewer"
            " minutes, an evaluation every 5 minutes, and $NodeDeallocationOption = taskcompletion, as retaineddata"
            " keeps nodes until files of tasks expire. Try a formula before you set it: az batch pool autoscale"
            f" evaluate --pool-id {facts.id} --auto-scale-formula FORMULA"
        )
    target = "$TargetLowPriorityNodes" if facts.spot.target else "$TargetDedicatedNodes"
    return (
        "Let an autoscale formula remove nodes when no tasks wait, and submit jobs together: az batch pool autoscale"
        f" enable --pool-id {facts.id} --auto-scale-evaluation-interval PT5M --auto-scale-formula"
        f" '{target} = min(NODES, ceil(max($PendingTasks.GetSample(1)) / {facts.slots_per_node}));"
        " $NodeDeallocationOption = taskcompletion;'"
    )
