"""The rule on dedicated nodes whose tasks could run on spot nodes."""

from datetime import datetime

from shared.domain.core.amounts import amount
from shared.domain.core.stamps import from_milliseconds
from shared.domain.cost.waste.evidence import PoolWindow, SpotRuns, Waste, WasteEvidence
from shared.domain.cost.waste.texts import hours, percent
from shared.domain.findings.finding import Value
from shared.domain.findings.thresholds import MAX_SPOT_INTERRUPTED


def spot_instead(e: WasteEvidence, pool: PoolWindow) -> Waste | None:
    """Returns the finding on dedicated nodes that ran tasks at more than the price of spot nodes, both known.

    Its amount is what they cost beyond that. It says nothing where spot nodes of the account lose over 10 % of work.
    """
    saving, spot = pool.saving, e.spot
    if saving.amount is None or saving.priced <= 0:
        return None
    if spot and spot.interrupted > MAX_SPOT_INTERRUPTED * spot.held:
        return None
    return e.found(
        "spotInstead",
        pool.scope,
        saving,
        title="Spot nodes would cost less",
        sentence=f"In {e.days_text} dedicated nodes ran tasks for {hours(saving.time)}. {_seen(spot)}",
        advice="If its tasks can be run again, as Azure may take spot nodes back at any time, give the pool spot nodes:"
        f" az batch pool resize --pool-id {pool.facts.id} --target-dedicated-nodes NODES --target-low-priority-nodes"
        " NODES",
        evidence=_evidence(spot),
    )


def _seen(spot: SpotRuns | None) -> str:
    if spot is None:
        return "No task of the account ran on spot nodes, so it isn't known how often Azure takes these back."
    return (
        f"On the account's spot nodes {percent(spot.interrupted, spot.held)} % of what tasks held was without a result;"
        f" polls saw {amount(spot.interruptions, 'interruption')} of existing pools."
    )


def _evidence(spot: SpotRuns | None) -> dict[str, Value]:
    if spot is None:
        return {"interruptedShare": None, "interruptions": None}
    since: datetime | None = from_milliseconds(spot.counted_since) if spot.counted_since else None
    return {
        "interruptedShare": percent(spot.interrupted, spot.held),
        "interruptions": spot.interruptions,
        "interruptionsSince": since,
    }
