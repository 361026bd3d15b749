"""The rule on spot nodes that Azure takes back before their tasks end."""

from shared.domain.cost.waste.evidence import HELD, PoolWindow, Waste, WasteEvidence
from shared.domain.cost.waste.texts import hours, percent


def preempted_runs(e: WasteEvidence, pool: PoolWindow) -> Waste | None:
    """Returns the finding on a pool whose spot nodes spent an hour or more on runs without a result."""
    cost, held = pool.cost("interrupted", dedicated=False), pool.cost(*HELD, dedicated=False)
    return e.found(
        "preemptedRuns",
        pool.scope,
        cost,
        title="Spot nodes left before their tasks ended",
        sentence=f"In {e.days_text} runs on spot nodes that ended without a result held slots worth"
        f" {hours(cost.time)}, {percent(cost.time, held.time)} % of what tasks held there.",
        advice="Make tasks shorter or let them save checkpoints, choose a VM size with more spot capacity, or give long"
        f" tasks dedicated nodes: az batch pool resize --pool-id {pool.facts.id} --target-dedicated-nodes NODES"
        " --target-low-priority-nodes NODES",
        evidence={"interruptedShare": percent(cost.time, held.time)},
    )
