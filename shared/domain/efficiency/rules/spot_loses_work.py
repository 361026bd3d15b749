"""The rule on jobs that lose much of their work on spot nodes."""

from shared.domain.efficiency.evidence import EfficiencyEvidence
from shared.domain.efficiency.texts import percent_text
from shared.domain.findings.finding import Amount, Finding
from shared.domain.findings.thresholds import MIN_SPOT_LOST, MIN_WASTED


def spot_loses_work(e: EfficiencyEvidence) -> Finding | None:
    """Returns the finding on a job whose runs on spot nodes spent 30 % of their time, and an hour, without a result.

    It advises dedicated nodes where the work that gave a result would have cost less on these.
    """
    spot = e.context.spot
    if spot.interrupted < MIN_WASTED or spot.interrupted < MIN_SPOT_LOST * spot.held:
        return None
    lost = spot.interrupted / spot.held
    saving = None
    if spot.cost is not None and spot.otherwise is not None:
        saving = spot.cost - spot.otherwise * (spot.held - spot.interrupted) / spot.held
    is_cheaper = saving is not None and saving > 0
    instead = (
        "Take dedicated nodes for this job: what gave a result would have cost less on them."
        if is_cheaper
        else "Make its tasks shorter or let them save checkpoints, or take a VM size with more spot capacity."
    )
    return e.found(
        "spotLosesWork",
        title=f"Spot nodes lost {percent_text(lost)} of the work",
        sentence=f"Runs on spot nodes that ended without a result took {percent_text(lost)} of the time that the job's"
        " tasks held there.",
        advice=instead,
        evidence={"interruptedShare": round(100 * lost)},
        saving=Amount(saving, "money") if saving is not None and is_cheaper else None,
    )
