"""The rule on runs on dedicated nodes that left no result, as of requeued tasks."""

from shared.domain.cost.waste.evidence import HELD, PoolWindow, Waste, WasteEvidence
from shared.domain.cost.waste.texts import hours, percent


def interrupted_runs(e: WasteEvidence, pool: PoolWindow) -> Waste | None:
    """Returns the finding on a pool whose dedicated nodes spent an hour or more on runs without a result."""
    cost, held = pool.cost("interrupted", dedicated=True), pool.cost(*HELD, dedicated=True)
    return e.found(
        "interruptedRuns",
        pool.scope,
        cost,
        title="Runs ended without a result",
        sentence=f"In {e.days_text} runs on dedicated nodes that ended without a result held slots worth"
        f" {hours(cost.time)}, {percent(cost.time, held.time)} % of what tasks held there.",
        advice="Find out why: a node that failed or was removed, a job that was disabled with requeue, a task of higher"
        " priority. Resize with taskcompletion, so that nodes finish their tasks: az batch pool resize --pool-id"
        f" {pool.facts.id} --target-dedicated-nodes NODES --node-deallocation-option taskcompletion",
        evidence={"interruptedShare": percent(cost.time, held.time)},
    )
